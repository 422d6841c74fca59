#include "engine/faces/dynamodb/table_shape.h"

#include <algorithm>
#include <utility>

#include "engine/cql/syntax/quoting.h"
#include "engine/dynamodb/values/json.h"
#include "engine/faces/http/text.h"
#include "engine/model/types/cql_type.h"

namespace liststore::dynamodb_face {
namespace {

using dynamodb::AttributeType;
using dynamodb::Json;
using http_face::AppendTo;
using http_face::Cat;

constexpr std::string_view kNotesKey = "dynamodb";
constexpr std::string_view kArnPrefix = "arn:aws:dynamodb:us-east-1:000000000000:table/";

std::string Quoted(std::string_view text) {
  std::string quoted;
  dynamodb::AppendJsonString(text, quoted);
  return quoted;
}

std::string_view NameOf(IndexShape::Projects projects) {
  switch (projects) {
    case IndexShape::Projects::kKeysOnly:
      return "KEYS_ONLY";
    case IndexShape::Projects::kInclude:
      return "INCLUDE";
    case IndexShape::Projects::kAll:
      break;
  }
  return "ALL";
}

std::optional<KeyAttribute> AttributeOf(const TableDefinition& table, std::string_view name) {
  const ColumnDefinition* const column = table.FindColumn(name);
  if (column == nullptr) return std::nullopt;
  const std::optional<AttributeType> type = TypeOfColumn(*column);
  if (!type) return std::nullopt;
  return KeyAttribute{column->name, *type};
}

void AppendIndex(const IndexShape& index, std::string& out) {
  AppendTo(out, "{\"name\":", Quoted(index.name), ",\"hash\":", Quoted(index.keys.hash.name));
  if (index.keys.sort) AppendTo(out, ",\"sort\":", Quoted(index.keys.sort->name));
  AppendTo(out, ",\"global\":", index.is_global ? "true" : "false", ",\"projects\":\"",
           NameOf(index.projects), "\",\"include\":[");
  for (size_t i = 0; i < index.included.size(); ++i) {
    AppendTo(out, i == 0 ? "" : ",", Quoted(index.included[i]));
  }
  AppendTo(out, "],\"reads\":", index.throughput.reads, ",\"writes\":", index.throughput.writes,
           "}");
}

std::optional<IndexShape> ReadIndex(Json json) {
  IndexShape index;
  index.name = json.Find("name").text();
  index.keys.hash.name = json.Find("hash").text();
  if (!json.Find("sort").is_absent()) {
    index.keys.sort = KeyAttribute{std::string(json.Find("sort").text())};
  }
  index.is_global = json.Find("global").is_true();
  const std::string_view projects = json.Find("projects").text();
  if (projects == "KEYS_ONLY") index.projects = IndexShape::Projects::kKeysOnly;
  if (projects == "INCLUDE") index.projects = IndexShape::Projects::kInclude;
  for (const dynamodb::JsonMember member : json.Find("include")) {
    index.included.emplace_back(member.value.text());
  }
  index.throughput = {json.Find("reads").ToInt64().value_or(0),
                      json.Find("writes").ToInt64().value_or(0)};
  if (index.name.empty() || index.keys.hash.name.empty()) return std::nullopt;
  return index;
}

}  // namespace

std::string TableNotes::ToComment() const {
  std::string out = Cat("{\"", kNotesKey, "\":1,\"created\":", created_millis,
                        ",\"on_demand\":", pays_per_request ? "true" : "false",
                        ",\"reads\":", throughput.reads, ",\"writes\":", throughput.writes);
  if (!table_class.empty()) AppendTo(out, ",\"class\":", Quoted(table_class));
  if (is_protected) out += ",\"protected\":true";
  if (!ttl_attribute.empty()) AppendTo(out, ",\"ttl\":", Quoted(ttl_attribute));
  out += ",\"indexes\":[";
  const char* comma = "";
  for (const IndexShape& index : indexes) {
    out += std::exchange(comma, ",");
    AppendIndex(index, out);
  }
  out += "],\"tags\":{";
  comma = "";
  for (const auto& [key, value] : tags) {
    AppendTo(out, std::exchange(comma, ","), Quoted(key), ":", Quoted(value));
  }
  out += "}}";
  return out;
}

std::optional<TableNotes> TableNotes::FromComment(std::string_view comment) {
  if (!comment.starts_with("{\"dynamodb\":")) return std::nullopt;
  const auto document = dynamodb::JsonDocument::Parse(std::string(comment));
  if (!document.ok() || !document->root().is_object()) return std::nullopt;
  const Json root = document->root();
  TableNotes notes;
  notes.created_millis = root.Find("created").ToInt64().value_or(0);
  notes.pays_per_request = root.Find("on_demand").is_true();
  notes.throughput = {root.Find("reads").ToInt64().value_or(0),
                      root.Find("writes").ToInt64().value_or(0)};
  notes.table_class = root.Find("class").text();
  notes.is_protected = root.Find("protected").is_true();
  notes.ttl_attribute = root.Find("ttl").text();
  for (const dynamodb::JsonMember member : root.Find("indexes")) {
    std::optional<IndexShape> index = ReadIndex(member.value);
    if (!index) return std::nullopt;
    notes.indexes.push_back(*std::move(index));
  }
  for (const dynamodb::JsonMember member : root.Find("tags")) {
    notes.tags.emplace(member.name, member.value.text());
  }
  return notes;
}

const IndexShape* TableShape::FindIndex(std::string_view index) const {
  const auto at = std::ranges::find(notes.indexes, index, &IndexShape::name);
  return at == notes.indexes.end() ? nullptr : &*at;
}

std::vector<KeyAttribute> TableShape::KeyAttributesOf(const IndexShape* index) const {
  std::vector<KeyAttribute> attributes = {keys.hash};
  const auto add = [&](const KeyAttribute& attribute) {
    if (std::ranges::find(attributes, attribute) == attributes.end()) {
      attributes.push_back(attribute);
    }
  };
  if (keys.sort) add(*keys.sort);
  if (index == nullptr) return attributes;
  add(index->keys.hash);
  if (index->keys.sort) add(*index->keys.sort);
  return attributes;
}

std::vector<KeyAttribute> TableShape::ClusteringOf(const IndexShape* index) const {
  std::vector<KeyAttribute> columns;
  const KeySchema& schema = index == nullptr ? keys : index->keys;
  if (schema.sort) columns.push_back(*schema.sort);
  if (index == nullptr) return columns;
  for (const KeyAttribute& attribute : KeyAttributesOf(nullptr)) {
    if (attribute == schema.hash || (schema.sort && attribute == *schema.sort)) continue;
    columns.push_back(attribute);
  }
  return columns;
}

std::shared_ptr<const TableShape> ShapeOf(const std::shared_ptr<const TableDefinition>& table) {
  std::optional<TableNotes> notes = TableNotes::FromComment(table->options.comment);
  if (!notes || table->view) return nullptr;
  auto shape = std::make_shared<TableShape>();
  shape->name = table->name;
  shape->table = table;
  shape->notes = *std::move(notes);
  const auto hash = table->ColumnsOf(ColumnKind::kPartitionKey);
  const auto sort = table->ColumnsOf(ColumnKind::kClustering);
  const ColumnDefinition* const item = table->FindColumn(kItemColumn);
  if (hash.size() != 1 || sort.size() > 1 || item == nullptr ||
      item->kind != ColumnKind::kRegular) {
    return nullptr;
  }
  const std::optional<KeyAttribute> hash_key = AttributeOf(*table, hash[0]->name);
  if (!hash_key) return nullptr;
  shape->keys.hash = *hash_key;
  if (!sort.empty()) {
    shape->keys.sort = AttributeOf(*table, sort[0]->name);
    if (!shape->keys.sort) return nullptr;
  }
  shape->item_column = item->position;
  shape->indexed.resize(table->storage.regular.size());
  // Those of indexes that are no more, too: a column that writes left alone would outlive the item's TTL.
  for (const ColumnDefinition* const column : table->ColumnsOf(ColumnKind::kRegular)) {
    const std::optional<AttributeType> type = TypeOfColumn(*column);
    if (type && column != item) shape->indexed[column->position] = {column->name, *type};
  }
  for (IndexShape& index : shape->notes.indexes) {
    for (KeyAttribute* key : {&index.keys.hash, index.keys.sort ? &*index.keys.sort : nullptr}) {
      if (key == nullptr) continue;
      const std::optional<KeyAttribute> attribute = AttributeOf(*table, key->name);
      if (!attribute) return nullptr;
      *key = *attribute;
    }
  }
  const std::string name = QualifiedName(table->name);
  std::string where = Cat(cql::AlwaysQuoteIdentifier(shape->keys.hash.name), " = ?");
  std::string columns = cql::AlwaysQuoteIdentifier(shape->keys.hash.name);
  std::string marks = "?";
  if (shape->keys.sort) {
    const std::string quoted = cql::AlwaysQuoteIdentifier(shape->keys.sort->name);
    AppendTo(where, " AND ", quoted, " = ?");
    AppendTo(columns, ", ", quoted);
    marks += ", ?";
  }
  shape->get = PreparedText(Cat("SELECT \":item\" FROM ", name, " WHERE ", where));
  shape->update = PreparedText(Cat("UPDATE ", name, " SET \":item\" = ? WHERE ", where));
  shape->remove = PreparedText(Cat("DELETE FROM ", name, " WHERE ", where));
  shape->keys_of_all = PreparedText(Cat("SELECT ", columns, " FROM ", name));
  for (const KeyAttribute& attribute : shape->indexed) {
    if (attribute.name.empty()) continue;
    AppendTo(columns, ", ", cql::AlwaysQuoteIdentifier(attribute.name));
    marks += ", ?";
  }
  const std::string insert =
      Cat("INSERT INTO ", name, " (", columns, ", \":item\") VALUES (", marks, ", ?)");
  shape->put = PreparedText(insert);
  shape->put_with_ttl = PreparedText(Cat(insert, " USING TTL ?"));
  return shape;
}

std::shared_ptr<const TableShape> TableShapes::Find(const Schema& schema, std::string_view name) {
  const std::shared_ptr<const TableDefinition> table = schema.FindTable(kDynamodbKeyspace, name);
  const std::string key(name);
  if (table == nullptr) {
    const MutexLock lock(mutex_);
    shapes_.erase(key);
    return nullptr;
  }
  {
    const MutexLock lock(mutex_);
    const auto at = shapes_.find(key);
    if (at != shapes_.end() && at->second->table == table) return at->second;
  }
  std::shared_ptr<const TableShape> shape = ShapeOf(table);
  if (shape == nullptr) return nullptr;
  const MutexLock lock(mutex_);
  // Of tables that CQL has dropped and nobody asks for, too: what is in use comes back.
  if (shapes_.size() >= kShapesMax) shapes_.clear();
  shapes_[key] = shape;
  return shape;
}

std::string QualifiedName(std::string_view table, const IndexShape* index) {
  return Cat(kDynamodbKeyspace, ".",
             cql::AlwaysQuoteIdentifier(index == nullptr ? std::string(table)
                                                         : Cat(table, ":", index->name)));
}

std::optional<AttributeType> TypeOfColumn(const ColumnDefinition& column) {
  if (column.type.is(CqlType::kText)) return AttributeType::kS;
  if (column.type.is(CqlType::kDecimal)) return AttributeType::kN;
  if (column.type.is(CqlType::kBlob)) return AttributeType::kB;
  return std::nullopt;
}

std::string_view ColumnTypeOf(AttributeType type) {
  switch (type) {
    case AttributeType::kN:
      return "decimal";
    case AttributeType::kB:
      return "blob";
    default:
      return "text";
  }
}

std::string ArnOf(std::string_view table) { return Cat(kArnPrefix, table); }

std::string_view TableOfArn(std::string_view text) {
  constexpr std::string_view kMark = ":table/";
  const size_t at = text.find(kMark);
  if (!text.starts_with("arn:") || at == std::string_view::npos) return text;
  text.remove_prefix(at + kMark.size());
  return text.substr(0, text.find('/'));
}

}  // namespace liststore::dynamodb_face
