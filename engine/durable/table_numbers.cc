#include "engine/durable/table_numbers.h"

#include <algorithm>

namespace liststore::durable {

void TableNumbers::Begin(std::span<const NumberedTable> tables) {
  tables_.assign(tables.begin(), tables.end());
}

void TableNumbers::Add(const SchemaChangeRecord& change) {
  if (change.drops && change.type.empty()) {
    std::erase_if(tables_, [&](const NumberedTable& table) {
      return table.keyspace == change.keyspace &&
             (change.table.empty() || table.table == change.table);
    });
  }
  for (const NumberedTable& numbered : change.numbered) {
    // What a table was called by before is no more, and may mean another one later.
    std::erase_if(tables_, [&](const NumberedTable& table) {
      return table.keyspace == numbered.keyspace && table.table == numbered.table;
    });
    tables_.push_back(numbered);
  }
}

shard::RecordedTables TableNumbers::In(const Schema& schema) const {
  shard::RecordedTables tables;
  for (const NumberedTable& numbered : tables_) {
    const auto table = schema.FindTable(numbered.keyspace, numbered.table);
    if (table != nullptr) tables.Set(numbered.id, table->storage.id);
  }
  return tables;
}

}  // namespace liststore::durable
