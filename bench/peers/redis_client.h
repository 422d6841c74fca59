// A client of Redis that keeps many requests under way: requests as they are sent, replies as they
// come, written by hand so that the client costs as little as ours does.
#ifndef LISTSTORE_BENCH_PEERS_REDIS_CLIENT_H_
#define LISTSTORE_BENCH_PEERS_REDIS_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/client/client_socket.h"

namespace liststore {

// Commands of RESP 2, appended to a buffer: each an array of bulk strings.
class RedisRequests {
 public:
  void Append(std::span<const std::string_view> arguments);
  std::string_view view() const { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

struct RedisReply {
  enum class Kind {
    kText,
    kError,
    kInteger,
    kBulk,
    kNull,
    kArray
  };
  Kind kind = Kind::kNull;
  int64_t integer = 0;
  std::string_view text;  // of a text, an error or a bulk string
  // Of an array. Only bulk strings: nothing that is asked for answers with anything else.
  std::vector<std::string_view> elements;
};

enum class RedisParse {
  kWhole,
  kPart,
  kMalformed
};
// Reads the reply that `bytes` begin with; views in `reply` point into them. kWhole: `used` is its
// length. Pure.
RedisParse ParseRedisReply(std::string_view bytes, RedisReply* reply, size_t* used);

// One connection to 127.0.0.1. One thread. Whatever takes longer than a minute fails.
//
// Statuses name the server. Unavailable: it cannot be reached, or has closed the connection.
// DeadlineExceeded: no answer. InvalidArgument: it answered with an error, or with what is no RESP.
class RedisClient {
 public:
  static absl::StatusOr<std::unique_ptr<RedisClient>> Connect(uint16_t port);

  int fd() const { return socket_->fd(); }

  // One command by itself, nothing else under way. The reply is borrowed until the next call.
  absl::StatusOr<const RedisReply*> Ask(std::span<const std::string_view> arguments);

  // What Send will write.
  RedisRequests& requests() { return requests_; }
  // Writes all requests.
  absl::Status Send();
  // Reads what has arrived, waiting for at least one byte. Ends what replies borrow.
  absl::Status Receive() { return socket_->Receive(); }
  // The next whole reply among what was received, in the order of the requests; nullptr: receive
  // more.
  absl::StatusOr<const RedisReply*> Take();

 private:
  explicit RedisClient(std::unique_ptr<ClientSocket> socket) : socket_(std::move(socket)) {}

  const std::unique_ptr<ClientSocket> socket_;
  RedisRequests requests_;
  RedisReply reply_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_REDIS_CLIENT_H_
