#include "bench/wire/throwaway_certificate.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
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
using ThrowawayText = std::unique_ptr<BIO, FreeThrowaway<BIO_free>>;
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

ThrowawayCertificate::ThrowawayCertificate(int fd)
    : fd_(fd), path_(absl::StrCat("/proc/", ::getpid(), "/fd/", fd)) {}

ThrowawayCertificate::~ThrowawayCertificate() { ::close(fd_); }

absl::StatusOr<std::unique_ptr<ThrowawayCertificate>> ThrowawayCertificate::Make() {
  const int fd = ::memfd_create("liststore-certificate", MFD_CLOEXEC);
  if (fd < 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot make a certificate: ", std::strerror(errno)));
  }
  std::unique_ptr<ThrowawayCertificate> made(new ThrowawayCertificate(fd));
  const ThrowawayKey key(EVP_EC_gen("P-256"));
  const ThrowawayX509 certificate = key == nullptr ? nullptr : SignItself(key.get());
  const ThrowawayText text(BIO_new(BIO_s_mem()));
  char* bytes = nullptr;
  long count = 0;
  if (certificate != nullptr && text != nullptr &&
      PEM_write_bio_PrivateKey(text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1 &&
      PEM_write_bio_X509(text.get(), certificate.get()) == 1) {
    count = BIO_get_mem_data(text.get(), &bytes);
  }
  if (count <= 0) return absl::UnavailableError("OpenSSL makes no certificate");
  if (::write(fd, bytes, static_cast<size_t>(count)) != count) {
    return absl::UnavailableError(
        absl::StrCat("cannot write a certificate: ", std::strerror(errno)));
  }
  return made;
}

}  // namespace liststore
