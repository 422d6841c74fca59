#include "bench/wire/throwaway_certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace liststore {
namespace {

constexpr long kDaySeconds = 86'400;

template <auto function>
struct FreeThrowaway {
  template <typename T>
  void operator()(T* object) const {
    function(object);
  }
};
using ThrowawayKey = std::unique_ptr<EVP_PKEY, FreeThrowaway<EVP_PKEY_free>>;
using ThrowawayX509 = std::unique_ptr<X509, FreeThrowaway<X509_free>>;
using ThrowawayName = std::unique_ptr<X509_EXTENSION, FreeThrowaway<X509_EXTENSION_free>>;

// nullptr: OpenSSL cannot.
ThrowawayX509 SignItself(EVP_PKEY* key) {
  ThrowawayX509 certificate(X509_new());
  const ThrowawayName host(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"));
  if (certificate == nullptr || host == nullptr) return nullptr;
  X509* const x509 = certificate.get();
  X509_NAME* const name = X509_get_subject_name(x509);
  const bool is_made =
      X509_set_version(x509, X509_VERSION_3) == 1 &&
      ASN1_INTEGER_set(X509_get_serialNumber(x509), 1) == 1 &&
      X509_gmtime_adj(X509_getm_notBefore(x509), -kDaySeconds) != nullptr &&
      X509_gmtime_adj(X509_getm_notAfter(x509), kDaySeconds) != nullptr &&
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                 reinterpret_cast<const unsigned char*>("liststore bench"), -1, -1,
                                 0) == 1 &&
      X509_set_issuer_name(x509, name) == 1 && X509_set_pubkey(x509, key) == 1 &&
      X509_add_ext(x509, host.get(), -1) == 1 && X509_sign(x509, key, EVP_sha256()) > 0;
  return is_made ? std::move(certificate) : nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ThrowawayCertificate>> ThrowawayCertificate::Make() {
  const char* const folder = getenv("TMPDIR");
  std::string path = absl::StrCat(folder == nullptr ? "/tmp" : folder, "/liststore-bench-XXXXXX");
  const int fd = mkstemp(path.data());
  if (fd < 0) {
    return absl::UnavailableError(absl::StrCat("cannot make ", path, ": ", strerror(errno)));
  }
  std::unique_ptr<ThrowawayCertificate> made(new ThrowawayCertificate(path));
  std::FILE* const file = fdopen(fd, "w");
  const ThrowawayKey key(EVP_EC_gen("P-256"));
  const ThrowawayX509 certificate = key == nullptr ? nullptr : SignItself(key.get());
  const bool is_written =
      certificate != nullptr &&
      PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1 &&
      PEM_write_X509(file, certificate.get()) == 1;
  if (std::fclose(file) != 0 || !is_written) {
    return absl::UnavailableError(absl::StrCat("cannot write a certificate to ", path));
  }
  return made;
}

ThrowawayCertificate::~ThrowawayCertificate() { unlink(path_.c_str()); }

}  // namespace liststore
