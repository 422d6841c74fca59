// A load's connections to a server that may not read: what is sent never waits for the socket.
#ifndef LISTSTORE_BENCH_OVERLOAD_UNBLOCKED_TARGET_H_
#define LISTSTORE_BENCH_OVERLOAD_UNBLOCKED_TARGET_H_

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/load/load_target.h"
#include "bench/overload/offered_load.h"

namespace liststore {

// What `inner` is, but for sending. `Client` is CqlClient or RedisClient, those of `inner`, whose
// requests it leaves in them; `refused` is kept by its source, by slot. All outlive it. One thread.
template <typename Client>
class UnblockedTarget final : public OfferedTarget {
 public:
  using Clients = std::vector<std::unique_ptr<Client>>;

  UnblockedTarget(LoadTarget& inner, const Clients& clients, const std::vector<uint8_t>& refused)
      : inner_(inner), clients_(clients), refused_(refused), sent_(clients.size()) {}

  size_t connections() const override { return inner_.connections(); }
  size_t places() const override { return inner_.places(); }
  int fd(size_t connection) const override { return inner_.fd(connection); }
  bool HasPlace(size_t connection) const override { return inner_.HasPlace(connection); }
  std::optional<size_t> Append(size_t connection, size_t source) override {
    return inner_.Append(connection, source);
  }
  absl::Status Send(size_t connection) override {
    Client& client = *clients_[connection];
    size_t& sent = sent_[connection];
    const std::string_view bytes = client.requests().view().substr(sent);
    if (bytes.empty()) return absl::OkStatus();
    const ssize_t count =
        send(client.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return absl::OkStatus();
      return absl::UnavailableError(absl::StrCat("sending to the server: ", strerror(errno)));
    }
    sent += static_cast<size_t>(count);
    if (!HasUnsent(connection)) {
      client.requests().Clear();
      sent = 0;
    }
    return absl::OkStatus();
  }
  bool HasUnsent(size_t connection) const override {
    return sent_[connection] < clients_[connection]->requests().view().size();
  }
  absl::Status Receive(size_t connection) override { return inner_.Receive(connection); }
  absl::Status Take(size_t connection, std::vector<size_t>* answered) override {
    return inner_.Take(connection, answered);
  }
  bool WasRefused(size_t slot) const override { return refused_[slot] != 0; }

 private:
  LoadTarget& inner_;
  const Clients& clients_;
  const std::vector<uint8_t>& refused_;
  std::vector<size_t> sent_;  // bytes of a client's requests that the socket has
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_OVERLOAD_UNBLOCKED_TARGET_H_
