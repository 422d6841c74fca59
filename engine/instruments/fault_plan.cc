#include "engine/instruments/fault_plan.h"

#include <algorithm>
#include <utility>

namespace liststore::instruments {
namespace {

bool IsUsedUp(const Fault& fault) { return fault.times && fault.hits >= *fault.times; }

bool IsOpenTo(const Fault& fault, const FaultRequest& request) {
  return !IsUsedUp(fault) &&
         (fault.action.kind != FaultAction::Kind::kUnprepared || request.is_prepared);
}

}  // namespace

void FaultPlan::NoteArmed() {
  bool armed = false;
  bool asks_for_keys = false;
  for (const auto& [name, fault] : faults_) {
    if (IsUsedUp(fault)) continue;
    armed = true;
    asks_for_keys |= fault.condition.key.has_value();
  }
  armed_.store(armed, std::memory_order_relaxed);
  asks_for_keys_.store(asks_for_keys, std::memory_order_relaxed);
}

bool FaultPlan::AsksForKeys(const FaultRequest& request) const {
  if (!asks_for_keys_.load(std::memory_order_relaxed)) return false;
  MutexLock lock(mutex_);
  return std::ranges::any_of(faults_, [&](const auto& entry) {
    const Fault& fault = entry.second;
    return fault.condition.key && IsOpenTo(fault, request) &&
           fault.condition.HoldsButForKey(request);
  });
}

std::optional<FaultHit> FaultPlan::Meet(const FaultRequest& request) {
  MutexLock lock(mutex_);
  for (auto& [name, fault] : faults_) {
    if (!IsOpenTo(fault, request) || !fault.condition.Holds(request)) continue;
    if (fault.probability && fault.random.Fraction() >= *fault.probability) continue;
    ++fault.hits;
    FaultHit hit{name, fault.action.kind, {}, fault.applies};
    if (hit.kind == FaultAction::Kind::kDelay) {
      hit.delay = fault.action.delay.At(fault.random.Fraction());
    }
    if (IsUsedUp(fault)) NoteArmed();
    return hit;
  }
  return std::nullopt;
}

bool FaultPlan::Put(Fault fault) {
  MutexLock lock(mutex_);
  if (faults_.size() >= kFaultsMax && !faults_.contains(fault.name)) return false;
  fault.hits = 0;
  fault.random = Random(fault.seed);
  std::string name = fault.name;
  faults_.insert_or_assign(std::move(name), std::move(fault));
  NoteArmed();
  return true;
}

void FaultPlan::Remove(std::string_view name) {
  MutexLock lock(mutex_);
  const auto at = faults_.find(name);
  if (at == faults_.end()) return;
  faults_.erase(at);
  NoteArmed();
}

void FaultPlan::Reset() {
  MutexLock lock(mutex_);
  faults_.clear();
  NoteArmed();
}

std::vector<Fault> FaultPlan::List() const {
  MutexLock lock(mutex_);
  std::vector<Fault> list;
  list.reserve(faults_.size());
  for (const auto& [name, fault] : faults_) list.push_back(fault);
  return list;
}

}  // namespace liststore::instruments
