// The connection beneath the clients of the tools, whatever is spoken over it.
#ifndef LISTSTORE_PROGRAMS_CLIENT_CLIENT_SOCKET_H_
#define LISTSTORE_PROGRAMS_CLIENT_CLIENT_SOCKET_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/client/client_tls.h"

namespace liststore {

// One blocking TCP connection, plain or with TLS. One thread. Whatever takes longer than a minute,
// or what SetTimeout says, fails.
//
// Statuses name the server and what failed. Unavailable: it cannot be reached, or has closed the
// connection. DeadlineExceeded: nothing came, or went, for so long. FailedPrecondition:
// its certificate is not believed. InvalidArgument: a file of TLS is not what it should be.
class ClientSocket {
 public:
  static constexpr std::chrono::seconds kTimeout{60};  // to begin with

  // `server` is HOST:PORT, [IPV6]:PORT for addresses with colons.
  // With TLS hands are shaken when it returns.
  static absl::StatusOr<std::unique_ptr<ClientSocket>> Connect(std::string_view server,
                                                               const ClientTlsOptions& tls = {});
  ~ClientSocket();
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  const std::string& server() const { return server_; }
  int fd() const { return fd_; }

  // Of whole seconds, at least one.
  void SetTimeout(std::chrono::seconds timeout);

  // All of `bytes`.
  absl::Status Send(std::string_view bytes);
  // Reads what has arrived, waiting for at least one byte. Ends what received() has lent.
  absl::Status Receive();
  // What has arrived and was not taken yet, borrowed until the next Receive.
  std::string_view received() const { return {received_.data() + begin_, end_ - begin_}; }
  // Takes the first `bytes` of received(). Moves nothing: they may still be looked at.
  void Take(size_t bytes);

 private:
  ClientSocket(std::string_view server, int fd);
  absl::Status Lost(const char* what, int error) const;
  absl::Status ShakeHands(const ClientTlsOptions& options, const std::string& host);
  // What goes over the socket as it is.
  absl::Status SendBytes(std::string_view bytes);
  // Up to `bytes`, waiting for at least one.
  absl::StatusOr<size_t> ReceiveBytes(char* to, size_t bytes);
  absl::Status ReceiveTls();
  absl::Status Named(const absl::Status& status) const;

  const std::string server_;
  const int fd_;
  std::chrono::seconds timeout_{};
  std::unique_ptr<ClientTls> tls_;  // nullptr: none
  std::vector<char> received_;      // twice as long after each read that has filled it
  std::vector<char> encrypted_;     // of one read, with TLS
  size_t begin_ = 0;                // of what was not taken yet
  size_t end_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CLIENT_CLIENT_SOCKET_H_
