// RowWheel: expiry with a link in every row, the way timers are mostly kept, to compare the store's
// with.
//
// A wheel of one slot for each second, and rows that know their neighbours twice: those of their
// second and those of their list. A row that is due is taken out of both and freed by itself.
#ifndef LISTSTORE_BENCH_PEERS_ROW_WHEEL_H_
#define LISTSTORE_BENCH_PEERS_ROW_WHEEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "engine/model/packed_item_key.h"

namespace liststore {

// One thread. Add O(1), Advance O(seconds + rows due).
//
// Invariants (Verify() checks them):
//  (1) a row is in the slot of its second, and in its list, once;
//  (2) a list that is there has rows, newest first, and knows how many.
class RowWheel {
 public:
  // For rows that expire after `now_seconds`, at most `seconds_max` later at any time.
  RowWheel(int64_t now_seconds, int64_t seconds_max);
  ~RowWheel();
  RowWheel(const RowWheel&) = delete;
  RowWheel& operator=(const RowWheel&) = delete;

  // At the newest end of the list.
  void Add(std::string_view list_key, const PackedItemKey& item_key, std::string_view value,
           int64_t expires_at_seconds);
  // Frees what is due by `now_seconds`; returns how many rows.
  size_t Advance(int64_t now_seconds);

  size_t rows() const { return rows_; }
  size_t lists() const { return lists_.size(); }
  // Of one list; 0: it is not there.
  size_t RowsOf(std::string_view list_key) const;
  // Ends the process unless the invariants hold. For tests.
  void Verify() const;

 private:
  struct List;
  struct Link {
    Link* previous = this;
    Link* next = this;
  };
  // The value lies behind it.
  struct Row {
    Link of_second;  // first: a link of a slot is its row
    Row* newer = nullptr;
    Row* older = nullptr;
    List* list = nullptr;
    int64_t expires_at_seconds = 0;
    PackedItemKey key;
    uint32_t value_bytes = 0;
  };
  struct List {
    std::string key;
    Row* newest = nullptr;
    size_t rows = 0;
  };

  static Row* RowOf(Link* link) { return reinterpret_cast<Row*>(link); }
  Link& SlotOf(int64_t seconds) { return slots_[static_cast<size_t>(seconds) % slots_.size()]; }
  void Free(Row* row);

  int64_t now_seconds_;
  std::vector<Link> slots_;  // never resized: rows point into it
  absl::flat_hash_map<std::string, List*> lists_;
  size_t rows_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_ROW_WHEEL_H_
