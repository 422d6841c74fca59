#include "engine/cql/values/native_function.h"

#include <optional>

namespace liststore::cql {
namespace {

using FunctionKind = NativeFunction::Kind;

struct Entry {
  std::string_view name;
  FunctionKind kind;
  std::optional<CqlType> argument;
  CqlType result;
};

constexpr Entry kEntries[] = {
    {"now", FunctionKind::kNow, {}, CqlType::kTimeuuid},
    {"currenttimeuuid", FunctionKind::kNow, {}, CqlType::kTimeuuid},
    {"uuid", FunctionKind::kUuid, {}, CqlType::kUuid},
    {"currenttimestamp", FunctionKind::kCurrentTimestamp, {}, CqlType::kTimestamp},
    {"currentdate", FunctionKind::kCurrentDate, {}, CqlType::kDate},
    {"currenttime", FunctionKind::kCurrentTime, {}, CqlType::kTime},
    {"mintimeuuid", FunctionKind::kMinTimeuuid, CqlType::kTimestamp, CqlType::kTimeuuid},
    {"maxtimeuuid", FunctionKind::kMaxTimeuuid, CqlType::kTimestamp, CqlType::kTimeuuid},
    {"dateof", FunctionKind::kToTimestamp, CqlType::kTimeuuid, CqlType::kTimestamp},
    {"unixtimestampof", FunctionKind::kToUnixTimestamp, CqlType::kTimeuuid, CqlType::kBigint},
    {"todate", FunctionKind::kToDate, CqlType::kTimestamp, CqlType::kDate},
    {"todate", FunctionKind::kToDate, CqlType::kTimeuuid, CqlType::kDate},
    {"totimestamp", FunctionKind::kToTimestamp, CqlType::kDate, CqlType::kTimestamp},
    {"totimestamp", FunctionKind::kToTimestamp, CqlType::kTimeuuid, CqlType::kTimestamp},
    {"tounixtimestamp", FunctionKind::kToUnixTimestamp, CqlType::kDate, CqlType::kBigint},
    {"tounixtimestamp", FunctionKind::kToUnixTimestamp, CqlType::kTimestamp, CqlType::kBigint},
    {"tounixtimestamp", FunctionKind::kToUnixTimestamp, CqlType::kTimeuuid, CqlType::kBigint},
};

// What sum() and avg() add.
constexpr CqlType kSummable[] = {CqlType::kDecimal,  CqlType::kVarint, CqlType::kDouble,
                                 CqlType::kFloat,    CqlType::kBigint, CqlType::kInt,
                                 CqlType::kSmallint, CqlType::kTinyint};

bool IsNative(const FunctionName& name) {
  return name.keyspace.empty() || name.keyspace == "system";
}

// intasblob and blobasint, of every type that a column can have.
std::optional<NativeFunction> FindBlobConversion(const std::string& name) {
  constexpr std::string_view kTo = "asblob";
  constexpr std::string_view kFrom = "blobas";
  const bool to_blob = name.ends_with(kTo);
  if (!to_blob && !name.starts_with(kFrom)) return std::nullopt;
  const std::optional<CqlType> type =
      to_blob ? ParseCqlType(std::string_view(name).substr(0, name.size() - kTo.size()))
              : ParseCqlType(std::string_view(name).substr(kFrom.size()));
  if (!type || *type == CqlType::kBlob) return std::nullopt;
  NativeFunction function;
  function.kind = to_blob ? FunctionKind::kToBlob : FunctionKind::kFromBlob;
  function.name = name;
  function.arguments.emplace_back(to_blob ? *type : CqlType::kBlob);
  function.result = to_blob ? CqlType::kBlob : *type;
  return function;
}

NativeFunction TokenFunction(const TableDefinition& table) {
  NativeFunction function;
  function.kind = FunctionKind::kToken;
  function.name = "token";
  for (const ColumnDefinition* column : table.ColumnsOf(ColumnKind::kPartitionKey)) {
    function.arguments.push_back(column->type);
  }
  function.result = CqlType::kBigint;
  return function;
}

}  // namespace

std::string FullName(const NativeFunction& function) { return "system." + function.name; }

std::string SignatureText(const NativeFunction& function) {
  std::string text = FullName(function) + " : (";
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    if (i != 0) text += ", ";
    text += function.arguments[i].ToString();
  }
  return text + ") -> " + function.result.ToString();
}

std::string ArgumentName(const NativeFunction& function, size_t index) {
  return "arg" + std::to_string(index) + "(" + FullName(function) + ")";
}

std::vector<NativeFunction> FindNativeFunctions(const FunctionName& name,
                                                const TableDefinition* table) {
  std::vector<NativeFunction> found;
  if (!IsNative(name)) return found;
  if (name.name == "token" && table != nullptr) return {TokenFunction(*table)};
  for (const Entry& entry : kEntries) {
    if (entry.name != name.name) continue;
    NativeFunction& function = found.emplace_back();
    function.kind = entry.kind;
    function.name = entry.name;
    if (entry.argument) function.arguments.emplace_back(*entry.argument);
    function.result = entry.result;
  }
  if (!found.empty()) return found;
  if (name.name == "sum" || name.name == "avg") {
    for (const CqlType type : kSummable) {
      found.push_back(
          {name.name == "sum" ? FunctionKind::kSum : FunctionKind::kAvg, name.name, {type}, type});
    }
    return found;
  }
  if (std::optional<NativeFunction> conversion = FindBlobConversion(name.name)) {
    found.push_back(*std::move(conversion));
  }
  return found;
}

bool IsToJson(const FunctionName& name) { return IsNative(name) && name.name == "tojson"; }
bool IsFromJson(const FunctionName& name) { return IsNative(name) && name.name == "fromjson"; }

NativeFunction ToJsonOf(const DataType& argument) {
  return {FunctionKind::kToJson, "tojson", {argument}, CqlType::kText};
}
NativeFunction FromJsonTo(const DataType& result, std::string_view keyspace) {
  return {FunctionKind::kFromJson, "fromjson", {CqlType::kText}, result, std::string(keyspace)};
}

std::optional<NativeFunction> AggregateOf(const FunctionName& name, const DataType& argument) {
  if (!IsNative(name)) return std::nullopt;
  if (name.name == "count") {
    return NativeFunction{FunctionKind::kCount, name.name, {argument}, CqlType::kBigint};
  }
  if (name.name == "min")
    return NativeFunction{FunctionKind::kMin, name.name, {argument}, argument};
  if (name.name == "max")
    return NativeFunction{FunctionKind::kMax, name.name, {argument}, argument};
  return std::nullopt;
}

}  // namespace liststore::cql
