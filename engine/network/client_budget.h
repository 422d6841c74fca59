// ClientBudget: how much memory is held for clients, by whom, and what becomes of too much.
#ifndef LISTSTORE_ENGINE_NETWORK_CLIENT_BUDGET_H_
#define LISTSTORE_ENGINE_NETWORK_CLIENT_BUDGET_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"

namespace liststore::network {

// What one connection holds: what was received and not dealt with, answers that wait, what its
// session and its TLS keep. Owned by the connection, used by its loop, and by the budget under its lock.
class ClientAccount {
 public:
  ClientAccount(uint32_t loop, std::string address, uint16_t port)
      : loop_(loop), port_(port), address_(std::move(address)) {}
  ClientAccount(const ClientAccount&) = delete;
  ClientAccount& operator=(const ClientAccount&) = delete;

  size_t bytes() const { return bytes_; }
  // It is to end: it holds most, and there is no room.
  bool is_condemned() const { return is_condemned_.load(std::memory_order_relaxed); }
  // Small changes wait, so that a connection whose buffers come and go costs no more than this.
  bool IsOutdated(size_t bytes) const {
    if (bytes == 0) return bytes_ != 0;
    return bytes + kGranularity < bytes_ || bytes > bytes_ + kGranularity;
  }

 private:
  friend class ClientBudget;
  // Many clients may each hold as much that is not counted.
  static constexpr size_t kGranularity = size_t{4} << 10;

  const uint32_t loop_;
  const uint16_t port_;
  const std::string address_;  // 4 or 16 bytes
  size_t bytes_ = 0;           // the loop writes it, under the budget's lock
  std::atomic<bool> is_condemned_ = false;
};

// A part of what is held, for whoever shows it.
struct ClientHolding {
  std::string address;  // 4 or 16 bytes
  uint16_t port = 0;
  size_t bytes = 0;
};

// Of a server, beside the memory that its rows have. Over a half of it those who hold much are not
// heard while what they still send does not fit; over three quarters they are refused what needs
// statements, and over seven eighths everybody is; what is above all of it ends who holds most.
// What one request takes while it is dealt with is bounded by itself (SessionLimits), and counts
// when it stays.
//
// Thread-safe. Asking is a load; a change takes a mutex, and is of kGranularity or more.
// Invariant: held_bytes() is the sum over all accounts.
class ClientBudget {
 public:
  explicit ClientBudget(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ClientBudget(const ClientBudget&) = delete;
  ClientBudget& operator=(const ClientBudget&) = delete;

  uint64_t limit_bytes() const { return limit_bytes_.load(std::memory_order_relaxed); }
  // A limit below what is held ends connections until it fits.
  void set_limit(uint64_t bytes) { limit_bytes_.store(bytes, std::memory_order_relaxed); }
  uint64_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }

  // A connection that holds `held` is to wait until it sends on.
  bool HoldsBack(size_t held, size_t bytes_missing) const {
    if (held <= kMuch) return false;
    const uint64_t all = held_bytes();
    const uint64_t limit = limit_bytes();
    return all > limit / 2 && bytes_missing > Rest(all, limit / 4 * 3);
  }
  // New requests of one that holds `held` are refused.
  bool Refuses(size_t held) const {
    const uint64_t all = held_bytes();
    const uint64_t limit = limit_bytes();
    return all > limit / 4 * 3 && (held > kMuch || all > limit / 8 * 7);
  }
  bool IsOver() const { return held_bytes() > limit_bytes(); }
  bool IsTight() const { return held_bytes() > limit_bytes() / 2; }

  // What the account holds from now on; 0 before it ends. Throws std::bad_alloc, and nothing changed,
  // where the heap refuses; never for 0.
  void Set(ClientAccount& account, size_t bytes);
  // Condemns the one that holds most, and returns its loop. Absent: there is none, or the one that
  // was condemned before has not gone yet.
  std::optional<uint32_t> CondemnLargest();
  // Those who hold most, in descending order.
  std::vector<ClientHolding> Largest(size_t count) const;

 private:
  // More than what a loop's buffer left over.
  static constexpr size_t kMuch = size_t{64} << 10;

  static uint64_t Rest(uint64_t held, uint64_t limit) { return held < limit ? limit - held : 0; }

  std::atomic<uint64_t> limit_bytes_;
  std::atomic<uint64_t> held_bytes_ = 0;
  mutable Mutex mutex_;
  // That hold something.
  std::unordered_set<ClientAccount*> accounts_ ABSL_GUARDED_BY(mutex_);
  const ClientAccount* condemned_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

// What became of clients, since the server started. Each loop adds; anybody reads.
struct ClientCounters {
  std::atomic<uint64_t> refused_connections = 0;  // more than there may be
  std::atomic<uint64_t> refused_requests = 0;     // OVERLOADED for memory, in whatever words
  std::atomic<uint64_t> refused_late = 0;         // the same for the time in the queue
  std::atomic<uint64_t> ended_in_handshake = 0;   // took too long
  std::atomic<uint64_t> ended_idle = 0;
  std::atomic<uint64_t> ended_not_reading = 0;
  std::atomic<uint64_t> ended_for_memory = 0;  // held most
  std::atomic<uint64_t> tls_handshakes = 0;    // that came to their end
  // Clients of a port of TLS that spoke something else, were refused, or went away in between.
  std::atomic<uint64_t> tls_handshakes_failed = 0;
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_CLIENT_BUDGET_H_
