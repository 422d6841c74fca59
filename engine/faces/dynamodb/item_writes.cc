// PutItem, UpdateItem, DeleteItem, BatchWriteItem and TransactWriteItems.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "engine/base/hash.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "engine/dynamodb/expressions/legacy.h"
#include "engine/dynamodb/expressions/update.h"
#include "engine/dynamodb/values/item_json.h"
#include "engine/faces/dynamodb/operation.h"

namespace liststore::dynamodb_face {
namespace {

using dynamodb::ReturnValues;

constexpr size_t kBatchWritesMax = 25;
constexpr size_t kTransactionItemsMax = 100;
// Of the items of why a transaction was cancelled: those behind are left out.
constexpr size_t kReasonsBytesMax = size_t{16} << 20;
// Of a write whose table changes all the while.
constexpr int kFollowingsMax = 8;

Status CheckPut(const TableShape& shape, const Item& item) {
  LS_RETURN_IF_ERROR(CheckIndexed(shape, item));
  if (dynamodb::ItemSize(item) > dynamodb::kItemBytesMax) {
    return dynamodb::Invalid("Item size has exceeded the maximum allowed size");
  }
  return {};
}

// A put or deletion that depends on nothing, as a statement of CQL.
BoundStatement PlainPut(const TableShape& shape, const Item& item,
                        const std::vector<std::string>& key_values, int64_t now_seconds) {
  BoundStatement statement;
  for (const std::string& value : key_values) statement.values.emplace_back(value);
  std::vector<std::optional<std::string>> indexed = IndexedValuesOf(shape, item);
  for (size_t i = 0; i < indexed.size(); ++i) {
    if (!shape.indexed[i].name.empty()) statement.values.push_back(std::move(indexed[i]));
  }
  statement.values.emplace_back(ItemColumnOf(shape, item));
  statement.text = &shape.put;
  if (const std::optional<int64_t> expiry = ExpiryOf(shape, item, now_seconds)) {
    statement.text = &shape.put_with_ttl;
    const auto ttl = static_cast<uint32_t>(*expiry - now_seconds);
    statement.values.emplace_back(
        std::string{static_cast<char>(ttl >> 24), static_cast<char>(ttl >> 16 & 0xff),
                    static_cast<char>(ttl >> 8 & 0xff), static_cast<char>(ttl & 0xff)});
  }
  return statement;
}

BoundStatement PlainDelete(const TableShape& shape, const std::vector<std::string>& key_values) {
  BoundStatement statement;
  statement.text = &shape.remove;
  for (const std::string& value : key_values) statement.values.emplace_back(value);
  return statement;
}

ErrorOr<ReturnValues> ReturnValuesOf(Json request, bool of_update) {
  static constexpr std::array<std::string_view, 5> kWords = {"ALL_NEW", "UPDATED_OLD", "ALL_OLD",
                                                             "NONE", "UPDATED_NEW"};
  LS_ASSIGN_OR_RETURN(const std::optional<std::string> word,
                      WordOf(request, "ReturnValues", kWords));
  if (!word) return ReturnValues::kNone;
  const ReturnValues values = *dynamodb::ReturnValuesNamed(*word);
  if (!of_update && values != ReturnValues::kNone && values != ReturnValues::kAllOld) {
    return dynamodb::Invalid("ReturnValues can only be ALL_OLD or NONE");
  }
  return values;
}

ErrorOr<bool> ReturnsOnFailure(Json request) {
  static constexpr std::array<std::string_view, 2> kWords = {"ALL_OLD", "NONE"};
  LS_ASSIGN_OR_RETURN(const std::optional<std::string> word,
                      WordOf(request, "ReturnValuesOnConditionCheckFailure", kWords));
  return word == "ALL_OLD";
}

// The two that all writes take and that only have words to be checked.
Status CheckMetrics(Json request) {
  static constexpr std::array<std::string_view, 2> kWords = {"SIZE", "NONE"};
  LS_ASSIGN_OR_RETURN([[maybe_unused]] const std::optional<std::string> word,
                      WordOf(request, "ReturnItemCollectionMetrics", kWords));
  return {};
}

// Reads the operation's members into a change: of an operation by itself, or of one of a transaction.
Status ReadPut(Json request, ItemChange& change) {
  LS_ASSIGN_OR_RETURN(change.item, ItemOfMember(request, "Item"));
  LS_RETURN_IF_ERROR(dynamodb::CheckNotMixed(request, {"Expected", "ConditionalOperator"},
                                             {"ConditionExpression"}));
  LS_ASSIGN_OR_RETURN(dynamodb::Placeholders placeholders,
                      PlaceholdersOf(request, {"ConditionExpression"}, /*with_values=*/true));
  LS_ASSIGN_OR_RETURN(change.condition, ConditionOf(request, placeholders));
  change.constant_bytes = placeholders.copied_bytes();
  LS_RETURN_IF_ERROR(placeholders.CheckAllUsed());
  LS_ASSIGN_OR_RETURN(change.key_values, KeyValuesOf(*change.shape, change.item, /*is_item=*/true));
  change.key = KeyOf(*change.shape, change.item);
  return CheckPut(*change.shape, change.item);
}

Status ReadKeyed(Json request, ItemChange& change) {
  LS_ASSIGN_OR_RETURN(change.key, ItemOfMember(request, "Key"));
  LS_RETURN_IF_ERROR(dynamodb::CheckNotMixed(request, {"Expected", "ConditionalOperator"},
                                             {"ConditionExpression"}));
  LS_ASSIGN_OR_RETURN(dynamodb::Placeholders placeholders,
                      PlaceholdersOf(request, {"ConditionExpression"}, /*with_values=*/true));
  LS_ASSIGN_OR_RETURN(change.condition, ConditionOf(request, placeholders));
  change.constant_bytes = placeholders.copied_bytes();
  LS_RETURN_IF_ERROR(placeholders.CheckAllUsed());
  LS_ASSIGN_OR_RETURN(change.key_values, KeyValuesOf(*change.shape, change.key, /*is_item=*/false));
  return {};
}

Status ReadUpdate(Json request, ItemChange& change) {
  LS_ASSIGN_OR_RETURN(change.key, ItemOfMember(request, "Key"));
  LS_RETURN_IF_ERROR(
      dynamodb::CheckNotMixed(request, {"AttributeUpdates", "Expected", "ConditionalOperator"},
                              {"UpdateExpression", "ConditionExpression"}));
  LS_ASSIGN_OR_RETURN(
      dynamodb::Placeholders placeholders,
      PlaceholdersOf(request, {"UpdateExpression", "ConditionExpression"}, /*with_values=*/true));
  const Json expression = request.Find("UpdateExpression");
  if (expression.is_absent()) {
    LS_ASSIGN_OR_RETURN(change.update,
                        dynamodb::UpdateOfAttributeUpdates(request.Find("AttributeUpdates")));
  } else {
    LS_ASSIGN_OR_RETURN(change.update, dynamodb::ParseUpdate(expression.text(), placeholders));
  }
  LS_ASSIGN_OR_RETURN(change.condition, ConditionOf(request, placeholders));
  change.constant_bytes = placeholders.copied_bytes();
  LS_RETURN_IF_ERROR(placeholders.CheckAllUsed());
  const KeySchema& keys = change.shape->keys;
  LS_RETURN_IF_ERROR(
      dynamodb::CheckUpdateOfKey(change.update, keys.hash.name, keys.sort ? keys.sort->name : ""));
  LS_ASSIGN_OR_RETURN(change.key_values, KeyValuesOf(*change.shape, change.key, /*is_item=*/false));
  return {};
}

// Runs a change by itself. What it came to is in `changes`.
Status RunOne(OperationCall& call, ItemChanges& changes) {
  ItemChange& change = changes.changes()[0];
  BoundStatement statement = BoundStatementOf(change);
  if (!call.run.Run(statement, changes)) return Stopped();
  if (statement.error) return *std::move(statement.error);
  if (changes.error()) return *changes.error();
  if (!change.error) return {};
  LS_ASSIGN_OR_RETURN(const bool returns_item, ReturnsOnFailure(call.request));
  if (returns_item && change.existed && change.error->code == ErrorCode::kConditionalCheckFailed) {
    call.error_members += ",\"Item\":";
    dynamodb::AppendItemJson(change.before, call.error_members);
  }
  return *change.error;
}

std::string AnswerOf(const ItemChange& change, ReturnValues values, Capacity& capacity) {
  ObjectWriter answer;
  const bool has_after = change.kind != ItemChange::Kind::kDelete;
  const Item returned =
      dynamodb::ReturnedAttributes(values, change.update, change.existed ? &change.before : nullptr,
                                   has_after ? &change.after : nullptr);
  if (!returned.empty()) dynamodb::AppendItemJson(returned, answer.Member("Attributes"));
  const size_t bytes = std::max(dynamodb::ItemSize(change.before), change.after_size);
  capacity.Add(change.shape->name, HalfUnitsOfWrite(bytes));
  capacity.AppendOne(answer);
  return answer.Take();
}

// Behind a write by that shape: an index or an end that the table was given meanwhile may not have seen it.
// What comes behind this change of the table sees it.
Status FollowTable(OperationCall& call, std::shared_ptr<const TableShape> shape, const Item& item,
                   const std::vector<std::string>& key_values) {
  for (int attempt = 0; attempt < kFollowingsMax; ++attempt) {
    const std::shared_ptr<const Schema> schema = call.server.schema();
    const std::shared_ptr<const TableDefinition> table =
        schema->FindTable(kDynamodbKeyspace, shape->name);
    if (table == shape->table || table == nullptr || table->id != shape->table->id) break;
    shape = call.server.shapes.Find(*schema, shape->name);
    if (shape == nullptr) break;
    Status written = RewriteItem(call, shape, KeyOf(*shape, item), key_values);
    if (written.ok() || call.run.TakeStale()) continue;
    if (call.run.TakeDeferral()) {
      return Error{ErrorCode::kProvisionedThroughputExceeded,
                   "The item is written, and its table has changed meanwhile"};
    }
    return written;
  }
  return {};
}

Status FollowTable(OperationCall& call, const ItemChange& change) {
  if (change.kind != ItemChange::Kind::kPut && change.kind != ItemChange::Kind::kUpdate) return {};
  return FollowTable(call, change.shape, change.key, change.key_values);
}

ErrorOr<std::string> WriteOne(OperationCall& call, ItemChange change) {
  LS_RETURN_IF_ERROR(CheckMetrics(call.request));
  LS_ASSIGN_OR_RETURN(const ReturnValues values,
                      ReturnValuesOf(call.request, change.kind == ItemChange::Kind::kUpdate));
  LS_ASSIGN_OR_RETURN(Capacity capacity, Capacity::Of(call.request));
  const bool is_plain = change.kind != ItemChange::Kind::kUpdate && change.condition.is_always() &&
                        values == ReturnValues::kNone;
  if (is_plain) {
    BoundStatement statement = change.kind == ItemChange::Kind::kPut
                                   ? PlainPut(*change.shape, change.item, change.key_values,
                                              WholeSeconds(call.server.now_nanos()))
                                   : PlainDelete(*change.shape, change.key_values);
    if (!call.run.Run({&statement, 1})) return Stopped();
    if (statement.error) return *std::move(statement.error);
    LS_RETURN_IF_ERROR(FollowTable(call, change));
    change.after_size = dynamodb::ItemSize(change.item);
    return AnswerOf(change, values, capacity);
  }
  change.returns = values != ReturnValues::kNone;
  std::vector<ItemChange> one;
  one.push_back(std::move(change));
  ItemChanges changes(std::move(one));
  LS_RETURN_IF_ERROR(RunOne(call, changes));
  LS_RETURN_IF_ERROR(FollowTable(call, changes.changes()[0]));
  return AnswerOf(changes.changes()[0], values, capacity);
}

ErrorOr<ItemChange> ChangeOf(OperationCall& call, ItemChange::Kind kind) {
  ItemChange change;
  change.kind = kind;
  LS_ASSIGN_OR_RETURN(change.shape, TableOf(call));
  return change;
}

// ---- Batches

struct BatchWrite {
  std::shared_ptr<const TableShape> shape;
  Item item;  // or the key
  std::vector<std::string> key_values;
  bool is_put = false;
  size_t bytes = 0;
};

ErrorOr<BatchWrite> BatchWriteOf(const std::shared_ptr<const TableShape>& shape, Json request,
                                 int64_t now_seconds, std::vector<BoundStatement>& statements) {
  BatchWrite write;
  write.shape = shape;
  const Json put = request.Find("PutRequest");
  const Json deletion = request.Find("DeleteRequest");
  if (put.is_object() == deletion.is_object()) {
    return dynamodb::Invalid(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
        "supported datatypes: a WriteRequest is a PutRequest or a DeleteRequest");
  }
  write.is_put = put.is_object();
  LS_ASSIGN_OR_RETURN(write.item,
                      write.is_put ? ItemOfMember(put, "Item") : ItemOfMember(deletion, "Key"));
  LS_ASSIGN_OR_RETURN(write.key_values, KeyValuesOf(*shape, write.item, write.is_put));
  if (write.is_put) LS_RETURN_IF_ERROR(CheckPut(*shape, write.item));
  write.bytes = dynamodb::ItemSize(write.item);
  statements.push_back(write.is_put ? PlainPut(*shape, write.item, write.key_values, now_seconds)
                                    : PlainDelete(*shape, write.key_values));
  return write;
}

bool IsToBeTriedAgain(const Error& error) {
  return error.code == ErrorCode::kProvisionedThroughputExceeded;
}

// ---- Transactions

struct TransactionPart {
  std::string_view name;
  ItemChange::Kind kind;
};
constexpr TransactionPart kTransactionParts[] = {
    {"Put", ItemChange::Kind::kPut},
    {"Update", ItemChange::Kind::kUpdate},
    {"Delete", ItemChange::Kind::kDelete},
    {"ConditionCheck", ItemChange::Kind::kCheck},
};

// `part`: the operation's members.
ErrorOr<ItemChange> TransactionChangeOf(OperationCall& call, Json request, Json& part) {
  ItemChange change;
  size_t parts = 0;
  for (const TransactionPart& known : kTransactionParts) {
    const Json found = request.Find(known.name);
    if (!found.is_object()) continue;
    part = found;
    change.kind = known.kind;
    ++parts;
  }
  if (parts != 1) {
    return dynamodb::Invalid("TransactItems can only contain one of Check, Put, Update or Delete");
  }
  LS_ASSIGN_OR_RETURN(const std::string name, TableNameOf(part.Find("TableName")));
  LS_ASSIGN_OR_RETURN(change.shape, TableOf(call, name));
  switch (change.kind) {
    case ItemChange::Kind::kPut:
      LS_RETURN_IF_ERROR(ReadPut(part, change));
      break;
    case ItemChange::Kind::kUpdate:
      if (part.Find("UpdateExpression").is_absent()) {
        return dynamodb::Invalid(
            "The parameter 'UpdateExpression' is required but was not present in the request");
      }
      LS_RETURN_IF_ERROR(ReadUpdate(part, change));
      break;
    default:
      LS_RETURN_IF_ERROR(ReadKeyed(part, change));
      if (change.kind == ItemChange::Kind::kCheck && change.condition.is_always()) {
        return dynamodb::Invalid(
            "The parameter 'ConditionExpression' is required but was not present in the request");
      }
  }
  return change;
}

// The same of two requests whose members are in another order.
uint64_t HashOf(Json json) {
  const auto kind = static_cast<uint64_t>(json.kind());
  if (!json.is_object() && !json.is_array()) return Hash64(json.text(), kind);
  uint64_t hash = kind;
  for (const JsonMember member : json) {
    const uint64_t of_value = Hash64(member.name, HashOf(member.value));
    hash = json.is_object() ? hash + of_value : (hash ^ of_value) * 0x9e3779b97f4a7c15u;
  }
  return hash;
}

std::string_view ReasonOf(const Error& error) {
  return error.code == ErrorCode::kConditionalCheckFailed ? "ConditionalCheckFailed"
                                                          : "ValidationError";
}

Error Cancelled(OperationCall& call, std::span<const ItemChange> changes,
                const std::vector<bool>& returns_items) {
  std::string codes;
  std::string& reasons = call.error_members;
  const uint64_t bytes_max = std::min<uint64_t>(kReasonsBytesMax, call.server.answer_bytes_max);
  reasons = ",\"CancellationReasons\":[";
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::optional<Error>& error = changes[i].error;
    const std::string_view code = error ? ReasonOf(*error) : "None";
    AppendTo(codes, i == 0 ? "" : ", ", code);
    AppendTo(reasons, i == 0 ? "" : ",", "{\"Code\":\"", code, "\"");
    if (error) {
      reasons += ",\"Message\":";
      dynamodb::AppendJsonString(error->message, reasons);
    }
    if (error && returns_items[i] && changes[i].existed) {
      const size_t before = reasons.size();
      reasons += ",\"Item\":";
      const ItemChange& change = changes[i];
      const std::vector<std::string_view> key(change.key_values.begin(), change.key_values.end());
      AppendItemJsonOf(change.shape->KeyAttributesOf(nullptr), key, change.before_bytes, reasons);
      if (reasons.size() > bytes_max) reasons.resize(before);
    }
    reasons += '}';
  }
  reasons += ']';
  return {ErrorCode::kTransactionCanceled,
          Cat("Transaction cancelled, please refer cancellation reasons for specific reasons [",
              codes, "]")};
}

// `is_applied`: it was carried out. That is so of some whose client is told of an error, or of nothing.
ErrorOr<std::string> WriteTransaction(OperationCall& call, bool& is_applied) {
  const Json requests = call.request.Find("TransactItems");
  if (!requests.is_array() || requests.size() == 0 || requests.size() > kTransactionItemsMax) {
    return dynamodb::Invalid(
        Cat("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            "Member must have length ",
            requests.size() == 0 ? "greater than or equal to 1" : "less than or equal to 100"));
  }
  LS_RETURN_IF_ERROR(CheckMetrics(call.request));
  LS_ASSIGN_OR_RETURN(Capacity capacity, Capacity::Of(call.request));
  if (call.run.defers() && requests.size() > kLoopTransactionItems) {
    call.run.Defer();
    return Stopped();
  }
  std::vector<ItemChange> parts;
  std::vector<bool> returns_items;
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  size_t bytes = 0;
  for (const JsonMember member : requests) {
    Json part;
    LS_ASSIGN_OR_RETURN(ItemChange change, TransactionChangeOf(call, member.value, part));
    LS_ASSIGN_OR_RETURN(const bool returns_item, ReturnsOnFailure(part));
    returns_items.push_back(returns_item);
    if (!seen.emplace(change.shape->name, change.key_values).second) {
      return dynamodb::Invalid(
          "Transaction request cannot include multiple operations on one item");
    }
    // Values that are named once and used often are many times the request.
    bytes += dynamodb::ItemSize(change.item) + change.constant_bytes;
    if (bytes > kTransactionBytesMax) return TransactionTooLarge();
    parts.push_back(std::move(change));
  }
  ItemChanges changes(std::move(parts));
  changes.TellOfApplied(&is_applied);
  std::vector<BoundStatement> statements;
  for (const ItemChange& change : changes.changes()) {
    if (change.kind != ItemChange::Kind::kCheck) statements.push_back(BoundStatementOf(change));
  }
  std::optional<Error> error;
  if (statements.empty()) {
    BoundStatement look = BoundStatementOf(changes.changes()[0]);
    if (!call.run.Run(look, changes)) return Stopped();
    error = std::move(look.error);
  } else {
    if (!call.run.RunBatch(statements, changes)) return Stopped();
    error = std::move(statements.front().error);
  }
  if (error) return *std::move(error);
  if (changes.error()) return *changes.error();
  if (changes.has_failed()) return Cancelled(call, changes.changes(), returns_items);
  ObjectWriter answer;
  for (const ItemChange& change : changes.changes()) {
    LS_RETURN_IF_ERROR(FollowTable(call, change));
    capacity.Add(change.shape->name, 2 * HalfUnitsOfWrite(change.after_size));
  }
  capacity.AppendAll(answer);
  return answer.Take();
}

}  // namespace

Status RewriteItem(OperationCall& call, const std::shared_ptr<const TableShape>& shape, Item key,
                   std::vector<std::string> key_values,
                   const std::shared_ptr<const TableShape>& former) {
  std::vector<ItemChange> one(1);
  one[0].kind = ItemChange::Kind::kRewrite;
  one[0].shape = shape;
  one[0].key = std::move(key);
  one[0].key_values = std::move(key_values);
  one[0].former = former;
  ItemChanges changes(std::move(one));
  BoundStatement statement = BoundStatementOf(changes.changes()[0]);
  if (!call.run.Run(statement, changes)) return Stopped();
  if (statement.error) return *std::move(statement.error);
  return {};
}

ErrorOr<std::string> PutItem(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(ItemChange change, ChangeOf(call, ItemChange::Kind::kPut));
  LS_RETURN_IF_ERROR(ReadPut(call.request, change));
  return WriteOne(call, std::move(change));
}

ErrorOr<std::string> UpdateItem(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(ItemChange change, ChangeOf(call, ItemChange::Kind::kUpdate));
  LS_RETURN_IF_ERROR(ReadUpdate(call.request, change));
  return WriteOne(call, std::move(change));
}

ErrorOr<std::string> DeleteItem(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(ItemChange change, ChangeOf(call, ItemChange::Kind::kDelete));
  LS_RETURN_IF_ERROR(ReadKeyed(call.request, change));
  return WriteOne(call, std::move(change));
}

ErrorOr<std::string> BatchWriteItem(OperationCall& call) {
  const Json requests = call.request.Find("RequestItems");
  if (!requests.is_object() || requests.size() == 0) {
    return dynamodb::Invalid("BatchWriteItem cannot have a null or no requests set");
  }
  LS_RETURN_IF_ERROR(CheckMetrics(call.request));
  LS_ASSIGN_OR_RETURN(Capacity capacity, Capacity::Of(call.request));
  const int64_t now_seconds = WholeSeconds(call.server.now_nanos());
  std::vector<BatchWrite> writes;
  std::vector<BoundStatement> statements;
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  for (const JsonMember table : requests) {
    LS_ASSIGN_OR_RETURN(const std::shared_ptr<const TableShape> shape,
                        TableOf(call, TableOfArn(table.name)));
    const auto is_same = [&](const BatchWrite& write) { return write.shape->name == shape->name; };
    if (std::ranges::any_of(writes, is_same)) return TableNamedTwice(shape->name);
    if (!table.value.is_array() || table.value.size() == 0) {
      return dynamodb::Invalid(
          Cat("1 validation error detected: Value '{", table.name,
              "=[]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy "
              "constraint: [Member must have length less than or equal to 25, Member must have "
              "length greater than or equal to 1]"));
    }
    for (const JsonMember request : table.value) {
      if (writes.size() == kBatchWritesMax) {
        return dynamodb::Invalid("Too many items requested for the BatchWriteItem call");
      }
      LS_ASSIGN_OR_RETURN(BatchWrite write,
                          BatchWriteOf(shape, request.value, now_seconds, statements));
      if (!seen.emplace(shape->name, write.key_values).second) {
        return dynamodb::Invalid("Provided list of item keys contains duplicates");
      }
      writes.push_back(std::move(write));
    }
  }
  if (!call.run.Run(statements)) return Stopped();
  for (size_t i = 0; i < writes.size(); ++i) {
    if (statements[i].error || !writes[i].is_put) continue;
    Status followed = FollowTable(call, writes[i].shape, writes[i].item, writes[i].key_values);
    if (call.run.stop() != StatementRunner::Stop::kNo) return Stopped();
    if (!followed.ok()) statements[i].error = followed.TakeError();
  }
  ObjectWriter left;
  size_t left_out = 0;
  std::string_view table;
  std::string of_table;
  const auto end_table = [&] {
    if (!of_table.empty()) AppendTo(left.Member(table), "[", of_table, "]");
    of_table.clear();
  };
  for (size_t i = 0; i < writes.size(); ++i) {
    const BatchWrite& write = writes[i];
    if (write.shape->name != table) {
      end_table();
      table = write.shape->name;
    }
    if (!statements[i].error) {
      capacity.Add(write.shape->name, HalfUnitsOfWrite(write.bytes));
      continue;
    }
    if (!IsToBeTriedAgain(*statements[i].error)) return *std::move(statements[i].error);
    if (++left_out == writes.size()) return *std::move(statements[i].error);
    if (!of_table.empty()) of_table += ',';
    of_table += write.is_put ? "{\"PutRequest\":{\"Item\":" : "{\"DeleteRequest\":{\"Key\":";
    dynamodb::AppendItemJson(write.item, of_table);
    of_table += "}}";
  }
  end_table();
  ObjectWriter answer;
  answer.Member("UnprocessedItems") += left.Take();
  capacity.AppendAll(answer);
  return answer.Take();
}

ErrorOr<std::string> TransactWriteItems(OperationCall& call) {
  const Json token = call.request.Find("ClientRequestToken");
  bool is_applied = false;
  if (!token.is_string()) return WriteTransaction(call, is_applied);
  if (token.text().empty() || token.text().size() > 36) {
    return dynamodb::Invalid(
        Cat("1 validation error detected: Value '", http_face::FrontOf(token.text(), 100),
            "' at 'clientRequestToken' failed to satisfy constraint: Member must have length less "
            "than or equal to 36"));
  }
  const std::string name(token.text());
  const uint64_t resets = call.server.resets();
  switch (call.server.tokens.Begin(name, HashOf(call.request), call.server.now_nanos(), resets)) {
    case TransactionTokens::Seen::kSame:
      return std::string("{}");
    case TransactionTokens::Seen::kOther:
      return Error{ErrorCode::kIdempotentParameterMismatch,
                   "The request token was used with other parameters"};
    case TransactionTokens::Seen::kUnderWay:
      return Error{ErrorCode::kTransactionInProgress,
                   "The transaction with the given request token is already in progress"};
    case TransactionTokens::Seen::kNew:
      break;
  }
  // A client that has not learned of its transaction sends it again; and whatever is thrown, the token does
  // not stay under way.
  const absl::Cleanup end = [&] { call.server.tokens.End(name, is_applied, resets); };
  return WriteTransaction(call, is_applied);
}

}  // namespace liststore::dynamodb_face
