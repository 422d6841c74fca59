#include "engine/network/client_budget.h"

#include <algorithm>

#include "engine/base/check.h"

namespace liststore::network {

void ClientBudget::Set(ClientAccount& account, size_t bytes) {
  const MutexLock lock(mutex_);
  LS_DCHECK(held_bytes() >= account.bytes_, "all hold what each of them holds");
  if (bytes > 0) accounts_.insert(&account);  // before anything has changed: the heap may refuse
  // One addition: nobody sees less than is held.
  held_bytes_.fetch_add(bytes - account.bytes_, std::memory_order_relaxed);
  account.bytes_ = bytes;
  if (bytes > 0) return;
  accounts_.erase(&account);
  if (condemned_ == &account) condemned_ = nullptr;
}

std::optional<uint32_t> ClientBudget::CondemnLargest() {
  const MutexLock lock(mutex_);
  if (condemned_ != nullptr || accounts_.empty()) return std::nullopt;
  ClientAccount* const largest = *std::ranges::max_element(
      accounts_, {}, [](const ClientAccount* account) { return account->bytes_; });
  condemned_ = largest;
  largest->is_condemned_.store(true, std::memory_order_relaxed);
  return largest->loop_;
}

std::vector<ClientHolding> ClientBudget::Largest(size_t count) const {
  std::vector<ClientHolding> all;
  {
    const MutexLock lock(mutex_);
    all.reserve(accounts_.size());
    for (const ClientAccount* const account : accounts_) {
      all.push_back({account->address_, account->port_, account->bytes_});
    }
  }
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()));
  std::ranges::partial_sort(all, end, std::ranges::greater(), &ClientHolding::bytes);
  all.erase(end, all.end());
  return all;
}

}  // namespace liststore::network
