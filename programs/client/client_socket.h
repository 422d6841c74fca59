// The connection beneath the clients of the tools, whatever is spoken over it.
#ifndef LISTSTORE_PROGRAMS_CLIENT_CLIENT_SOCKET_H_
#define LISTSTORE_PROGRAMS_CLIENT_CLIENT_SOCKET_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace liststore {

// One blocking TCP connection. One thread. Whatever takes longer than a minute fails.
//
// Statuses name the server and what failed. Unavailable: it cannot be reached, or has closed the
// connection. DeadlineExceeded: nothing came, or went, for a minute.
class ClientSocket {
 public:
  // `server` is HOST:PORT, [IPV6]:PORT for addresses with colons.
  static absl::StatusOr<std::unique_ptr<ClientSocket>> Connect(std::string_view server);
  ~ClientSocket();
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  const std::string& server() const { return server_; }
  int fd() const { return fd_; }

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

  const std::string server_;
  const int fd_;
  std::vector<char> received_;  // twice as long after each read that has filled it
  size_t begin_ = 0;            // of what was not taken yet
  size_t end_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CLIENT_CLIENT_SOCKET_H_
