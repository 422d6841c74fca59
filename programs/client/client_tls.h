// TLS beneath the clients of the tools, by OpenSSL, apart from the server's.
#ifndef LISTSTORE_PROGRAMS_CLIENT_CLIENT_TLS_H_
#define LISTSTORE_PROGRAMS_CLIENT_CLIENT_TLS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace liststore {

// Whether and how a client connects over TLS. Files are in PEM form.
struct ClientTlsOptions {
  bool is_on = false;
  // CAs that may have signed the server's certificate; empty: those that the system trusts.
  std::string ca_file = {};
  // The client's own certificate, then those between it and its CA; empty: it has none.
  std::string certificate_file = {};
  // Its key, without a passphrase; empty: it is in `certificate_file` too.
  std::string key_file = {};
  // Neither who has signed the server's certificate nor for which host is looked at.
  bool trusts_anybody = false;

  // It is on, or something is said that has no other meaning.
  bool IsWanted() const {
    return is_on || trusts_anybody || !ca_file.empty() || !certificate_file.empty() ||
           !key_file.empty();
  }
};

// The client's side of one connection: bytes of the socket <-> what is said. Knows no socket. One
// thread.
class ClientTls {
 public:
  // For a connection to `host`, a name or an address, which the server's certificate has to be for.
  // InvalidArgument: a file cannot be read, or holds something else; the message names it.
  static absl::StatusOr<std::unique_ptr<ClientTls>> Create(const ClientTlsOptions& options,
                                                           const std::string& host);
  ~ClientTls();
  ClientTls(const ClientTls&) = delete;
  ClientTls& operator=(const ClientTls&) = delete;

  // Goes on with the handshake: true when it is done, false when bytes from the server are wanted.
  // FailedPrecondition: the certificate is not believed. Unavailable: the server does not speak TLS,
  // or has refused.
  absl::StatusOr<bool> ShakeHands();
  // To be sent at `bytes`' place. Valid until the next call.
  absl::StatusOr<std::string_view> Encrypt(std::string_view bytes);
  // What else is to be sent; valid until the next call.
  std::string_view TakeOutput();
  // What the socket had.
  void Give(std::string_view received);
  // Appends what the server has said so far to `buffer` behind `*end`, which moves; `buffer` grows as
  // it has to. Unavailable: the server has ended it, or what came is no TLS.
  absl::Status Decrypt(std::vector<char>* buffer, size_t* end);

 private:
  struct Parts;
  explicit ClientTls(std::unique_ptr<Parts> parts);
  absl::Status Failure(int result) const;

  const std::unique_ptr<Parts> parts_;
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CLIENT_CLIENT_TLS_H_
