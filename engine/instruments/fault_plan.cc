#include "engine/instruments/fault_plan.h"

#include <algorithm>
#include <utility>

namespace liststore {
namespace {

bool IsUsedUp(const Fault& fault) { return fault.times && fault.hits >= *fault.times; }

}  // namespace

void FaultPlan::NoteArmed() {
  const bool armed =
      std::ranges::any_of(faults_, [](const auto& entry) { return !IsUsedUp(entry.second); });
  armed_.store(armed, std::memory_order_relaxed);
}

std::optional<FaultHit> FaultPlan::Meet(const FaultRequest& request) {
  MutexLock lock(mutex_);
  for (auto& [name, fault] : faults_) {
    if (IsUsedUp(fault)) continue;
    if (fault.action.kind == FaultAction::Kind::kUnprepared && !request.is_prepared) continue;
    if (!fault.condition.Holds(request)) continue;
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

}  // namespace liststore
