// ChangeMarks: whether a partition may have been changed since somebody began to load it elsewhere.
// Deletions and evictions on request leave nothing behind in a partition: so changes are noted
// beside it.
//
// One per table and lane, used by the lane's holder only. A counter of the lane's changes, and for
// each of 1,024 stretches of addresses the count at its last change: a partition is told apart from
// those of its stretch no further. 8 KiB from the first mark on, none before; a change costs a
// store.
#ifndef LISTSTORE_ENGINE_STORAGE_CHANGE_MARKS_H_
#define LISTSTORE_ENGINE_STORAGE_CHANGE_MARKS_H_

#include <array>
#include <cstdint>
#include <memory>

namespace liststore::storage {

class ChangeMarks {
 public:
  // The state of things now, for ChangedSince.
  uint64_t Mark() {
    if (last_ == nullptr) last_ = std::make_unique<std::array<uint64_t, kStretches>>();
    return changes_;
  }
  bool ChangedSince(uint64_t address, uint64_t mark) const {
    // A mark that nobody gave out, or that is of another time, proves nothing.
    if (last_ == nullptr || mark > changes_ || mark < all_changed_) return true;
    return (*last_)[address >> kShift] > mark;
  }

  void Note(uint64_t address) {
    if (__builtin_expect(last_ != nullptr, false)) (*last_)[address >> kShift] = ++changes_;
  }
  // Everything may have changed.
  void NoteAll() { all_changed_ = ++changes_; }

 private:
  static constexpr int kStretchesLog2 = 10;
  static constexpr int kShift = 64 - kStretchesLog2;
  static constexpr uint64_t kStretches = uint64_t{1} << kStretchesLog2;

  uint64_t changes_ = 1;
  uint64_t all_changed_ = 0;  // a mark below is too old for whatever partition
  std::unique_ptr<std::array<uint64_t, kStretches>> last_;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_CHANGE_MARKS_H_
