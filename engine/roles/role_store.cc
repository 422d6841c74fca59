#include "engine/roles/role_store.h"

#include <utility>

namespace liststore::roles {
namespace {

RoleState WithoutLogins() {
  RoleState state;
  state.Put("cassandra", /*can_login=*/true, /*is_superuser=*/true, std::nullopt);
  return state;
}

}  // namespace

RoleStore::RoleStore(const RoleRules& rules, RoleState start)
    : rules_(rules),
      start_(std::make_shared<const RoleState>(std::move(start))),
      current_(start_) {}

RoleStore::RoleStore() : RoleStore(RoleRules{}, WithoutLogins()) {}

std::shared_ptr<const RoleState> RoleStore::snapshot() const {
  const MutexLock lock(mutex_);
  return current_;
}

std::shared_ptr<const RoleState> RoleStore::SettledSnapshot() {
  const MutexLock lock(change_mutex_);
  return snapshot();
}

RoleStore::Outcome RoleStore::Change(absl::FunctionRef<bool(RoleState&)> change) {
  const MutexLock lock(change_mutex_);
  const Snapshot before = snapshot();
  auto next = std::make_shared<RoleState>(*before);
  if (!change(*next)) return Outcome::kUnchanged;
  if (next->Bytes() > kBytesMax) return Outcome::kTooLarge;
  if (journal_ != nullptr && !journal_->Note(*before, *next)) return Outcome::kNotKept;
  Publish(std::move(next));
  return Outcome::kChanged;
}

void RoleStore::Mark() {
  const MutexLock lock(change_mutex_);
  mark_ = snapshot();
}

void RoleStore::Forget() {
  const MutexLock lock(change_mutex_);
  mark_ = nullptr;
}

void RoleStore::Reset() {
  ResetIf([](const RoleState&) { return true; });
}

void RoleStore::ResetIf(absl::FunctionRef<bool(const RoleState&)> with) {
  const MutexLock lock(change_mutex_);
  const Snapshot& back = mark_ != nullptr ? mark_ : start_;
  if (with(*back)) Publish(back);
}

void RoleStore::Publish(Snapshot next) {
  {
    const MutexLock lock(mutex_);
    current_ = std::move(next);
  }
  // Who sees the new version finds the new snapshot, or a later one.
  version_.fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace liststore::roles
