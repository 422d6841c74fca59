// TableSchema: what drives storage. Plain data, immutable once a table is made.
#ifndef LISTSTORE_ENGINE_MODEL_TABLE_SCHEMA_H_
#define LISTSTORE_ENGINE_MODEL_TABLE_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/types/cql_type.h"
#include "engine/model/types/data_type.h"

namespace liststore {

// A table in its engine. The number is dense from 0 and is used again once a dropped table has left
// it, with the next generation: an id of the past never means another table.
struct TableId {
  uint16_t value = 0;
  uint32_t generation = 0;
  bool operator==(const TableId&) const = default;
};

// Position of a column in TableSchema::regular, or of one of the static row in ::statics.
using ColumnId = uint16_t;

struct ColumnSchema {
  std::string name;
  CqlType type = CqlType::kBlob;
  bool operator==(const ColumnSchema&) const = default;
};

struct ClusteringColumnSchema {
  std::string name;
  // Whole, because rows are ordered by it. Of other columns storage sees bytes (kBlob) where the
  // type is no native one.
  DataType type = CqlType::kBlob;
  bool descending = false;
  bool operator==(const ClusteringColumnSchema&) const = default;
};

// A local index: by value of one regular column, within a partition.
struct IndexSchema {
  std::string name;
  ColumnId column = 0;
  bool operator==(const IndexSchema&) const = default;
};

struct TableSchema {
  TableId id;
  std::string keyspace;
  std::string name;
  std::vector<ColumnSchema> partition_key;         // at least one
  std::vector<ClusteringColumnSchema> clustering;  // may be empty: one row a partition
  std::vector<ColumnSchema> regular;               // sorted by name; position = ColumnId
  std::vector<ColumnSchema> statics;               // one value a partition; sorted by name
  std::vector<IndexSchema> indexes;
  int64_t default_ttl_seconds = 0;     // 0: rows last
  int64_t gc_grace_seconds = 864'000;  // ScyllaDB's default, 10 days

  bool operator==(const TableSchema&) const = default;

  // Encoded keys sort ascending by bytes; columns whose direction differs from the first one's are
  // stored inverted, so that a table whose first column descends is read backwards.
  bool reads_backwards() const { return !clustering.empty() && clustering[0].descending; }
  // One text column: keys of the item_key shape take 24 bytes instead of 46.
  bool packs_item_keys() const {
    return clustering.size() == 1 &&
           (clustering[0].type.is(CqlType::kText) || clustering[0].type.is(CqlType::kAscii));
  }
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TABLE_SCHEMA_H_
