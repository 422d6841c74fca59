// GetItem, BatchGetItem and TransactGetItems.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/dynamodb/values/item_bytes.h"
#include "engine/dynamodb/values/item_json.h"
#include "engine/faces/dynamodb/operation.h"

namespace liststore::dynamodb_face {
namespace {

constexpr size_t kBatchKeysMax = 100;
constexpr size_t kBatchBytesMax = size_t{16} << 20;
// Of a batch, while others wait.
constexpr size_t kLoopAnswerBytes = size_t{256} << 10;

std::vector<std::string_view> ViewsOf(const std::vector<std::string>& values) {
  return {values.begin(), values.end()};
}

// Of the answer as JSON, where that is much more than the items: NULL is one byte of an item.
uint64_t JsonBytesMax(const OperationCall& call) {
  return std::min<uint64_t>(2 * kBatchBytesMax, call.server.answer_bytes_max);
}

// The item that a statement has read, as far as the projection goes; nullopt: there is none. `bytes`: of the
// item.
std::optional<std::string> ReadItemJson(const TableShape& shape,
                                        const std::vector<std::string>& key_values,
                                        const dynamodb::Projection& projection,
                                        const BoundStatement& statement, size_t& bytes) {
  AnsweredRows rows(statement.frame);
  if (rows.rows_left() == 0) return std::nullopt;
  std::vector<std::optional<std::string_view>> values;
  rows.Next(values);
  const std::string_view column = values[0].value_or(std::string_view());
  const std::vector<KeyAttribute> key = shape.KeyAttributesOf(nullptr);
  const std::vector<std::string_view> key_views = ViewsOf(key_values);
  bytes = column.size();
  for (const std::string_view value : key_views) bytes += value.size();
  std::string json;
  if (projection.is_everything()) {
    AppendItemJsonOf(key, key_views, column, json);
  } else {
    dynamodb::AppendItemJson(dynamodb::Project(projection, ItemOf(key, key_views, column)), json);
  }
  return json;
}

BoundStatement GetOf(const TableShape& shape, const std::vector<std::string>& key_values) {
  BoundStatement statement;
  statement.text = &shape.get;
  for (const std::string& value : key_values) statement.values.emplace_back(value);
  return statement;
}

// What BatchGetItem asks of one table.
struct AskedTable {
  std::shared_ptr<const TableShape> shape;
  Json request;
  dynamodb::Projection projection;
  bool is_consistent = false;
  std::string items;     // of the answer, without brackets
  std::string left_out;  // keys, the same
};
struct AskedItem {
  size_t table = 0;
  Item key;
  std::vector<std::string> key_values;
};

ErrorOr<std::vector<AskedTable>> AskedTablesOf(OperationCall& call, std::vector<AskedItem>& items) {
  const Json requests = call.request.Find("RequestItems");
  if (!requests.is_object() || requests.size() == 0) {
    return dynamodb::Invalid(
        "The requestItems parameter is required for BatchGetItem and has to name a table");
  }
  std::vector<AskedTable> tables;
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  for (const JsonMember member : requests) {
    LS_ASSIGN_OR_RETURN(std::shared_ptr<const TableShape> shape,
                        TableOf(call, TableOfArn(member.name)));
    // By its name and by its ARN, or twice in JSON: the answer has one member of each name.
    const auto is_same = [&](const AskedTable& asked) { return asked.shape->name == shape->name; };
    if (std::ranges::any_of(tables, is_same)) return TableNamedTwice(shape->name);
    AskedTable& table = tables.emplace_back();
    table.shape = std::move(shape);
    table.request = member.value;
    LS_ASSIGN_OR_RETURN(
        dynamodb::Placeholders placeholders,
        PlaceholdersOf(member.value, {"ProjectionExpression"}, /*with_values=*/false));
    LS_ASSIGN_OR_RETURN(table.projection, ProjectionOf(member.value, placeholders));
    LS_RETURN_IF_ERROR(placeholders.CheckAllUsed());
    LS_ASSIGN_OR_RETURN(const std::optional<bool> consistent,
                        BoolOf(member.value, "ConsistentRead"));
    table.is_consistent = consistent.value_or(false);
    const Json keys = member.value.Find("Keys");
    if (!keys.is_array() || keys.size() == 0) {
      return dynamodb::Invalid(
          Cat("1 validation error detected: Value '[]' at 'requestItems.", member.name,
              ".member.keys' failed to satisfy constraint: Member must have length greater than "
              "or equal to 1"));
    }
    for (const JsonMember key : keys) {
      AskedItem& item = items.emplace_back();
      item.table = tables.size() - 1;
      LS_ASSIGN_OR_RETURN(item.key, dynamodb::ItemFromJson(key.value));
      LS_ASSIGN_OR_RETURN(item.key_values, KeyValuesOf(*table.shape, item.key, /*is_item=*/false));
      if (!seen.emplace(table.shape->name, item.key_values).second) {
        return dynamodb::Invalid("Provided list of item keys contains duplicates");
      }
      if (items.size() > kBatchKeysMax) {
        return dynamodb::Invalid("Too many items requested for the BatchGetItem call");
      }
    }
  }
  return tables;
}

void AppendJoined(std::string& to, std::string_view json) {
  if (!to.empty()) to += ',';
  to += json;
}

// A request for the keys of a table that were left out.
void AppendUnprocessed(const AskedTable& table, std::string& out) {
  AppendTo(out, "{\"Keys\":[", table.left_out, "]");
  if (table.is_consistent) out += ",\"ConsistentRead\":true";
  const Json expression = table.request.Find("ProjectionExpression");
  if (expression.is_string()) {
    out += ",\"ProjectionExpression\":";
    dynamodb::AppendJsonString(expression.text(), out);
  }
  const Json names = table.request.Find("ExpressionAttributeNames");
  if (names.is_object()) {
    ObjectWriter writer;
    for (const JsonMember member : names) {
      dynamodb::AppendJsonString(member.value.text(), writer.Member(member.name));
    }
    AppendTo(out, ",\"ExpressionAttributeNames\":", writer.Take());
  }
  const Json attributes = table.request.Find("AttributesToGet");
  if (attributes.is_array()) {
    out += ",\"AttributesToGet\":[";
    const char* comma = "";
    for (const JsonMember member : attributes) {
      out += std::exchange(comma, ",");
      dynamodb::AppendJsonString(member.value.text(), out);
    }
    out += ']';
  }
  out += '}';
}

}  // namespace

ErrorOr<std::string> GetItem(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<const TableShape> shape, TableOf(call));
  LS_ASSIGN_OR_RETURN(const Item key, ItemOfMember(call.request, "Key"));
  LS_ASSIGN_OR_RETURN(
      dynamodb::Placeholders placeholders,
      PlaceholdersOf(call.request, {"ProjectionExpression"}, /*with_values=*/false));
  LS_ASSIGN_OR_RETURN(const dynamodb::Projection projection,
                      ProjectionOf(call.request, placeholders));
  LS_RETURN_IF_ERROR(placeholders.CheckAllUsed());
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> key_values,
                      KeyValuesOf(*shape, key, /*is_item=*/false));
  LS_ASSIGN_OR_RETURN(Capacity capacity, Capacity::Of(call.request));
  LS_ASSIGN_OR_RETURN(const std::optional<bool> consistent, BoolOf(call.request, "ConsistentRead"));
  BoundStatement statement = GetOf(*shape, key_values);
  if (!call.run.Run({&statement, 1})) return Stopped();
  if (statement.error) return *std::move(statement.error);
  ObjectWriter answer;
  size_t bytes = 0;
  const auto json = ReadItemJson(*shape, key_values, projection, statement, bytes);
  if (json) answer.Member("Item") += *json;
  capacity.Add(shape->name, HalfUnitsOfRead(bytes, consistent.value_or(false)));
  capacity.AppendOne(answer);
  return answer.Take();
}

ErrorOr<std::string> BatchGetItem(OperationCall& call) {
  std::vector<AskedItem> items;
  LS_ASSIGN_OR_RETURN(std::vector<AskedTable> tables, AskedTablesOf(call, items));
  LS_ASSIGN_OR_RETURN(Capacity capacity, Capacity::Of(call.request));
  const size_t bytes_max = std::min<uint64_t>(kBatchBytesMax, call.server.answer_bytes_max);
  const uint64_t json_bytes_max = JsonBytesMax(call);
  size_t bytes = 0;
  size_t json_bytes = 0;
  // Of a loop: what it has read already.
  std::vector<BoundStatement> answered;
  // What is held at once: the rows of so many.
  constexpr size_t kKeysAtOnce = 16;
  for (size_t first = 0; first < items.size(); first += kKeysAtOnce) {
    const size_t count = std::min(kKeysAtOnce, items.size() - first);
    // What a handler has said of a statement is of the first one that is run from there on.
    const auto stop = [&] {
      if (call.run.stop() == StatementRunner::Stop::kDeferred)
        call.run.HandOver(std::move(answered));
      return Stopped();
    };
    if (call.run.defers() && std::max(bytes, json_bytes) > kLoopAnswerBytes) {
      call.run.Defer();
      return stop();
    }
    std::vector<BoundStatement> statements;
    for (size_t i = first; i < first + count; ++i) {
      statements.push_back(GetOf(*tables[items[i].table].shape, items[i].key_values));
    }
    const bool has_room = bytes < bytes_max && json_bytes < json_bytes_max;
    if (has_room && !call.run.Run(statements)) return stop();
    for (size_t i = 0; i < count; ++i) {
      if (call.run.defers() && json_bytes > kLoopAnswerBytes) {
        call.run.Defer();
        return stop();
      }
      const AskedItem& item = items[first + i];
      AskedTable& table = tables[item.table];
      if (statements[i].error) return *std::move(statements[i].error);
      // Not read, or too much with what was.
      bool is_left_out = statements[i].frame.empty();
      if (!is_left_out) {
        size_t item_bytes = 0;
        const auto json = ReadItemJson(*table.shape, item.key_values, table.projection,
                                       statements[i], item_bytes);
        const size_t json_size = json ? json->size() : 0;
        is_left_out = bytes > 0 &&
                      (bytes + item_bytes > bytes_max || json_bytes + json_size > json_bytes_max);
        if (!is_left_out) {
          bytes += item_bytes;
          json_bytes += json_size;
          capacity.Add(table.shape->name, HalfUnitsOfRead(item_bytes, table.is_consistent));
          if (json) AppendJoined(table.items, *json);
        }
      }
      if (is_left_out) AppendJoined(table.left_out, dynamodb::ToJson(item.key));
    }
    if (call.run.defers() && !statements[0].frame.empty())
      std::ranges::move(statements, std::back_inserter(answered));
  }
  ObjectWriter answer;
  ObjectWriter responses;
  ObjectWriter unprocessed;
  for (const AskedTable& table : tables) {
    AppendTo(responses.Member(table.shape->name), "[", table.items, "]");
    if (!table.left_out.empty()) {
      AppendUnprocessed(table, unprocessed.Member(table.shape->name));
    }
  }
  answer.Member("Responses") += responses.Take();
  answer.Member("UnprocessedKeys") += unprocessed.Take();
  capacity.AppendAll(answer);
  return answer.Take();
}

ErrorOr<std::string> TransactGetItems(OperationCall& call) {
  const Json requests = call.request.Find("TransactItems");
  if (!requests.is_array() || requests.size() == 0 || requests.size() > kBatchKeysMax) {
    return dynamodb::Invalid(
        Cat("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            "Member must have length ",
            requests.size() == 0 ? "greater than or equal to 1" : "less than or equal to 100"));
  }
  LS_ASSIGN_OR_RETURN(Capacity capacity, Capacity::Of(call.request));
  if (call.run.defers() && requests.size() > kLoopTransactionItems) {
    call.run.Defer();
    return Stopped();
  }
  std::vector<ItemChange> looks;
  std::vector<dynamodb::Projection> projections;
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  for (const JsonMember member : requests) {
    const Json get = member.value.Find("Get");
    if (!get.is_object()) {
      return dynamodb::Invalid("TransactItems can only contain one of Get");
    }
    ItemChange& look = looks.emplace_back();
    look.kind = ItemChange::Kind::kCheck;
    LS_ASSIGN_OR_RETURN(const std::string name, TableNameOf(get.Find("TableName")));
    LS_ASSIGN_OR_RETURN(look.shape, TableOf(call, name));
    LS_ASSIGN_OR_RETURN(look.key, ItemOfMember(get, "Key"));
    LS_ASSIGN_OR_RETURN(look.key_values, KeyValuesOf(*look.shape, look.key, /*is_item=*/false));
    LS_ASSIGN_OR_RETURN(dynamodb::Placeholders placeholders,
                        PlaceholdersOf(get, {"ProjectionExpression"}, /*with_values=*/false));
    LS_ASSIGN_OR_RETURN(dynamodb::Projection projection, ProjectionOf(get, placeholders));
    LS_RETURN_IF_ERROR(placeholders.CheckAllUsed());
    projections.push_back(std::move(projection));
    if (!seen.emplace(look.shape->name, look.key_values).second) {
      return dynamodb::Invalid(
          "Transaction request cannot include multiple operations on one item");
    }
  }
  ItemChanges changes(std::move(looks));
  BoundStatement statement = BoundStatementOf(changes.changes()[0]);
  if (!call.run.Run(statement, changes)) return Stopped();
  if (statement.error) return *std::move(statement.error);
  if (changes.error()) return *changes.error();
  ObjectWriter answer;
  // Nothing is left out, so that all that Amazon takes has to be answered, as long as it is much like its JSON.
  const uint64_t json_bytes_max = std::max<uint64_t>(JsonBytesMax(call), 2 * kTransactionBytesMax);
  std::string& responses = answer.Member("Responses");
  responses += '[';
  for (size_t i = 0; i < projections.size(); ++i) {
    const ItemChange& look = changes.changes()[i];
    if (i > 0) responses += ',';
    const std::vector<KeyAttribute> key = look.shape->KeyAttributesOf(nullptr);
    const std::vector<std::string_view> key_views = ViewsOf(look.key_values);
    if (capacity.is_asked()) {
      const size_t bytes = look.existed
                               ? dynamodb::ItemSize(look.key) +
                                     dynamodb::ItemSizeOfBytes(look.before_bytes).value_or(0)
                               : 0;
      capacity.Add(look.shape->name, 2 * HalfUnitsOfRead(bytes, true));
    }
    if (!look.existed) {
      responses += "{}";
      continue;
    }
    responses += "{\"Item\":";
    if (projections[i].is_everything()) {
      AppendItemJsonOf(key, key_views, look.before_bytes, responses);
    } else {
      dynamodb::AppendItemJson(
          dynamodb::Project(projections[i], ItemOf(key, key_views, look.before_bytes)), responses);
    }
    responses += '}';
    if (responses.size() > json_bytes_max) return TransactionTooLarge();
  }
  responses += ']';
  capacity.AppendAll(answer);
  return answer.Take();
}

}  // namespace liststore::dynamodb_face
