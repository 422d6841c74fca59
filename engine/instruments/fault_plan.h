// FaultPlan: the faults that are armed, and which of them a request meets.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_FAULT_PLAN_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_FAULT_PLAN_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/instruments/fault.h"
#include "engine/instruments/resettable.h"

namespace liststore::instruments {

// What a request meets.
struct FaultHit {
  std::string name;
  FaultAction::Kind kind = FaultAction::Kind::kServerError;
  std::chrono::nanoseconds delay{0};  // of kDelay
  bool applies = false;
};

// Thread-safe. While nothing is armed, asking costs a load.
class FaultPlan final : public Resettable {
 public:
  static constexpr size_t kFaultsMax = 1000;

  // Whether any fault is there that may still be met.
  bool armed() const { return armed_.load(std::memory_order_relaxed); }
  // Whether some fault that this request may meet names a partition key: then the caller, who needs
  // a plan for it, fills in the keys before it calls Meet. O(faults) where such a fault is armed.
  bool AsksForKeys(const FaultRequest& request) const;
  // The first fault, by name, whose condition holds for the request and that happens to it; it is
  // counted. A condition that holds takes one of the fault's draws, whether or not it happens.
  // O(faults).
  std::optional<FaultHit> Meet(const FaultRequest& request);

  // Arms a fault, counted from zero; in place of one of its name. False: there are kFaultsMax.
  bool Put(Fault fault);
  // Nothing, when there is none of that name.
  void Remove(std::string_view name);
  void Reset() override;
  // By name, with what has come of them.
  std::vector<Fault> List() const;

 private:
  void NoteArmed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<bool> armed_{false};
  std::atomic<bool> asks_for_keys_{false};  // some that is armed does
  mutable Mutex mutex_;
  std::map<std::string, Fault, std::less<>> faults_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_FAULT_PLAN_H_
