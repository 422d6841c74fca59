#include "engine/faces/http/rows_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "engine/base/check.h"
#include "engine/base/strings.h"
#include "engine/cql/values/encode_json.h"
#include "engine/cql/values/json_value.h"
#include "engine/faces/http/answer_types.h"
#include "engine/faces/http/text.h"
#include "engine/model/types/data_type.h"
#include "engine/protocol/primitives.h"
#include "engine/protocol/response.h"

namespace liststore::http_face {
namespace {

using protocol::BodyReader;

// Source: native_protocol_v4.spec sections 4.2.5 and 4.2.5.2.
constexpr int32_t kRows = 2, kSetKeyspace = 3;
constexpr uint32_t kHasMorePages = 0x02;
struct Column {
  std::string name_json;
  DataType type;
};

std::string TooLarge(size_t bytes_max) {
  return Cat("The answer has more than ", bytes_max,
             " bytes of JSON; ask for a smaller page_size, or fewer columns");
}

// What has no JSON of its type, as an int of no bytes, is shown all the same: empty, or its bytes as
// those of a blob. nullopt: it is too large.
std::optional<std::string> ValueJson(const DataType& type, std::optional<std::string_view> value,
                                     size_t bytes_max) {
  cql::CqlOr<std::string> json = cql::EncodeJson(type, value, bytes_max);
  if (!json.ok() && json.error().message != cql::RowOfResultTooLarge(bytes_max).message) {
    if (value->empty()) return R"("")";
    json = cql::EncodeJson(CqlType::kBlob, value, bytes_max);
  }
  if (!json.ok()) return std::nullopt;
  return *std::move(json);
}

std::optional<std::string> AppendRows(BodyReader& body, size_t bytes_max, std::string& out) {
  const auto flags = static_cast<uint32_t>(body.ReadInt());
  const int32_t count = body.ReadInt();
  std::string paging_state;
  if ((flags & kHasMorePages) != 0) {
    const protocol::Value state = body.ReadBytes();
    if (state.has_bytes()) paging_state = absl::BytesToHexString(ToAbsl(state.bytes()));
  }
  const bool is_global = (flags & kGlobalTablesSpec) != 0;
  const auto skip_table = [&] {
    body.ReadString();
    body.ReadString();
  };
  if (is_global) skip_table();
  std::vector<Column> columns;
  out += R"("columns":[)";
  for (int32_t i = 0; i < count; ++i) {
    if (!is_global) skip_table();
    std::string name = cql::QuoteJson(body.ReadString());
    DataType type = ReadType(body);
    AppendTo(out, i == 0 ? "" : ",", R"({"name":)", name, R"(,"type":)",
             cql::QuoteJson(type.ToString()), "}");
    columns.push_back({std::move(name), std::move(type)});
  }
  out += R"(],"rows":[)";
  const int32_t rows = body.ReadInt();
  for (int32_t row = 0; row < rows; ++row) {
    out += row == 0 ? "{" : ",{";
    for (size_t i = 0; i < columns.size(); ++i) {
      const protocol::Value value = body.ReadBytes();
      const auto json =
          ValueJson(columns[i].type,
                    value.has_bytes() ? std::optional(value.bytes()) : std::nullopt, bytes_max);
      if (!json) return TooLarge(bytes_max);
      AppendTo(out, i == 0 ? "" : ",", columns[i].name_json, ":", *json);
      if (out.size() > bytes_max) return TooLarge(bytes_max);
    }
    out += "}";
  }
  out += "]";
  if (!paging_state.empty()) AppendTo(out, R"(,"paging_state":")", paging_state, "\"");
  return std::nullopt;
}

}  // namespace

JsonResult ToJson(std::string_view frame, size_t bytes_max) {
  JsonResult result;
  std::string& out = result.text;
  out = "{";
  const auto flags = static_cast<uint8_t>(frame[1]);
  BodyReader body(frame.substr(protocol::kFrameHeaderBytes));
  std::string warnings;
  if ((flags & protocol::kFrameWarnings) != 0) {
    for (uint16_t left = body.ReadShort(); left > 0; --left) {
      AppendTo(warnings, warnings.empty() ? "" : ",", cql::QuoteJson(body.ReadString()));
    }
  }
  switch (body.ReadInt()) {
    case kRows:
      result.refusal = AppendRows(body, bytes_max, out);
      break;
    case kSetKeyspace:
      AppendTo(out, R"("columns":[],"rows":[],"keyspace":)", cql::QuoteJson(body.ReadString()));
      break;
    default:
      out += R"("columns":[],"rows":[])";
  }
  if (!warnings.empty()) AppendTo(out, R"(,"warnings":[)", warnings, "]");
  out += "}\n";
  LS_DCHECK(body.ok(), "a handler's answer is a whole one");
  return result;
}

}  // namespace liststore::http_face
