// TestAuthority: a certificate authority that a test makes for itself, and what it signs.
#ifndef LISTSTORE_TESTS_SUPPORT_TEST_AUTHORITY_H_
#define LISTSTORE_TESTS_SUPPORT_TEST_AUTHORITY_H_

#include <memory>
#include <string>
#include <vector>

namespace liststore::testing {

// In PEM form.
struct TestCertificate {
  std::string certificate;
  std::string key;
};

// Keys are new ones on P-256; certificates are valid from an hour ago for a day. Ends the test program
// where OpenSSL refuses.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);
  ~TestAuthority();
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  // Its own certificate.
  const std::string& certificate() const { return certificate_; }
  // `alternative_names` as "DNS:localhost", "IP:127.0.0.1".
  TestCertificate Sign(const std::string& name,
                       const std::vector<std::string>& alternative_names = {}) const;
  // For servers on this machine.
  TestCertificate SignLocalhost() const {
    return Sign("localhost", {"DNS:localhost", "IP:127.0.0.1", "IP:::1"});
  }
  // Another authority, whose certificate this one signs.
  std::unique_ptr<TestAuthority> SignAuthority(const std::string& name) const;

 private:
  struct Keys;
  TestAuthority(std::unique_ptr<Keys> keys, std::string certificate);

  std::unique_ptr<Keys> keys_;
  std::string certificate_;
};

// `key`, of PEM form, encrypted with a passphrase.
std::string EncryptedKey(const std::string& key, const std::string& passphrase);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_TEST_AUTHORITY_H_
