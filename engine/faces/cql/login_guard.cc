#include "engine/faces/cql/login_guard.h"

#include <algorithm>

namespace liststore::cql_face {

std::string LoginGuard::KeyOf(std::string_view address) {
  constexpr size_t kNetworkBytes = 8;
  return std::string(address.size() == 16 ? address.substr(0, kNetworkBytes) : address);
}

std::chrono::nanoseconds LoginGuard::Enter(std::string_view address, Instant now) {
  const MutexLock lock(mutex_);
  const auto at = addresses_.find(KeyOf(address));
  if (at == addresses_.end()) return std::chrono::nanoseconds(0);
  Entry& entry = at->second;
  if (IsForgiven(entry, now)) {
    addresses_.erase(at);
    return std::chrono::nanoseconds(0);
  }
  if (entry.failures == 0) return std::chrono::nanoseconds(0);
  if (entry.waiting == limits_.waiting_max) {
    failures_.fetch_add(1, std::memory_order_relaxed);
    return std::chrono::nanoseconds(-1);
  }
  const auto delay = DelayOf(entry.failures);
  if (limits_.first_delay.count() != 0) ++entry.waiting;
  return delay;
}

std::chrono::nanoseconds LoginGuard::DelayOf(int failures) const {
  constexpr int kDoublingsMax = 20;
  const auto delay = limits_.first_delay * (1 << std::min(failures - 1, kDoublingsMax));
  return std::min<std::chrono::nanoseconds>(delay, limits_.delay_max);
}

std::chrono::nanoseconds LoginGuard::WaitOf(std::string_view address, Instant now) {
  const MutexLock lock(mutex_);
  const auto at = addresses_.find(KeyOf(address));
  if (at == addresses_.end()) return std::chrono::nanoseconds(0);
  const Entry& entry = at->second;
  if (entry.failures == 0 || IsForgiven(entry, now)) return std::chrono::nanoseconds(0);
  return std::max(std::chrono::nanoseconds(entry.last_failure + DelayOf(entry.failures) - now),
                  std::chrono::nanoseconds(0));
}

void LoginGuard::Leave(std::string_view address) {
  const MutexLock lock(mutex_);
  const auto at = addresses_.find(KeyOf(address));
  if (at != addresses_.end()) at->second.waiting = std::max(at->second.waiting - 1, 0);
}

bool LoginGuard::BeginCheck(std::string_view address) {
  const MutexLock lock(mutex_);
  int& checks = checks_[KeyOf(address)];
  if (checks >= limits_.checks_max) return false;
  ++checks;
  return true;
}

void LoginGuard::EndCheck(std::string_view address) {
  const MutexLock lock(mutex_);
  const auto at = checks_.find(KeyOf(address));
  if (at != checks_.end() && --at->second == 0) checks_.erase(at);
}

void LoginGuard::NoteFailure(std::string_view address, Instant now) {
  failures_.fetch_add(1, std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  if (addresses_.size() >= kAddressesMax) Forget(now);
  Entry& entry = addresses_[KeyOf(address)];
  if (entry.failures > 0 && IsForgiven(entry, now)) entry.failures = 0;
  ++entry.failures;
  entry.last_failure = now;
}

void LoginGuard::NoteSuccess(std::string_view address) {
  const MutexLock lock(mutex_);
  const auto at = addresses_.find(KeyOf(address));
  if (at != addresses_.end()) at->second.failures = 0;
}

void LoginGuard::Forget(Instant now) {
  std::erase_if(addresses_, [&](const auto& entry) { return IsForgiven(entry.second, now); });
  if (addresses_.size() < kAddressesMax) return;
  const auto oldest = std::ranges::min_element(
      addresses_, {}, [](const auto& entry) { return entry.second.last_failure; });
  addresses_.erase(oldest);
}

}  // namespace liststore::cql_face
