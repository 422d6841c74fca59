// ViewModel: what a materialized view must answer, computed again from what its table's model has.
#ifndef LISTSTORE_TESTS_CONFORMANCE_VIEW_MODEL_H_
#define LISTSTORE_TESTS_CONFORMANCE_VIEW_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/model/types/data_type.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

// Where the view has a value from.
struct ViewSource {
  enum class Kind : uint8_t {
    kPartition,
    kClustering,
    kCell
  };
  Kind kind = Kind::kCell;
  size_t index = 0;  // of that kind; of cells in the numbering of ModelSchema
};

struct ModelView {
  ModelSchema schema;  // `table` with its keyspace; no statics, no index, no TTL
  std::vector<ViewSource> partition_key;
  std::vector<ViewSource> clustering;
  std::vector<size_t> regular;     // of the table, as cells
  std::optional<size_t> key_cell;  // the regular column that is part of the view's key
  bool all_columns = false;        // SELECT *: those to come as well
  // Rows whose value there, a column of the view's key, is greater than this; nullopt: all.
  struct Filter {
    ViewSource source;
    std::string column;
    DataType type;
    std::string bytes;
    std::string literal;
  };
  std::optional<Filter> filter;
  std::string create;  // CREATE MATERIALIZED VIEW
};

// One that the table can have. `plain`: also where its key has to be selected, and no other columns
// than those of the table's key may be compared with constants, these not with composite ones. Such
// a view has all regular columns.
ModelView RandomView(Random& random, const ModelSchema& table, std::string name, bool plain);

// For reads alone.
class ViewModel final : public TableModel {
 public:
  // `base` and `counts` outlive it. `caps_ttls`: TTL() of a cell tells when the one that is part of
  // the key ends, if that is sooner.
  ViewModel(ModelView view, const TableModel& base, ListCounts& counts, bool caps_ttls);

  void AlterType(const DataType& updated) override;
  std::vector<LiveRow> Live(int64_t now_seconds) const override;

  const TableModel& base() const { return base_; }
  bool has_all_columns() const { return view_.all_columns; }
  // The table may not lose this column: the view has it, or its rows live as long as any cell of
  // the table's do.
  bool Needs(const std::string& column, bool is_static) const;
  bool HasInKey(const std::string& column) const;
  // The table has other columns than it had, or these other types.
  void FollowColumns(const ModelSchema& before);
  // A column of the table's key, which all views have, is called otherwise.
  void FollowRename(const std::string& from, const std::string& to);

 private:
  std::optional<std::string> ValueOf(const LiveRow& row, const ViewSource& source) const;
  std::optional<LiveRow> RowOf(const LiveRow& of_base) const;

  ModelView view_;
  const TableModel& base_;
  const bool caps_ttls_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_VIEW_MODEL_H_
