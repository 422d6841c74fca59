// Admission: how many connections there may be, and how many of one address.
#ifndef LISTSTORE_ENGINE_NETWORK_ADMISSION_H_
#define LISTSTORE_ENGINE_NETWORK_ADMISSION_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"

namespace liststore::network {

struct ConnectionLimits {
  size_t connections_max = 0;  // 0: what the process's descriptors leave
  size_t per_address_max = 0;  // 0: three quarters of these
};

// Who comes and goes. The last connections that there may be are for addresses that have few: a
// server that some have filled can still be reached, and looked at, from elsewhere. Thread-safe, a
// mutex; a connection costs an entry of some 50 bytes for its address.
class Admission {
 public:
  // A connection's place; left when this goes. Of a refused connection: the place where it is told.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept { *this = std::move(other); }
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(admission_, other.admission_);
      std::swap(address_, other.address_);
      std::swap(refusal_, other.refusal_);
      return *this;
    }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    ~Ticket();

    // There is no place, not even to say so.
    bool is_void() const { return admission_ == nullptr; }
    // Why the client is not served; empty: it is.
    const std::string& refusal() const { return refusal_; }

   private:
    friend class Admission;
    Admission* admission_ = nullptr;
    std::string address_;
    std::string refusal_;
  };

  // `limits` are given, none is 0.
  explicit Admission(const ConnectionLimits& limits) : limits_(limits) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // `limits` with what stands for 0, where a process may have `descriptors` and `loops` take some.
  static ConnectionLimits Resolve(const ConnectionLimits& limits, uint64_t descriptors,
                                  size_t loops);

  const ConnectionLimits& limits() const { return limits_; }
  // Of a client that has just connected from `address`, 4 or 16 bytes. Outlives the ticket.
  Ticket Enter(std::string_view address);

 private:
  // Refused ones that are told at the same time; more are closed without a word.
  static constexpr size_t kToldMax = 64;
  // So many are kept, of a server that may have some, for addresses with fewer than these.
  static constexpr size_t kKeptMax = 64;
  static constexpr size_t kFew = 8;

  size_t kept() const { return std::min(kKeptMax, limits_.connections_max / 8); }
  // Why one more of an address that has `count` is refused; empty: it is not.
  std::string Refusal(size_t count) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave(const Ticket& ticket);

  const ConnectionLimits limits_;
  Mutex mutex_;
  size_t connections_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t told_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, size_t> by_address_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_ADMISSION_H_
