// TlsOptions: what a server shows its clients over TLS, and whom it lets in.
#ifndef LISTSTORE_TLS_OPTIONS_H_
#define LISTSTORE_TLS_OPTIONS_H_

#include <cstdint>
#include <string>

namespace liststore {

enum class TlsVersion : uint8_t {
  k1_2,
  k1_3
};

// Files in PEM form. They are read when the server starts, and again when it is told to; in between
// they may be replaced.
struct TlsOptions {
  // The server's certificate, then those between it and its CA, if there are any.
  std::string certificate_file = {};
  // Its private key, without a passphrase. Empty: it is in `certificate_file` too.
  std::string key_file = {};
  // Certificates of the CAs that sign those of clients. Empty: none is known.
  std::string ca_file = {};
  // Clients without a certificate that one of these CAs has signed are not let in. Needs `ca_file`;
  // without this, clients are not asked for a certificate.
  bool require_client_certificate = false;
  // The oldest that is spoken.
  TlsVersion min_version = TlsVersion::k1_2;
  // Cipher suites in OpenSSL's names, with colons between them. Those that begin with "TLS_" are the
  // suites of TLS 1.3, all others those of TLS 1.2; a version of which none is named keeps OpenSSL's
  // defaults. Empty: the defaults of both.
  std::string ciphers = {};
};

}  // namespace liststore

#endif  // LISTSTORE_TLS_OPTIONS_H_
