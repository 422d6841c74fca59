// What the lists of a server are to hold while a benchmark adds to them.
#ifndef LISTSTORE_BENCH_MEASURE_GROWING_LISTS_H_
#define LISTSTORE_BENCH_MEASURE_GROWING_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/workload.h"

namespace liststore {

// List L holds the items [0, ItemsOf(L)) of a BenchItems. Four bytes a list.
class GrowingLists {
 public:
  // `items` outlives it. Each of `lists` begins with `loaded` items.
  GrowingLists(const BenchItems& items, uint64_t lists, uint64_t loaded)
      : items_(items), loaded_(static_cast<uint32_t>(loaded)), added_(static_cast<size_t>(lists)) {}

  uint64_t count() const { return added_.size(); }
  uint32_t loaded() const { return loaded_; }
  uint32_t ItemsOf(uint32_t list) const { return loaded_ + added_[list]; }
  // One more; returns its number.
  uint32_t AddTo(uint32_t list) { return loaded_ + added_[list]++; }
  std::string ValueOf(uint32_t list, uint32_t number) const {
    std::string value(items_.value_bytes(), '\0');
    items_.WriteValue(list, number, value.data());
    return value;
  }
  size_t value_bytes() const { return items_.value_bytes(); }
  uint64_t TimestampOf(uint32_t list, uint32_t number) const {
    return items_.TimestampOf(list, number);
  }

 private:
  const BenchItems& items_;
  const uint32_t loaded_;
  std::vector<uint32_t> added_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_MEASURE_GROWING_LISTS_H_
