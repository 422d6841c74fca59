// LoginGuard: makes guessing passwords slow.
#ifndef LISTSTORE_ENGINE_FACES_CQL_LOGIN_GUARD_H_
#define LISTSTORE_ENGINE_FACES_CQL_LOGIN_GUARD_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/network/session.h"

namespace liststore::cql_face {

struct LoginLimits {
  // Wrong passwords of one connection; with the last it ends.
  int failures_max = 3;
  // What an attempt waits for behind the first failure of its address; each further one doubles it.
  std::chrono::milliseconds first_delay{100};
  std::chrono::milliseconds delay_max{2000};
  // An address is forgiven when it has not failed for so long.
  std::chrono::seconds memory{60};
  // Attempts of one address that may wait at the same time; more are refused unheard.
  int waiting_max = 16;
  // Passwords of one address that are hashed at the same time; more wait for these.
  int checks_max = 2;
};

// Wrong passwords by address. An attempt waits before it is looked at, whether it is right or
// wrong, so that who does not wait learns nothing; an address has some eight of them a second at
// most. Addresses that have not failed do not wait. Thread-safe, a mutex; for those who log in.
// kAddressesMax entries of some 150 bytes.
class LoginGuard {
 public:
  using Instant = network::Instant;

  explicit LoginGuard(const LoginLimits& limits = {}) : limits_(limits) {}
  LoginGuard(const LoginGuard&) = delete;
  LoginGuard& operator=(const LoginGuard&) = delete;

  const LoginLimits& limits() const { return limits_; }
  // What an attempt that `address` makes `now` has to wait for. More than zero: it waits, until
  // Leave. Negative: too many wait already, and it is to be refused.
  std::chrono::nanoseconds Enter(std::string_view address, Instant now);
  void Leave(std::string_view address);
  // For who does not wait but comes again: how long from `now` until an attempt of `address` is
  // looked at, counted from its last failure. Never negative, and nothing is held.
  std::chrono::nanoseconds WaitOf(std::string_view address, Instant now);
  // A password of `address` may be hashed, until EndCheck. False: as many are as may be; what they
  // find out may be known without hashing then, or make this one wait longer.
  [[nodiscard]] bool BeginCheck(std::string_view address);
  void EndCheck(std::string_view address);
  void NoteFailure(std::string_view address, Instant now);
  void NoteSuccess(std::string_view address);
  // Wrong passwords, and attempts that were refused unheard.
  uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }
  // That are remembered.
  size_t addresses() {
    const MutexLock lock(mutex_);
    return addresses_.size();
  }

 private:
  static constexpr size_t kAddressesMax = 10'000;

  struct Entry {
    int failures = 0;
    int waiting = 0;
    Instant last_failure;
  };
  // IPv6 addresses by their network: one host has as many of them as it likes.
  static std::string KeyOf(std::string_view address);
  bool IsForgiven(const Entry& entry, Instant now) const {
    return entry.waiting == 0 && now - entry.last_failure > limits_.memory;
  }
  // What an attempt waits for; `failures` > 0.
  std::chrono::nanoseconds DelayOf(int failures) const;
  // Makes room for one.
  void Forget(Instant now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const LoginLimits limits_;
  std::atomic<uint64_t> failures_ = 0;
  Mutex mutex_;
  std::map<std::string, Entry> addresses_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> checks_ ABSL_GUARDED_BY(mutex_);  // under way, none of them 0
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_LOGIN_GUARD_H_
