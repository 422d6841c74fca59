// RecordedTables: which table of this engine is meant by an id that was written down.
#ifndef LISTSTORE_ENGINE_SHARD_RECORDED_TABLES_H_
#define LISTSTORE_ENGINE_SHARD_RECORDED_TABLES_H_

#include <optional>
#include <utility>
#include <vector>

#include "engine/model/table_schema.h"

namespace liststore::shard {

// Changes while nobody looks anything up: before a replay, and in its barriers.
class RecordedTables {
 public:
  // Takes the place of what was said of `recorded` before.
  void Set(TableId recorded, TableId here) {
    if (by_number_.size() <= recorded.value) by_number_.resize(recorded.value + size_t{1});
    Remove(recorded);
    // The newest generation is found first.
    auto& of_number = by_number_[recorded.value];
    of_number.insert(of_number.begin(), {recorded, here});
  }
  void Remove(TableId recorded) {
    if (recorded.value >= by_number_.size()) return;
    std::erase_if(by_number_[recorded.value],
                  [&](const auto& pair) { return pair.first == recorded; });
  }
  // Every id that stood for `before` stands for `now`: a table was rebuilt, or got another id.
  void Replace(TableId before, TableId now) {
    for (auto& of_number : by_number_) {
      for (auto& [recorded, here] : of_number) {
        if (here == before) here = now;
      }
    }
  }
  std::optional<TableId> Find(TableId recorded) const {
    if (recorded.value >= by_number_.size()) return std::nullopt;
    for (const auto& [id, here] : by_number_[recorded.value]) {
      if (id == recorded) return here;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::vector<std::pair<TableId, TableId>>> by_number_;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_RECORDED_TABLES_H_
