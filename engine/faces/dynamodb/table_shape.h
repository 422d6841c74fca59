// TableShape: a table of DynamoDB's face, as it is in the schema: which columns its attributes are, which
// views its indexes are, and what of it CQL has no place for, which the table's comment keeps.
#ifndef LISTSTORE_ENGINE_FACES_DYNAMODB_TABLE_SHAPE_H_
#define LISTSTORE_ENGINE_FACES_DYNAMODB_TABLE_SHAPE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/dynamodb/expressions/key_condition.h"
#include "engine/dynamodb/values/attribute_value.h"
#include "engine/faces/dynamodb/statement_runner.h"
#include "engine/model/schema.h"

namespace liststore::dynamodb_face {

using dynamodb::KeyAttribute;
using dynamodb::KeySchema;

// All attributes of an item but those of the table's key, as bytes of dynamodb/values/item_bytes.h. No attribute
// of a key may be called so.
inline constexpr std::string_view kItemColumn = ":item";

struct Throughput {
  int64_t reads = 0;
  int64_t writes = 0;
};

// A secondary index: a view. Its rows have whole items, whatever it projects.
struct IndexShape {
  enum class Projects : uint8_t {
    kAll,
    kKeysOnly,
    kInclude
  };

  std::string name;
  bool is_global = false;
  KeySchema keys;
  Projects projects = Projects::kAll;
  std::vector<std::string> included;  // beside the keys, of kInclude
  Throughput throughput;              // of a global one
};

// What the comment keeps. Texts in, texts out: nothing is looked up.
struct TableNotes {
  int64_t created_millis = 0;
  bool pays_per_request = false;
  Throughput throughput;
  std::string table_class;  // empty: not said
  bool is_protected = false;
  std::string ttl_attribute;        // empty: nothing ends by one
  std::vector<IndexShape> indexes;  // types of their keys are those of columns
  std::map<std::string, std::string> tags;

  std::string ToComment() const;
  // nullopt: no comment of a table of this face.
  static std::optional<TableNotes> FromComment(std::string_view comment);
};

// Immutable; shared between threads.
struct TableShape {
  std::string name;
  std::shared_ptr<const TableDefinition> table;
  KeySchema keys;
  TableNotes notes;
  // Of each regular column of the table which attribute it is, by ColumnId; empty: none, or the item. An index of
  // it is there, or was.
  std::vector<KeyAttribute> indexed;
  ColumnId item_column = 0;

  PreparedText get, put, put_with_ttl, update, remove, keys_of_all;

  // nullptr: no such index.
  const IndexShape* FindIndex(std::string_view index) const;
  // The attributes of the key, then those of the index's that are none of these.
  std::vector<KeyAttribute> KeyAttributesOf(const IndexShape* index) const;
  // In the order of rows within a partition of the table, or of the index.
  std::vector<KeyAttribute> ClusteringOf(const IndexShape* index) const;
};

// The shape of a definition; nullptr: the table is none of this face's.
std::shared_ptr<const TableShape> ShapeOf(const std::shared_ptr<const TableDefinition>& table);

// Shapes as of now, made once for a definition; that of a table that is gone goes when it is asked for. Thread-safe.
class TableShapes {
 public:
  // nullptr: no table of this face is called so.
  std::shared_ptr<const TableShape> Find(const Schema& schema, std::string_view name);

 private:
  static constexpr size_t kShapesMax = 1024;

  Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const TableShape>> shapes_
      ABSL_GUARDED_BY(mutex_);
};

// `dynamodb."lists"`, `dynamodb."lists:by_value"`
std::string QualifiedName(std::string_view table, const IndexShape* index = nullptr);
// "text", "decimal", "blob"
std::string_view ColumnTypeOf(dynamodb::AttributeType type);
// nullopt: of another type than those.
std::optional<dynamodb::AttributeType> TypeOfColumn(const ColumnDefinition& column);
std::string ArnOf(std::string_view table);
// The name in an ARN of a table, or the text itself.
std::string_view TableOfArn(std::string_view text);

}  // namespace liststore::dynamodb_face

#endif  // LISTSTORE_ENGINE_FACES_DYNAMODB_TABLE_SHAPE_H_
