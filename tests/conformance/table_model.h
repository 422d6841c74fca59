// TableModel: what a CQL table must answer, by the rules of the language alone: sorted maps, lists
// of deletions, plain loops. It shares the order of values (CompareValues) and the token with
// the engine, nothing else: no encoded keys, no ranges of bytes, no reclamation.
//
// Nothing is ever forgotten: a run is shorter than gc_grace_seconds.
#ifndef LISTSTORE_TESTS_CONFORMANCE_TABLE_MODEL_H_
#define LISTSTORE_TESTS_CONFORMANCE_TABLE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/data_type.h"

namespace liststore::testing {

using Values = std::vector<std::string>;

struct ModelColumn {
  std::string name;
  DataType type = CqlType::kInt;
  bool descending = false;  // of a clustering column
};

struct ModelSchema {
  std::string table;  // with its keyspace
  std::vector<ModelColumn> partition_key;
  std::vector<ModelColumn> clustering;
  std::vector<ModelColumn> statics;  // by name; all come before the regular ones there
  std::vector<ModelColumn> regular;  // by name
  std::optional<size_t> indexed;     // a regular column with a local index
  int64_t default_ttl_seconds = 0;

  // Columns that are no key have one numbering: the regular ones, then the static ones.
  size_t values() const { return regular.size() + statics.size(); }
  bool is_static(size_t value) const { return value >= regular.size(); }
  const ModelColumn& ValueColumn(size_t value) const {
    return is_static(value) ? statics[value - regular.size()] : regular[value];
  }
  // Of a column that there is.
  const DataType& TypeOf(const std::string& name) const;
  // CREATE TABLE, and CREATE INDEX where there is one.
  std::vector<std::string> CreateStatements() const;
};

// Of a partition key in its serialised form.
std::string SerializedKey(const Values& partition);

// A cell, or a row marker (without a value).
struct ModelCell {
  bool live = true;
  int64_t timestamp = 0;
  int64_t ttl_seconds = 0;     // 0: lasts
  int64_t expiry_seconds = 0;  // of one that does not last
  int64_t deletion_seconds = 0;
  std::string value;

  bool LiveAt(int64_t now_seconds) const {
    return live && (ttl_seconds == 0 || expiry_seconds > now_seconds);
  }
};

// What a SELECT can see of a row.
struct LiveRow {
  Values partition;
  std::string key;  // the partition's, serialised
  int64_t token = 0;
  Values clustering;
  std::vector<std::optional<ModelCell>> cells;  // of columns that are no key
  int64_t newest = 0;  // the largest timestamp of what lives of it, its marker's and statics' too
  // There is none: only static values, with nulls for the rest. `clustering` is empty.
  bool is_static_alone = false;
};

struct RowWrite {
  Values partition;
  Values clustering;
  bool marker = false;         // an INSERT
  bool statics_alone = false;  // no row: `clustering` does not count
  int64_t ttl_seconds = 0;
  // Column and value; no value: null.
  std::vector<std::pair<size_t, std::optional<std::string>>> cells;
};

class TableModel {
 public:
  // Of the clustering values of a row.
  using Predicate = std::function<bool(const Values&)>;

  explicit TableModel(ModelSchema schema) : schema_(std::move(schema)) {}

  const ModelSchema& schema() const { return schema_; }

  void Write(const RowWrite& write, int64_t timestamp, int64_t now_seconds);
  // Deletes the rows for which `covers` is true, those to come as well; `whole`: static values too.
  void Delete(const Values& partition, Predicate covers, bool whole, int64_t timestamp);
  // Partitions by token, rows in clustering order; of a partition that has only static values one
  // that stands for them. O(all rows).
  std::vector<LiveRow> Live(int64_t now_seconds) const;
  // One of them; nullopt: it does not live.
  std::optional<LiveRow> Find(const Values& partition, const Values& clustering,
                              int64_t now_seconds) const;
  // What the first row of a partition sees of its static values, or what stands for them; nullopt:
  // nothing lives there.
  std::optional<LiveRow> FindAny(const Values& partition, int64_t now_seconds) const;
  // Negative, zero, positive: in the order of the table, its directions included.
  int CompareClustering(const Values& a, const Values& b) const;

 private:
  struct Row {
    std::optional<ModelCell> marker;
    std::vector<std::optional<ModelCell>> cells;
    std::optional<int64_t> deleted_at;  // the greatest timestamp of what covers it
  };
  struct Deletion {
    Predicate covers;
    int64_t timestamp = 0;
  };
  struct Partition {
    std::map<Values, Row> rows;
    Row statics;
    std::vector<Deletion> deletions;
  };

  ModelSchema schema_;
  std::map<Values, Partition> partitions_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_TABLE_MODEL_H_
