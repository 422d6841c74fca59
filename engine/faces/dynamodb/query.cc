// Query and Scan.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/dynamodb/expressions/key_condition.h"
#include "engine/dynamodb/expressions/legacy.h"
#include "engine/dynamodb/values/item_bytes.h"
#include "engine/dynamodb/values/item_json.h"
#include "engine/faces/dynamodb/operation.h"
#include "engine/model/clustering_key.h"
#include "engine/model/partition_key.h"
#include "engine/model/token.h"

namespace liststore::dynamodb_face {
namespace {

using dynamodb::SortCondition;

// Source: DynamoDB's developer guide, "Quotas", Query and Scan.
constexpr size_t kPageBytesMax = size_t{1} << 20;
// Rows that are asked for at once: on a loop, and beside them.
constexpr int32_t kLoopRows = 128;
constexpr int32_t kRows = 512;
// Of an answer, while others wait.
constexpr size_t kLoopBytes = size_t{128} << 10;
// What a filter looks at (dynamodb::Effort) until a page ends, and until a loop gives up.
constexpr uint64_t kPageEffort = uint64_t{128} << 20;
constexpr uint64_t kLoopEffort = uint64_t{4} << 20;
constexpr int64_t kSegmentsMax = 1'000'000;

// Values of the first columns of a clustering key, and a comparison with them.
struct RowBound {
  std::vector<std::string> values;
  bool is_in = true;
};

// What of a table or an index is read, in what order.
struct ReadRange {
  std::optional<std::string> hash;     // the one partition; else
  std::optional<int64_t> first_token;  // those from here
  std::optional<int64_t> last_token;   // to here, both in
  std::optional<RowBound> lower;
  std::optional<RowBound> upper;
  bool is_descending = false;
};

enum class Selects : uint8_t {
  kAll,
  kProjected,  // what the index projects
  kCount
};

// A Query or Scan, read.
struct ReadRequest {
  std::shared_ptr<const TableShape> shape;
  const IndexShape* index = nullptr;
  std::vector<KeyAttribute> key;  // the columns before the item's: TableShape::KeyAttributesOf
  dynamodb::Condition filter;
  dynamodb::Projection projection;
  Selects selects = Selects::kAll;
  int64_t limit = INT64_MAX;
  bool is_consistent = false;
  Capacity capacity;
  std::optional<Item> start;
};

// The text of a character behind `text` in the order of UTF-8's bytes; nullopt: there is none that begins as it.
std::optional<std::string> BehindTextPrefix(std::string text) {
  while (!text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
    const auto lead = static_cast<unsigned char>(text[at]);
    uint32_t code = lead < 0x80   ? lead
                    : lead < 0xe0 ? lead & 0x1f
                    : lead < 0xf0 ? lead & 0x0f
                                  : lead & 0x07;
    for (size_t i = at + 1; i < text.size(); ++i) {
      code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
    }
    text.resize(at);
    if (code >= 0x10ffff) continue;
    ++code;
    if (code == 0xd800) code = 0xe000;  // surrogates are no characters
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xc0 | code >> 6);
    } else if (code < 0x10000) {
      text += static_cast<char>(0xe0 | code >> 12);
    } else {
      text += static_cast<char>(0xf0 | code >> 18);
    }
    if (code >= 0x10000) text += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    if (code >= 0x800) text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    if (code >= 0x80) text += static_cast<char>(0x80 | (code & 0x3f));
    return text;
  }
  return std::nullopt;
}

void SetBounds(const SortCondition& condition, ReadRange& range) {
  const std::string value = ToCqlValue(condition.value);
  using Kind = SortCondition::Kind;
  switch (condition.kind) {
    case Kind::kEqual:
      range.lower = RowBound{{value}};
      range.upper = RowBound{{value}};
      return;
    case Kind::kLess:
      range.upper = RowBound{{value}, /*is_in=*/false};
      return;
    case Kind::kLessOrEqual:
      range.upper = RowBound{{value}};
      return;
    case Kind::kGreater:
      range.lower = RowBound{{value}, /*is_in=*/false};
      return;
    case Kind::kGreaterOrEqual:
      range.lower = RowBound{{value}};
      return;
    case Kind::kBetween:
      range.lower = RowBound{{value}};
      range.upper = RowBound{{ToCqlValue(condition.upper)}};
      return;
    case Kind::kBeginsWith: {
      range.lower = RowBound{{value}};
      std::optional<std::string> behind =
          condition.value.string() != nullptr ? BehindTextPrefix(value) : BoundAfterPrefix(value);
      if (behind) range.upper = RowBound{{*std::move(behind)}, /*is_in=*/false};
    }
  }
}

// ("a", "b")
std::string ColumnsText(const std::vector<KeyAttribute>& columns, size_t count) {
  std::string text = "(";
  for (size_t i = 0; i < count; ++i) {
    AppendTo(text, i == 0 ? "" : ", ", cql::AlwaysQuoteIdentifier(columns[i].name));
  }
  return text + ")";
}
std::string MarksText(size_t count) {
  std::string text = "(";
  for (size_t i = 0; i < count; ++i) text += i == 0 ? "?" : ", ?";
  return text + ")";
}

// The statement of a range, and its values.
PreparedText StatementText(const ReadRequest& request, const ReadRange& range,
                           BoundStatement& statement) {
  const TableShape& shape = *request.shape;
  const IndexShape* const index = request.index;
  const KeySchema& keys = index == nullptr ? shape.keys : index->keys;
  const std::vector<KeyAttribute> clustering = shape.ClusteringOf(index);
  std::string text = "SELECT ";
  for (const KeyAttribute& attribute : request.key) {
    AppendTo(text, cql::AlwaysQuoteIdentifier(attribute.name), ", ");
  }
  AppendTo(text, "\":item\" FROM ", QualifiedName(shape.name, index));
  const char* joins = " WHERE ";
  const std::string hash = cql::AlwaysQuoteIdentifier(keys.hash.name);
  const auto add_token = [&](const std::optional<int64_t>& token, std::string_view comparison) {
    if (!token) return;
    AppendTo(text, std::exchange(joins, " AND "), "token(", hash, ") ", comparison, " ?");
    std::string bytes(8, '\0');
    for (int i = 0; i < 8; ++i) {
      bytes[static_cast<size_t>(i)] =
          static_cast<char>(static_cast<uint64_t>(*token) >> (56 - 8 * i) & 0xff);
    }
    statement.values.emplace_back(std::move(bytes));
  };
  if (range.hash) {
    AppendTo(text, std::exchange(joins, " AND "), hash, " = ?");
    statement.values.emplace_back(*range.hash);
  } else {
    add_token(range.first_token, ">=");
    add_token(range.last_token, "<=");
  }
  const auto add_bound = [&](const std::optional<RowBound>& bound, std::string_view comparison) {
    if (!bound) return;
    const size_t count = bound->values.size();
    AppendTo(text, std::exchange(joins, " AND "), ColumnsText(clustering, count), " ", comparison,
             bound->is_in ? "= " : " ", MarksText(count));
    for (const std::string& value : bound->values) statement.values.emplace_back(value);
  };
  add_bound(range.lower, ">");
  add_bound(range.upper, "<");
  if (range.is_descending && !clustering.empty()) {
    AppendTo(text, " ORDER BY ", cql::AlwaysQuoteIdentifier(clustering[0].name), " DESC");
  }
  return PreparedText(std::move(text));
}

// What was read so far, as it is answered.
struct ReadResult {
  std::string items;  // without brackets
  int64_t count = 0;
  int64_t scanned = 0;
  size_t bytes = 0;        // that were read
  uint64_t looked_at = 0;  // by the filter
  // Of the last row, where there may be more.
  std::vector<std::string> last_key;
  bool is_over = false;  // a limit was reached
};

bool IsProjected(const IndexShape& index, const std::vector<KeyAttribute>& key,
                 std::string_view name) {
  return std::ranges::find(key, name, &KeyAttribute::name) != key.end() ||
         std::ranges::find(index.included, name) != index.included.end();
}

// Of an item what the index projects.
Item ProjectedBy(const ReadRequest& request, const Item& item) {
  Item projected;
  for (const auto& attribute : item) {
    if (IsProjected(*request.index, request.key, attribute.name)) {
      projected.Set(attribute.name, attribute.value);
    }
  }
  return projected;
}

// Validation error: the filter takes too long.
Status TakeRow(const ReadRequest& request,
               const std::vector<std::optional<std::string_view>>& values, ReadResult& result) {
  std::vector<std::string_view> key;
  for (size_t i = 0; i < request.key.size(); ++i) {
    key.push_back(values[i].value_or(std::string_view()));
  }
  const std::string_view column = values.back().value_or(std::string_view());
  ++result.scanned;
  result.bytes += dynamodb::ItemSizeOfBytes(column).value_or(0);
  for (size_t i = 0; i < key.size(); ++i) {
    result.bytes += key[i].size() + request.key[i].name.size();
  }
  result.last_key.assign(key.begin(), key.end());
  // What it does not project is not there for a filter either, of items that are only counted too.
  const bool by_index = request.index != nullptr && request.selects != Selects::kAll &&
                        request.index->projects != IndexShape::Projects::kAll;
  const bool is_plain = request.filter.is_always() && request.projection.is_everything();
  // The attributes of the index's key are in the item as well.
  const size_t own_keys = request.shape->keys.sort ? 2 : 1;
  const std::span<const KeyAttribute> own_attributes(request.key.data(), own_keys);
  const std::span<const std::string_view> own_values(key.data(), own_keys);
  if (is_plain && !by_index) {
    ++result.count;
    if (request.selects == Selects::kCount) return {};
    if (!result.items.empty()) result.items += ',';
    AppendItemJsonOf(own_attributes, own_values, column, result.items);
    return {};
  }
  Item item = ItemOf(own_attributes, own_values, column);
  if (by_index) item = ProjectedBy(request, item);
  // Of each item by itself: no lane is held meanwhile.
  dynamodb::Effort effort;
  LS_ASSIGN_OR_RETURN(const bool is_true, dynamodb::Evaluate(request.filter, item, effort));
  result.looked_at += effort.bytes();
  if (!is_true) return {};
  ++result.count;
  if (request.selects == Selects::kCount) return {};
  if (!result.items.empty()) result.items += ',';
  dynamodb::AppendItemJson(
      request.projection.is_everything() ? item : dynamodb::Project(request.projection, item),
      result.items);
  return {};
}

// Of a loop: the page that it has read is handed over.
Status Defer(OperationCall& call, BoundStatement& page) {
  std::vector<BoundStatement> pages;
  pages.push_back(std::move(page));
  call.run.Defer();
  call.run.HandOver(std::move(pages));
  return Stopped();
}

// Reads a range until it ends, a limit is reached, or the runner stops: Stopped.
Status ReadRows(OperationCall& call, const ReadRequest& request, const ReadRange& range,
                ReadResult& result) {
  BoundStatement statement;
  const PreparedText text = StatementText(request, range, statement);
  statement.text = &text;
  std::vector<std::optional<std::string_view>> values;
  while (true) {
    const int64_t left = request.limit - result.scanned;
    const int64_t rows_max = call.run.defers() ? kLoopRows : kRows;
    statement.page_size = static_cast<int32_t>(std::min(left, rows_max));
    if (!call.run.Run({&statement, 1})) return Stopped();
    if (statement.error) return *std::move(statement.error);
    AnsweredRows rows(statement.frame);
    while (rows.rows_left() > 0) {
      rows.Next(values);
      LS_RETURN_IF_ERROR(TakeRow(request, values, result));
      if (call.run.defers() && std::max(result.bytes, result.items.size()) > kLoopBytes) {
        return Defer(call, statement);
      }
      if (result.scanned >= request.limit || result.bytes >= kPageBytesMax ||
          result.looked_at >= kPageEffort) {
        result.is_over = true;
        return {};
      }
      if (call.run.defers() && result.looked_at >= kLoopEffort) return Defer(call, statement);
    }
    if (rows.paging_state().empty()) return {};
    // What a loop does of it is one page.
    if (call.run.defers()) return Defer(call, statement);
    statement.paging_state = rows.paging_state();
  }
}

ErrorOr<std::string> AnswerOf(const ReadRequest& request, ReadResult& result) {
  ObjectWriter answer;
  if (request.selects != Selects::kCount) {
    AppendTo(answer.Member("Items"), "[", result.items, "]");
  }
  AppendTo(answer.Member("Count"), result.count);
  AppendTo(answer.Member("ScannedCount"), result.scanned);
  if (result.is_over) {
    std::string& key = answer.Member("LastEvaluatedKey");
    key += '{';
    for (size_t i = 0; i < request.key.size(); ++i) {
      if (i > 0) key += ',';
      dynamodb::AppendJsonString(request.key[i].name, key);
      key += ':';
      if (!AppendCqlValueJson(request.key[i].type, result.last_key[i], key)) {
        return Error{ErrorCode::kInternalServerError,
                     "A key that was written by CQL is no value of DynamoDB's"};
      }
    }
    key += '}';
  }
  Capacity capacity = request.capacity;
  capacity.Add(request.shape->name, HalfUnitsOfRead(result.bytes, request.is_consistent));
  capacity.AppendOne(answer);
  return answer.Take();
}

// ---- Reading requests

ErrorOr<dynamodb::Condition> FilterOf(Json request, std::string_view legacy,
                                      dynamodb::Placeholders& placeholders) {
  const Json expression = request.Find("FilterExpression");
  if (expression.is_absent()) {
    return dynamodb::ConditionOfFilter(request.Find(legacy), request.Find("ConditionalOperator"));
  }
  return dynamodb::ParseCondition(expression.text(), dynamodb::ExpressionKind::kFilter,
                                  placeholders);
}

Status ReadSelect(Json request, ReadRequest& read) {
  static constexpr std::array<std::string_view, 4> kWords = {
      "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"};
  LS_ASSIGN_OR_RETURN(const std::optional<std::string> word, WordOf(request, "Select", kWords));
  const bool projects = !read.projection.is_everything();
  read.selects = read.index == nullptr ? Selects::kAll : Selects::kProjected;
  if (word == "COUNT") {
    if (projects) {
      return dynamodb::Invalid(
          "Cannot specify the ProjectionExpression when choosing to get only the Count");
    }
    read.selects = Selects::kCount;
  } else if (word == "ALL_ATTRIBUTES") {
    if (projects) {
      return dynamodb::Invalid(
          "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES");
    }
    if (read.index != nullptr && read.index->is_global &&
        read.index->projects != IndexShape::Projects::kAll) {
      return dynamodb::InvalidParameter(
          Cat("Select type ALL_ATTRIBUTES is not supported for global secondary index ",
              read.index->name, " because its projection type is not ALL"));
    }
    read.selects = Selects::kAll;
  } else if (word == "ALL_PROJECTED_ATTRIBUTES") {
    if (read.index == nullptr) {
      return dynamodb::Invalid(
          "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
    }
  } else if (word == "SPECIFIC_ATTRIBUTES" && !projects) {
    return dynamodb::Invalid(
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
        "SPECIFIC_ATTRIBUTES");
  }
  // A local index fetches from the table what is asked for by name.
  if (projects && read.index != nullptr && !read.index->is_global) read.selects = Selects::kAll;
  return {};
}

ErrorOr<ReadRequest> ReadRequestOf(OperationCall& call) {
  ReadRequest read;
  LS_ASSIGN_OR_RETURN(read.shape, TableOf(call));
  const Json index = call.request.Find("IndexName");
  if (!index.is_absent()) {
    read.index = read.shape->FindIndex(index.text());
    if (read.index == nullptr) {
      return dynamodb::Invalid(Cat("The table does not have the specified index: ", index.text()));
    }
  }
  read.key = read.shape->KeyAttributesOf(read.index);
  LS_ASSIGN_OR_RETURN(read.capacity, Capacity::Of(call.request));
  LS_ASSIGN_OR_RETURN(const std::optional<int64_t> limit,
                      IntegerOf(call.request, "Limit", 1, INT32_MAX));
  if (limit) read.limit = *limit;
  LS_ASSIGN_OR_RETURN(const std::optional<bool> consistent, BoolOf(call.request, "ConsistentRead"));
  read.is_consistent = consistent.value_or(false);
  if (read.is_consistent && read.index != nullptr && read.index->is_global) {
    return dynamodb::Invalid("Consistent reads are not supported on global secondary indexes");
  }
  if (!call.request.Find("ExclusiveStartKey").is_absent()) {
    LS_ASSIGN_OR_RETURN(read.start, ItemOfMember(call.request, "ExclusiveStartKey"));
    bool is_key = read.start->size() == read.key.size();
    for (const KeyAttribute& attribute : read.key) {
      const AttributeValue* const value = read.start->Find(attribute.name);
      is_key &= value != nullptr && value->is(attribute.type);
    }
    if (!is_key) return dynamodb::Invalid("The provided starting key is invalid");
  }
  return read;
}

// Values of the columns behind the partition's in the starting key.
RowBound BehindStart(const ReadRequest& read) {
  RowBound bound;
  bound.is_in = false;
  for (const KeyAttribute& attribute : read.shape->ClusteringOf(read.index)) {
    bound.values.push_back(ToCqlValue(*read.start->Find(attribute.name)));
  }
  return bound;
}

ErrorOr<dynamodb::KeyCondition> KeyConditionOf(Json request, const KeySchema& keys,
                                               dynamodb::Placeholders& placeholders) {
  const Json expression = request.Find("KeyConditionExpression");
  if (!expression.is_absent()) {
    return dynamodb::ParseKeyCondition(expression.text(), keys, placeholders);
  }
  const Json legacy = request.Find("KeyConditions");
  if (legacy.is_absent()) {
    return dynamodb::Invalid(
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
        "request.");
  }
  return dynamodb::KeyConditionOfKeyConditions(legacy, keys);
}

}  // namespace

ErrorOr<std::string> Query(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(ReadRequest read, ReadRequestOf(call));
  const KeySchema& keys = read.index == nullptr ? read.shape->keys : read.index->keys;
  LS_RETURN_IF_ERROR(dynamodb::CheckNotMixed(
      call.request, {"KeyConditions", "QueryFilter", "AttributesToGet", "ConditionalOperator"},
      {"KeyConditionExpression", "FilterExpression", "ProjectionExpression"}));
  LS_ASSIGN_OR_RETURN(
      dynamodb::Placeholders placeholders,
      PlaceholdersOf(call.request,
                     {"KeyConditionExpression", "FilterExpression", "ProjectionExpression"},
                     /*with_values=*/true));
  LS_ASSIGN_OR_RETURN(const dynamodb::KeyCondition condition,
                      KeyConditionOf(call.request, keys, placeholders));
  LS_RETURN_IF_ERROR(CheckKeyBytes(condition.hash, /*is_hash=*/true));
  if (condition.sort) {
    LS_RETURN_IF_ERROR(CheckKeyBytes(condition.sort->value, /*is_hash=*/false));
    LS_RETURN_IF_ERROR(CheckKeyBytes(condition.sort->upper, /*is_hash=*/false));
  }
  LS_ASSIGN_OR_RETURN(read.filter, FilterOf(call.request, "QueryFilter", placeholders));
  LS_ASSIGN_OR_RETURN(read.projection, ProjectionOf(call.request, placeholders));
  LS_RETURN_IF_ERROR(placeholders.CheckAllUsed());
  LS_RETURN_IF_ERROR(
      dynamodb::CheckFilterOfQuery(read.filter, keys.hash.name, keys.sort ? keys.sort->name : "",
                                   call.request.Find("FilterExpression").is_absent()));
  LS_RETURN_IF_ERROR(ReadSelect(call.request, read));
  LS_ASSIGN_OR_RETURN(const std::optional<bool> forward, BoolOf(call.request, "ScanIndexForward"));
  ReadRange range;
  range.hash = ToCqlValue(condition.hash);
  range.is_descending = !forward.value_or(true);
  if (condition.sort) SetBounds(*condition.sort, range);
  ReadResult result;
  bool is_empty = false;
  if (read.start) {
    const bool is_within =
        *read.start->Find(keys.hash.name) == condition.hash &&
        (!condition.sort ||
         dynamodb::Contains(*condition.sort, *read.start->Find(keys.sort->name)));
    if (!is_within) {
      return dynamodb::Invalid(
          "The provided starting key is outside query boundaries based on provided conditions");
    }
    RowBound behind = BehindStart(read);
    // Nothing is behind the one row of a partition.
    is_empty = behind.values.empty();
    (range.is_descending ? range.upper : range.lower) = std::move(behind);
  }
  if (!is_empty) LS_RETURN_IF_ERROR(ReadRows(call, read, range, result));
  return AnswerOf(read, result);
}

ErrorOr<std::string> Scan(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(ReadRequest read, ReadRequestOf(call));
  LS_RETURN_IF_ERROR(dynamodb::CheckNotMixed(
      call.request, {"ScanFilter", "AttributesToGet", "ConditionalOperator"},
      {"FilterExpression", "ProjectionExpression"}));
  LS_ASSIGN_OR_RETURN(dynamodb::Placeholders placeholders,
                      PlaceholdersOf(call.request, {"FilterExpression", "ProjectionExpression"},
                                     /*with_values=*/true));
  LS_ASSIGN_OR_RETURN(read.filter, FilterOf(call.request, "ScanFilter", placeholders));
  LS_ASSIGN_OR_RETURN(read.projection, ProjectionOf(call.request, placeholders));
  LS_RETURN_IF_ERROR(placeholders.CheckAllUsed());
  LS_RETURN_IF_ERROR(ReadSelect(call.request, read));
  LS_ASSIGN_OR_RETURN(const std::optional<int64_t> total,
                      IntegerOf(call.request, "TotalSegments", 1, kSegmentsMax));
  LS_ASSIGN_OR_RETURN(const std::optional<int64_t> segment,
                      IntegerOf(call.request, "Segment", 0, kSegmentsMax - 1));
  if (total.has_value() != segment.has_value()) {
    return dynamodb::Invalid(
        total ? "The Segment parameter is required but was not present in the request when "
                "parameter TotalSegments is present"
              : "The TotalSegments parameter is required but was not present in the request when "
                "Segment parameter is present");
  }
  if (total && *segment >= *total) {
    return dynamodb::Invalid(
        Cat("The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            "Segment: ",
            *segment, " is not less than TotalSegments: ", *total));
  }
  ReadRange range;
  if (total) {
    // Equal parts of the ring, in unsigned numbers from its first token.
    const auto begin = [&](int64_t number) {
      return static_cast<uint64_t>((static_cast<unsigned __int128>(number) << 64) /
                                   static_cast<uint64_t>(*total));
    };
    constexpr uint64_t kFirst = uint64_t{1} << 63;
    range.first_token = static_cast<int64_t>(begin(*segment) + kFirst);
    range.last_token = static_cast<int64_t>(
        (*segment + 1 == *total ? UINT64_MAX : begin(*segment + 1) - 1) + kFirst);
  }
  ReadResult result;
  if (read.start) {
    const KeySchema& keys = read.index == nullptr ? read.shape->keys : read.index->keys;
    const std::string hash = ToCqlValue(*read.start->Find(keys.hash.name));
    std::string partition;
    const std::string_view component = hash;
    AppendPartitionKey({&component, 1}, partition);
    const int64_t token = TokenOf(partition).value;
    RowBound behind = BehindStart(read);
    if (!behind.values.empty()) {
      ReadRange rest;
      rest.hash = hash;
      rest.lower = std::move(behind);
      LS_RETURN_IF_ERROR(ReadRows(call, read, rest, result));
      if (result.is_over) return AnswerOf(read, result);
    }
    if (token == INT64_MAX) return AnswerOf(read, result);
    range.first_token = token + 1;
  }
  LS_RETURN_IF_ERROR(ReadRows(call, read, range, result));
  return AnswerOf(read, result);
}

}  // namespace liststore::dynamodb_face
