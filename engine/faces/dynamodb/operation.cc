#include "engine/faces/dynamodb/operation.h"

#include <algorithm>
#include <array>
#include <new>

#include "engine/base/status_macros.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/dynamodb/expressions/legacy.h"
#include "engine/dynamodb/values/item_json.h"

namespace liststore::dynamodb_face {
namespace {

constexpr uint64_t kTokenNanos = uint64_t{600} * 1'000'000'000;

constexpr Operation kOperations[] = {
    {"BatchGetItem", BatchGetItem, true},
    {"BatchWriteItem", BatchWriteItem, true},
    {"CreateTable", CreateTable},
    {"DeleteItem", DeleteItem, true},
    {"DeleteTable", DeleteTable},
    {"DescribeContinuousBackups", DescribeContinuousBackups, true},
    {"DescribeEndpoints", DescribeEndpoints, true},
    {"DescribeLimits", DescribeLimits, true},
    {"DescribeTable", DescribeTable, true},
    {"DescribeTimeToLive", DescribeTimeToLive, true},
    {"GetItem", GetItem, true},
    {"ListTables", ListTables},
    {"ListTagsOfResource", ListTagsOfResource, true},
    {"PutItem", PutItem, true},
    {"Query", Query, true},
    {"Scan", Scan},
    {"TagResource", TagResource},
    {"TransactGetItems", TransactGetItems, true},
    {"TransactWriteItems", TransactWriteItems, true},
    {"UntagResource", UntagResource},
    {"UpdateItem", UpdateItem, true},
    {"UpdateTable", UpdateTable},
    {"UpdateTimeToLive", UpdateTimeToLive},
};

struct RefusedName {
  std::string_view name;
  cql::CqlFeature feature;
};
using cql::CqlFeature;
// Source: DynamoDB's API reference, "Operations".
constexpr RefusedName kRefused[] = {
    {"BatchExecuteStatement", CqlFeature::kPartiql},
    {"CreateBackup", CqlFeature::kDynamodbBackups},
    {"CreateGlobalTable", CqlFeature::kGlobalTables},
    {"DeleteBackup", CqlFeature::kDynamodbBackups},
    {"DescribeBackup", CqlFeature::kDynamodbBackups},
    {"DescribeExport", CqlFeature::kDynamodbBackups},
    {"DescribeGlobalTable", CqlFeature::kGlobalTables},
    {"DescribeGlobalTableSettings", CqlFeature::kGlobalTables},
    {"DescribeImport", CqlFeature::kDynamodbBackups},
    {"DescribeKinesisStreamingDestination", CqlFeature::kDynamodbStreams},
    {"DescribeStream", CqlFeature::kDynamodbStreams},
    {"DescribeTableReplicaAutoScaling", CqlFeature::kGlobalTables},
    {"DisableKinesisStreamingDestination", CqlFeature::kDynamodbStreams},
    {"EnableKinesisStreamingDestination", CqlFeature::kDynamodbStreams},
    {"ExecuteStatement", CqlFeature::kPartiql},
    {"ExecuteTransaction", CqlFeature::kPartiql},
    {"ExportTableToPointInTime", CqlFeature::kDynamodbBackups},
    {"GetRecords", CqlFeature::kDynamodbStreams},
    {"GetShardIterator", CqlFeature::kDynamodbStreams},
    {"ImportTable", CqlFeature::kDynamodbBackups},
    {"ListBackups", CqlFeature::kDynamodbBackups},
    {"ListExports", CqlFeature::kDynamodbBackups},
    {"ListGlobalTables", CqlFeature::kGlobalTables},
    {"ListImports", CqlFeature::kDynamodbBackups},
    {"ListStreams", CqlFeature::kDynamodbStreams},
    {"RestoreTableFromBackup", CqlFeature::kDynamodbBackups},
    {"RestoreTableToPointInTime", CqlFeature::kDynamodbBackups},
    {"UpdateContinuousBackups", CqlFeature::kDynamodbBackups},
    {"UpdateGlobalTable", CqlFeature::kGlobalTables},
    {"UpdateGlobalTableSettings", CqlFeature::kGlobalTables},
    {"UpdateKinesisStreamingDestination", CqlFeature::kDynamodbStreams},
    {"UpdateTableReplicaAutoScaling", CqlFeature::kGlobalTables},
};

Error WrongKind(std::string_view name, std::string_view kind) {
  return {ErrorCode::kSerialization, Cat("The member ", name, " is not ", kind)};
}

Error BeingUpdated(const std::string& table) {
  return {
      ErrorCode::kResourceInUse,
      Cat("Attempt to change a resource which is still in use: Table is being updated: ", table)};
}

}  // namespace

const Operation* FindOperation(std::string_view name) {
  const auto at = std::ranges::find(kOperations, name, &Operation::name);
  return at == std::end(kOperations) ? nullptr : at;
}

std::optional<cql::CqlFeature> RefusedOperation(std::string_view name) {
  const auto at = std::ranges::find(kRefused, name, &RefusedName::name);
  return at == std::end(kRefused) ? std::nullopt : std::optional(at->feature);
}

// ---- Tokens

TransactionTokens::Seen TransactionTokens::Begin(const std::string& token, uint64_t request,
                                                 uint64_t now_nanos, uint64_t resets) {
  const MutexLock lock(mutex_);
  // One that was begun before the last reset and comes late is of before, too.
  if (resets > resets_) {
    by_token_.clear();
    entries_.clear();
    resets_ = resets;
  }
  while (!entries_.empty() &&
         (entries_.size() >= kTokensMax || entries_.front().nanos + kTokenNanos <= now_nanos)) {
    by_token_.erase(entries_.front().token);
    entries_.pop_front();
  }
  const auto at = by_token_.find(token);
  if (at != by_token_.end()) {
    const Entry& entry = *at->second;
    if (entry.request != request) return Seen::kOther;
    return entry.is_under_way ? Seen::kUnderWay : Seen::kSame;
  }
  entries_.push_back({token, request, now_nanos});
  try {
    by_token_.emplace(token, std::prev(entries_.end()));
  } catch (const std::bad_alloc&) {
    entries_.pop_back();
    throw;
  }
  return Seen::kNew;
}

void TransactionTokens::End(const std::string& token, bool is_done, uint64_t resets) {
  const MutexLock lock(mutex_);
  if (resets != resets_) return;
  const auto at = by_token_.find(token);
  if (at == by_token_.end()) return;
  at->second->is_under_way = false;
  if (is_done) return;
  entries_.erase(at->second);
  by_token_.erase(at);
}

// ---- Tables that are updating

Status UpdatingTables::Begin(const std::string& table) {
  const MutexLock lock(mutex_);
  if (tables_.emplace(table, false).second) return {};
  return BeingUpdated(table);
}

Status UpdatingTables::GoOn(const std::string& table) {
  const MutexLock lock(mutex_);
  const auto at = tables_.find(table);
  if (at == tables_.end() || at->second) return {};
  const auto is_long = [](const auto& entry) { return entry.second; };
  if (std::ranges::count_if(tables_, is_long) >= static_cast<ptrdiff_t>(kLongMax)) {
    return Error{ErrorCode::kLimitExceeded,
                 Cat("Subscriber limit exceeded: the rows of ", kLongMax,
                     " tables are written again already; try again when that is done")};
  }
  at->second = true;
  return {};
}

void UpdatingTables::End(const std::string& table) {
  const MutexLock lock(mutex_);
  tables_.erase(table);
}

Status UpdatingTables::CheckNot(const std::string& table) {
  const MutexLock lock(mutex_);
  if (!tables_.contains(table)) return {};
  return BeingUpdated(table);
}

// ---- Members of requests

Error TableNamedTwice(std::string_view name) {
  return dynamodb::Invalid(Cat("RequestItems names a table more than once: ", name));
}

ErrorOr<std::string> TableNameOf(Json name) {
  if (name.is_absent()) {
    return dynamodb::Invalid(
        "The parameter 'TableName' is required but was not present in the request");
  }
  if (!name.is_string()) return WrongKind("TableName", "a string");
  const std::string_view text = TableOfArn(name.text());
  const bool is_name =
      text.size() >= 3 && text.size() <= 255 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
      });
  if (!is_name) {
    return dynamodb::Invalid(
        "Invalid table/index name.  Table/index names must be between 3 and 255 characters long, "
        "and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'");
  }
  return std::string(text);
}

ErrorOr<std::shared_ptr<const TableShape>> TableOf(OperationCall& call, std::string_view name) {
  std::shared_ptr<const TableShape> shape = call.server.shapes.Find(*call.server.schema(), name);
  if (shape != nullptr) return shape;
  return Error{ErrorCode::kResourceNotFound,
               Cat("Requested resource not found: Table: ", name, " not found")};
}

ErrorOr<std::shared_ptr<const TableShape>> TableOf(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(const std::string name, TableNameOf(call.request.Find("TableName")));
  return TableOf(call, name);
}

ErrorOr<Item> ItemOfMember(Json parent, std::string_view name) {
  const Json json = parent.Find(name);
  if (json.is_absent()) {
    return dynamodb::Invalid(
        Cat("The parameter '", name, "' is required but was not present in the request"));
  }
  if (!json.is_object()) return WrongKind(name, "an object");
  return dynamodb::ItemFromJson(json);
}

ErrorOr<std::optional<std::string>> WordOf(Json parent, std::string_view name,
                                           std::span<const std::string_view> words) {
  const Json json = parent.Find(name);
  if (json.is_absent()) return std::optional<std::string>();
  if (!json.is_string()) return WrongKind(name, "a string");
  if (std::ranges::find(words, json.text()) != words.end()) {
    return std::optional(std::string(json.text()));
  }
  std::string known;
  for (const std::string_view word : words) AppendTo(known, known.empty() ? "" : ", ", word);
  std::string member(name);
  member[0] = static_cast<char>(member[0] | 0x20);
  return dynamodb::Invalid(Cat("1 validation error detected: Value '",
                               http_face::FrontOf(json.text(), 100), "' at '", member,
                               "' failed to satisfy constraint: Member must satisfy enum value "
                               "set: [",
                               known, "]"));
}

ErrorOr<std::optional<bool>> BoolOf(Json parent, std::string_view name) {
  const Json json = parent.Find(name);
  if (json.is_absent()) return std::optional<bool>();
  if (!json.is_bool()) return WrongKind(name, "true or false");
  return std::optional(json.is_true());
}

ErrorOr<std::optional<int64_t>> IntegerOf(Json parent, std::string_view name, int64_t least,
                                          int64_t most) {
  const Json json = parent.Find(name);
  if (json.is_absent()) return std::optional<int64_t>();
  const std::optional<int64_t> number = json.is_number() ? json.ToInt64() : std::nullopt;
  if (!number) return WrongKind(name, "a whole number");
  std::string member(name);
  member[0] = static_cast<char>(member[0] | 0x20);
  if (*number < least) {
    return dynamodb::Invalid(Cat("1 validation error detected: Value '", *number, "' at '", member,
                                 "' failed to satisfy constraint: Member must have value greater "
                                 "than or equal to ",
                                 least));
  }
  if (*number > most) {
    return dynamodb::Invalid(Cat("1 validation error detected: Value '", *number, "' at '", member,
                                 "' failed to satisfy constraint: Member must have value less than "
                                 "or equal to ",
                                 most));
  }
  return number;
}

// ---- Expressions

ErrorOr<dynamodb::Placeholders> PlaceholdersOf(Json request,
                                               std::initializer_list<std::string_view> expressions,
                                               bool with_values) {
  const bool has_expression = std::ranges::any_of(expressions, [&](std::string_view expression) {
    return !request.Find(expression).is_absent();
  });
  bool takes_values = false;
  for (const std::string_view expression : expressions) {
    takes_values |= expression != "ProjectionExpression" && !request.Find(expression).is_absent();
  }
  return dynamodb::Placeholders::FromJson(
      request.Find("ExpressionAttributeNames"),
      with_values ? request.Find("ExpressionAttributeValues") : Json(), has_expression,
      with_values && takes_values);
}

ErrorOr<dynamodb::Condition> ConditionOf(Json request, dynamodb::Placeholders& placeholders) {
  const Json expression = request.Find("ConditionExpression");
  if (expression.is_absent()) {
    return dynamodb::ConditionOfExpected(request.Find("Expected"),
                                         request.Find("ConditionalOperator"));
  }
  if (!expression.is_string()) return WrongKind("ConditionExpression", "a string");
  return dynamodb::ParseCondition(expression.text(), dynamodb::ExpressionKind::kCondition,
                                  placeholders);
}

ErrorOr<dynamodb::Projection> ProjectionOf(Json request, dynamodb::Placeholders& placeholders) {
  LS_RETURN_IF_ERROR(
      dynamodb::CheckNotMixed(request, {"AttributesToGet"}, {"ProjectionExpression"}));
  const Json expression = request.Find("ProjectionExpression");
  if (expression.is_absent()) {
    return dynamodb::ProjectionOfAttributesToGet(request.Find("AttributesToGet"));
  }
  if (!expression.is_string()) return WrongKind("ProjectionExpression", "a string");
  return dynamodb::ParseProjection(expression.text(), placeholders);
}

// ---- Capacity

ErrorOr<Capacity> Capacity::Of(Json request) {
  static constexpr std::array<std::string_view, 3> kWords = {"INDEXES", "TOTAL", "NONE"};
  LS_ASSIGN_OR_RETURN(const std::optional<std::string> word,
                      WordOf(request, "ReturnConsumedCapacity", kWords));
  Capacity capacity;
  if (word == "TOTAL") capacity.asked_ = Asked::kTotal;
  if (word == "INDEXES") capacity.asked_ = Asked::kIndexes;
  return capacity;
}

void Capacity::Add(std::string_view table, uint64_t half_units) {
  if (!is_asked()) return;
  const auto at = std::ranges::find_if(
      tables_, [&](const std::pair<std::string, uint64_t>& of) { return of.first == table; });
  if (at == tables_.end()) {
    tables_.emplace_back(table, half_units);
  } else {
    at->second += half_units;
  }
}

void Capacity::Append(std::string_view table, uint64_t half_units, std::string& out) const {
  const std::string units = Cat(half_units / 2, half_units % 2 == 1 ? ".5" : ".0");
  AppendTo(out, "{\"TableName\":\"", table, "\",\"CapacityUnits\":", units);
  if (asked_ == Asked::kIndexes) AppendTo(out, ",\"Table\":{\"CapacityUnits\":", units, "}");
  out += '}';
}

void Capacity::AppendOne(ObjectWriter& out) const {
  if (!is_asked() || tables_.empty()) return;
  Append(tables_[0].first, tables_[0].second, out.Member("ConsumedCapacity"));
}

void Capacity::AppendAll(ObjectWriter& out) const {
  if (!is_asked()) return;
  std::string& text = out.Member("ConsumedCapacity");
  text += '[';
  for (size_t i = 0; i < tables_.size(); ++i) {
    if (i > 0) text += ',';
    Append(tables_[i].first, tables_[i].second, text);
  }
  text += ']';
}

std::string NotesText(const std::string& table, const TableNotes& notes) {
  return Cat("ALTER TABLE ", QualifiedName(table),
             " WITH comment = ", cql::QuoteString(notes.ToComment()));
}

Status WriteNotes(OperationCall& call, const TableShape& shape, const TableNotes& notes) {
  std::optional<Error> error;
  if (!call.run.RunText(NotesText(shape.name, notes), error)) return Stopped();
  if (error) return *std::move(error);
  return {};
}

}  // namespace liststore::dynamodb_face
