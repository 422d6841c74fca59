// Part of the static program alone: what a program with libraries gets from the machine that it was installed on, and
// this one, which runs on any, has to look for.
#include <nss.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

namespace liststore {
namespace {

// glibc asks the machine's /etc/nsswitch.conf who resolves names, and loads a library for each service that is named
// there: built for the glibc of that machine, which need not be this one, or absent. What is here is the two services
// that glibc has inside: /etc/hosts and DNS, as /etc/resolv.conf says.
void ResolveWithoutLibraries() {
  __nss_configure_lookup("hosts", "files dns");
  for (const char* const database : {"passwd", "group", "services", "protocols"}) {
    __nss_configure_lookup(database, "files");
  }
}

// OpenSSL was built for Debian, whose folder for the CAs that a system trusts others do not have.
void FindTrustedCas() {
  if (std::getenv(X509_get_default_cert_file_env()) != nullptr) return;
  if (std::getenv(X509_get_default_cert_dir_env()) != nullptr) return;
  if (::access(X509_get_default_cert_dir(), R_OK) == 0) return;
  for (const char* const file : {
           "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Alpine, Arch
           "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, Red Hat
           "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // the same, newer
           "/etc/ssl/ca-bundle.pem",                             // SUSE
           "/etc/ssl/cert.pem",  // Alpine without the package of CAs
       }) {
    if (::access(file, R_OK) != 0) continue;
    ::setenv(X509_get_default_cert_file_env(), file, 1);
    return;
  }
}

// Before main: nothing was resolved yet, and there are no other threads.
[[gnu::constructor]] void PrepareStaticProgram() {
  ResolveWithoutLibraries();
  FindTrustedCas();
}

}  // namespace
}  // namespace liststore
