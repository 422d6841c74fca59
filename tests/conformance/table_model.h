// TableModel: what a CQL table must answer, by the rules of the language alone: sorted maps, lists
// of deletions, plain loops. It shares the order of values (CompareValues) and the token with
// the engine, nothing else: no encoded keys, no ranges of bytes, no reclamation.
//
// Nothing is ever forgotten: a run is shorter than gc_grace_seconds.
#ifndef LISTSTORE_TESTS_CONFORMANCE_TABLE_MODEL_H_
#define LISTSTORE_TESTS_CONFORMANCE_TABLE_MODEL_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/types/data_type.h"

namespace liststore::testing {

using Values = std::vector<std::string>;

struct ModelColumn {
  std::string name;
  DataType type = CqlType::kInt;
  bool descending = false;  // of a clustering column, here or in the table of the view
};

struct ModelIndex {
  enum class On : uint8_t {
    kPartitionKey,
    kClustering,
    kValue  // a static or regular column
  };
  On on = On::kValue;
  size_t column = 0;  // among those; values in their one numbering
  bool is_local = false;
  // Of a collection of several cells, in place of its values: keys of a map, or keys with values.
  bool of_keys = false;
  bool of_entries = false;
  std::string name = {};  // empty: that which the server gives it
};

struct ModelSchema {
  std::string table;  // with its keyspace
  std::vector<ModelColumn> partition_key;
  std::vector<ModelColumn> clustering;
  std::vector<ModelColumn> statics;  // by name; all come before the regular ones there
  std::vector<ModelColumn> regular;  // by name
  std::optional<ModelIndex> index;
  int64_t default_ttl_seconds = 0;
  bool is_view = false;
  std::map<std::string, DataType> dropped = {};  // columns that were, and are not: by name
  // Of all that ever were, when they were dropped last, and their types as they are told of then.
  struct Drop {
    int64_t micros = 0;
    std::string type;
  };
  std::map<std::string, Drop> drops = {};

  // Columns that are no key have one numbering: the regular ones, then the static ones.
  size_t values() const { return regular.size() + statics.size(); }
  bool is_static(size_t value) const { return value >= regular.size(); }
  const ModelColumn& ValueColumn(size_t value) const {
    return is_static(value) ? statics[value - regular.size()] : regular[value];
  }
  const ModelColumn& IndexedColumn() const;  // of the index that there is
  // Of a column that there is.
  const DataType& TypeOf(const std::string& name) const;
  // CREATE TABLE, and CREATE INDEX where there is one.
  std::vector<std::string> CreateStatements() const;
  std::string CreateIndexStatement() const;  // of the index that there is
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

// Counts the elements that the statement or batch at hand adds to lists, over all tables.
struct ListCounts {
  uint32_t appended = 0;
  uint32_t prepended = 0;
};

// A change of a part of a column of several cells.
struct ModelPart {
  enum class Kind : uint8_t {
    kAdd,      // the elements of `value`, a list's behind the others
    kPrepend,  // those, before the others
    kRemove,   // the elements of `value`, a set: of a map the keys
    kSet,      // the element of a map, or an element of a set, at `key`; no value: it goes
    kRemoveAll,
    kSetField,  // that of a user type at `index`; no value: it goes
    kSetAt,     // the element of a list at `index`; no value: it goes
    kDiscard,   // the elements of a list that are in `value`, a list
  };
  size_t column = 0;
  Kind kind = Kind::kAdd;
  std::string key = {};
  std::optional<std::string> value = {};
  size_t index = 0;
};

// Which element it is: of a list when and as which it was added, of a user type the number of the
// field, else the element or key.
struct ElementKey {
  int64_t micros = 0;
  int64_t number = 0;
  std::string key = {};
  auto operator<=>(const ElementKey&) const = default;
};
using LiveElement = std::pair<ElementKey, ModelCell>;

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
  std::map<size_t, std::vector<LiveElement>> elements = {};  // of columns of several cells
};

struct RowWrite {
  Values partition;
  Values clustering;
  bool marker = false;         // an INSERT
  bool statics_alone = false;  // no row: `clustering` does not count
  int64_t ttl_seconds = 0;
  // Column and value; no value: null.
  std::vector<std::pair<size_t, std::optional<std::string>>> cells;
  std::vector<ModelPart> parts;  // of other columns
  // When elements of lists are written; nullopt: at the write's timestamp.
  std::optional<int64_t> list_micros;
};

class TableModel {
 public:
  // Of the clustering values of a row.
  using Predicate = std::function<bool(const Values&)>;

  // `counts` outlives the model, and starts over with each statement or batch.
  TableModel(ModelSchema schema, ListCounts& counts)
      : schema_(std::move(schema)), counts_(counts) {}

  virtual ~TableModel() = default;

  const ModelSchema& schema() const { return schema_; }

  void Write(const RowWrite& write, int64_t timestamp, int64_t now_seconds);
  // Deletes the rows for which `covers` is true, those to come as well; `whole`: static values too.
  void Delete(const Values& partition, Predicate covers, bool whole, int64_t timestamp);
  // Nothing was ever written or deleted.
  void Truncate() { partitions_.clear(); }

  // ---- ALTER TABLE, CREATE and DROP INDEX (altered_model.cc)

  // A user type has become this one, in all columns.
  virtual void AlterType(const DataType& updated);
  // One that is no key, without values.
  void AddColumn(const ModelColumn& column, bool is_static);
  // One that is no key, with its values. `hidden_until`: in a column of that name that is added
  // later, cells with timestamps up to this are not there.
  void DropColumn(const std::string& name, std::optional<int64_t> hidden_until);
  // A column of the name and of the type that it had would have something again.
  bool Keeps(const std::string& name) const;
  void RenameColumn(const std::string& from, const std::string& to);  // one of the key
  // Of a column that is no key: its values are values of this type.
  void SetColumnType(const std::string& name, const DataType& type);
  void SetIndex(std::optional<ModelIndex> index);
  void SetDefaultTtl(int64_t seconds);

  // Partitions by token, rows in clustering order; of a partition that has only static values one
  // that stands for them. O(all rows).
  virtual std::vector<LiveRow> Live(int64_t now_seconds) const;
  // One of them; nullopt: it does not live.
  std::optional<LiveRow> Find(const Values& partition, const Values& clustering,
                              int64_t now_seconds) const;
  // What the first row of a partition sees of its static values, or what stands for them; nullopt:
  // nothing lives there.
  std::optional<LiveRow> FindAny(const Values& partition, int64_t now_seconds) const;
  // Negative, zero, positive: in the order of the table, its directions included.
  int CompareClustering(const Values& a, const Values& b) const;

 protected:
  // By token, and clustering order.
  void Sort(std::vector<LiveRow>& rows) const;
  ModelSchema& mutable_schema() { return schema_; }

 private:
  // A column of several cells.
  struct Elements {
    std::optional<int64_t> deleted_at;
    std::map<ElementKey, std::optional<ModelCell>> cells;
  };
  struct Row {
    std::optional<ModelCell> marker;
    std::vector<std::optional<ModelCell>> cells;
    std::map<size_t, Elements> elements;  // by column
    std::optional<int64_t> deleted_at;    // the greatest timestamp of what covers it
    // Of columns that were dropped, by their names: they are there again when these are.
    std::map<std::string, std::optional<ModelCell>> kept_cells;
    std::map<std::string, Elements> kept_elements;
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

  struct WriteTime {
    ModelCell cell;  // of what it writes, without a value
    int64_t now_seconds = 0;
    int64_t list_micros = 0;
  };
  static void PutBack(const std::string& name, size_t number, Row& row);
  static ModelCell DeadCell(const WriteTime& time);
  void Assign(size_t column, const std::optional<std::string>& value, const WriteTime& time,
              Row& row);
  void Apply(const ModelPart& part, const WriteTime& time, Row& row);
  void AddElements(const ModelPart& part, const WriteTime& time, Elements& elements);
  static std::vector<LiveElement> LiveElements(const Elements& elements,
                                               std::optional<int64_t> deleted_at,
                                               int64_t now_seconds);
  // When all of a row's cells in this column were deleted, if they were.
  std::optional<int64_t> DeletedAt(const Row& row, size_t column) const;
  // The column's value; nullopt: there is no element.
  static std::optional<ModelCell> Assemble(const DataType& type,
                                           const std::vector<LiveElement>& elements);

  ModelSchema schema_;
  ListCounts& counts_;
  std::map<Values, Partition> partitions_;
  std::map<std::string, int64_t> hidden_until_;  // by the name of a column, there or dropped
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_TABLE_MODEL_H_
