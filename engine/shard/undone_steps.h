// UndoneSteps: parts of the logs that a return to an earlier instant has undone.
#ifndef LISTSTORE_ENGINE_SHARD_UNDONE_STEPS_H_
#define LISTSTORE_ENGINE_SHARD_UNDONE_STEPS_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace liststore::shard {

// Marks and returns are steps: every log has them between the same writes. What lies between a mark and a
// return to it is as if it had not been. Filled by one thread; then any thread asks. O(log marks) each.
class UndoneSteps {
 public:
  // What comes behind step `mark` and before step `back` is undone. A mark ends with the next one: what
  // belongs to several does not overlap.
  void Add(uint64_t mark, uint64_t back) {
    uint64_t& last = backs_[mark];
    last = std::max(last, back);
  }
  bool empty() const { return backs_.empty(); }

  // Of what stands in a log behind this step, and before its next one.
  bool HasBehind(uint64_t step) const {
    const auto next = backs_.upper_bound(step);
    return next != backs_.begin() && step < std::prev(next)->second;
  }
  // Of a step itself.
  bool Has(uint64_t step) const { return HasBehind(step) && !backs_.contains(step); }

 private:
  std::map<uint64_t, uint64_t> backs_;  // the last return, by mark
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_UNDONE_STEPS_H_
