// A row is, of each column, a length of 4 bytes and the value's bytes: -1 is null, -2 not named.
#include "engine/cql/values/json_row.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/syntax/properties.h"
#include "engine/cql/syntax/shown_text.h"
#include "engine/cql/values/decode_json.h"
#include "engine/cql/values/json_value.h"

namespace liststore::cql {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr int32_t kNull = -1;
constexpr int32_t kNotNamed = -2;

void AppendLength(int32_t length, std::string& row) {
  row.resize(row.size() + kLengthBytes);
  StoreBigEndian32(row.data() + row.size() - kLengthBytes, static_cast<uint32_t>(length));
}

// The column that a member of the object means.
std::string ColumnNamed(const std::string& member) {
  const bool is_quoted = member.size() > 1 && member.front() == '"' && member.back() == '"';
  return is_quoted ? member.substr(1, member.size() - 2) : AsciiLower(member);
}

CqlError NullRow() { return CqlError::Invalid("Got null for INSERT JSON values"); }

}  // namespace

DataType ColumnsOfRow(const TableDefinition& table) {
  auto names = std::make_shared<UserTypeNames>();
  std::vector<DataType> types;
  for (const ColumnDefinition& column : table.columns) {
    names->fields.push_back(column.name);
    types.push_back(column.type);
  }
  return DataType::User(std::move(names), std::move(types));
}

CqlOr<std::string> DecodeJsonRow(std::optional<std::string_view> text, const DataType& columns,
                                 size_t values_max) {
  if (!text) return NullRow();
  LS_ASSIGN_OR_RETURN(const JsonValue json, ParseJson(*text, values_max));
  const auto* members = json.As<JsonObject>();
  // Source: ScyllaDB utils/rjson.hh, RAPIDJSON_ASSERT, which goes on with a backtrace.
  if (members == nullptr) {
    return CqlError::Server("JSON assert failed on condition 'IsObject()'");
  }
  std::map<std::string, const JsonValue*> values;
  for (const auto& [name, value] : *members) values.emplace(ColumnNamed(name), &value);
  const std::vector<std::string>& names = columns.user().fields;
  std::string row;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto at = values.find(names[i]);
    if (at == values.end()) {
      AppendLength(kNotNamed, row);
      continue;
    }
    if (at->second->is_null()) {
      AppendLength(kNull, row);
    } else {
      LS_ASSIGN_OR_RETURN(const std::string value,
                          DecodeJson(*at->second, columns.parameters()[i]));
      AppendLength(static_cast<int32_t>(value.size()), row);
      row += value;
    }
    values.erase(at);
  }
  if (values.empty()) return row;
  return CqlError::Invalid("JSON values map contains unrecognized column: " +
                           ShownText(values.begin()->first));
}

JsonCell JsonCellOf(std::string_view row, size_t column) {
  while (true) {
    LS_CHECK(row.size() >= kLengthBytes, "a row has all columns of its table");
    const auto length = static_cast<int32_t>(LoadBigEndian32(row.data()));
    row.remove_prefix(kLengthBytes);
    const std::string_view value = row.substr(0, static_cast<size_t>(std::max(length, 0)));
    if (column-- == 0) {
      if (length < 0) return {length == kNull, std::nullopt};
      return {true, value};
    }
    row.remove_prefix(value.size());
  }
}

}  // namespace liststore::cql
