#include "tests/support/test_authority.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <utility>

#include "engine/base/check.h"

namespace liststore::testing {
namespace {

template <auto function>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    function(object);
  }
};
using TestKey = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using TestX509 = std::unique_ptr<X509, FreeWith<X509_free>>;
using TestBio = std::unique_ptr<BIO, FreeWith<BIO_free>>;

TestKey MakeKey() {
  TestKey key(EVP_EC_gen("P-256"));
  LS_CHECK(key != nullptr, "OpenSSL makes a key");
  return key;
}

std::string TextOf(BIO* bio) {
  char* text = nullptr;
  const long bytes = BIO_get_mem_data(bio, &text);
  return {text, static_cast<size_t>(bytes)};
}

std::string PemOf(X509* certificate) {
  const TestBio bio(BIO_new(BIO_s_mem()));
  LS_CHECK(PEM_write_bio_X509(bio.get(), certificate) == 1, "a certificate has a text");
  return TextOf(bio.get());
}

std::string PemOf(EVP_PKEY* key, const std::string& passphrase = "") {
  const TestBio bio(BIO_new(BIO_s_mem()));
  const EVP_CIPHER* const cipher = passphrase.empty() ? nullptr : EVP_aes_128_cbc();
  LS_CHECK(
      PEM_write_bio_PKCS8PrivateKey(bio.get(), key, cipher, passphrase.data(),
                                    static_cast<int>(passphrase.size()), nullptr, nullptr) == 1,
      "a key has a text");
  return TextOf(bio.get());
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& text) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, text.c_str());
  LS_CHECK(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1,
           "a test names extensions that there are");
  X509_EXTENSION_free(extension);
}

struct Subject {
  std::string name;
  std::vector<std::string> alternative_names = {};
  bool is_authority = false;
};

// `issuer` nullptr: by itself.
TestX509 MakeCertificate(const Subject& subject, EVP_PKEY* key, X509* issuer,
                         EVP_PKEY* issuer_key) {
  TestX509 certificate(X509_new());
  X509* const x509 = certificate.get();
  constexpr long kHour = 3600;
  uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  X509_set_version(x509, X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(x509), -kHour);
  X509_gmtime_adj(X509_getm_notAfter(x509), 24 * kHour);
  X509_NAME* const name = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(subject.name.data()),
                             static_cast<int>(subject.name.size()), -1, 0);
  X509* const by = issuer == nullptr ? x509 : issuer;
  X509_set_issuer_name(x509, X509_get_subject_name(by));
  X509_set_pubkey(x509, key);
  AddExtension(x509, by, NID_subject_key_identifier, "hash");
  AddExtension(x509, by, NID_authority_key_identifier, "keyid");
  AddExtension(x509, by, NID_basic_constraints,
               subject.is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  AddExtension(x509, by, NID_key_usage,
               subject.is_authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature");
  std::string names;
  for (const std::string& one : subject.alternative_names)
    names += (names.empty() ? "" : ",") + one;
  if (!names.empty()) AddExtension(x509, by, NID_subject_alt_name, names);
  LS_CHECK(X509_sign(x509, issuer_key == nullptr ? key : issuer_key, EVP_sha256()) > 0,
           "OpenSSL signs");
  return certificate;
}

}  // namespace

struct TestAuthority::Keys {
  TestKey key;
  TestX509 certificate;
};

TestAuthority::TestAuthority(const std::string& name) : keys_(std::make_unique<Keys>()) {
  keys_->key = MakeKey();
  keys_->certificate =
      MakeCertificate({.name = name, .is_authority = true}, keys_->key.get(), nullptr, nullptr);
  certificate_ = PemOf(keys_->certificate.get());
}
TestAuthority::TestAuthority(std::unique_ptr<Keys> keys, std::string certificate)
    : keys_(std::move(keys)), certificate_(std::move(certificate)) {}
TestAuthority::~TestAuthority() = default;

TestCertificate TestAuthority::Sign(const std::string& name,
                                    const std::vector<std::string>& alternative_names) const {
  const TestKey key = MakeKey();
  const TestX509 certificate =
      MakeCertificate({.name = name, .alternative_names = alternative_names}, key.get(),
                      keys_->certificate.get(), keys_->key.get());
  return {PemOf(certificate.get()), PemOf(key.get())};
}

std::unique_ptr<TestAuthority> TestAuthority::SignAuthority(const std::string& name) const {
  auto keys = std::make_unique<Keys>();
  keys->key = MakeKey();
  keys->certificate = MakeCertificate({.name = name, .is_authority = true}, keys->key.get(),
                                      keys_->certificate.get(), keys_->key.get());
  std::string certificate = PemOf(keys->certificate.get());
  return std::unique_ptr<TestAuthority>(new TestAuthority(std::move(keys), std::move(certificate)));
}

std::string EncryptedKey(const std::string& key, const std::string& passphrase) {
  const TestBio bio(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
  const TestKey plain(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  LS_CHECK(plain != nullptr, "a test encrypts a key");
  return PemOf(plain.get(), passphrase);
}

}  // namespace liststore::testing
