#include "engine/cql/values/partition_key_text.h"

#include <vector>

#include "engine/base/check.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/partition_key.h"

namespace liststore::cql {

std::string PartitionKeyText(const TableDefinition& table, std::string_view key) {
  const std::vector<const ColumnDefinition*> columns = table.ColumnsOf(ColumnKind::kPartitionKey);
  const auto components = SplitPartitionKey(key, columns.size());
  LS_CHECK(components.has_value(), "the key is one of the table's");
  std::string text;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) text += ':';
    const DataType& type = columns[i]->type;
    if (type.is(CqlType::kText) || type.is(CqlType::kAscii)) {
      text += (*components)[i];
      continue;
    }
    const std::string literal = PrintValue(type, (*components)[i]);
    const bool quoted = literal.size() >= 2 && literal.front() == '\'';
    text += quoted ? literal.substr(1, literal.size() - 2) : literal;
  }
  return text;
}

}  // namespace liststore::cql
