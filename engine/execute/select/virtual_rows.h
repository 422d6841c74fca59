// VirtualRows: where a SELECT has the rows of a table without storage from, some at a time.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_VIRTUAL_ROWS_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_VIRTUAL_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cql/plan/instantiate.h"
#include "engine/cql/schema/virtual_table.h"

namespace liststore::execute {

// A row of a table, or the end of a partition.
struct RowPlace {
  std::string partition;           // serialised
  std::optional<std::string> row;  // encoded; nullopt: behind all rows of the partition
};

// Of one SELECT, and of the thread that runs it.
class VirtualRows {
 public:
  virtual ~VirtualRows() = default;
  // Rows of these tokens alone are wanted, and those behind a place. Said at most once, before the
  // first Next. Rows that are not wanted may come all the same.
  virtual void Begin(const cql::TokenRange& tokens, const std::optional<RowPlace>& behind) = 0;
  // The next rows, in the order of VirtualTable::Rows: `count` are enough for now, fewer come where
  // there are no more, and none when there were none left. Not 0.
  virtual std::vector<cql::VirtualRow> Next(uint64_t count) = 0;
};

// Those of a table that is computed whole.
class WholeTable final : public VirtualRows {
 public:
  // Both outlive it.
  WholeTable(const cql::VirtualTable& table, const cql::VirtualReadContext& context)
      : table_(table), context_(context) {}

  void Begin(const cql::TokenRange&, const std::optional<RowPlace>&) override {}
  std::vector<cql::VirtualRow> Next(uint64_t) override {
    return std::exchange(is_read_, true) ? std::vector<cql::VirtualRow>() : table_.Rows(context_);
  }

 private:
  const cql::VirtualTable& table_;
  const cql::VirtualReadContext& context_;
  bool is_read_ = false;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_VIRTUAL_ROWS_H_
