#include "engine/faces/dynamodb/table_writer.h"

#include <utility>
#include <vector>

#include "engine/faces/dynamodb/operation.h"

namespace liststore::dynamodb_face {
namespace {

std::string KeySchemaJson(const KeySchema& keys) {
  std::string out = "[{\"AttributeName\":";
  dynamodb::AppendJsonString(keys.hash.name, out);
  out += ",\"KeyType\":\"HASH\"}";
  if (keys.sort) {
    out += ",{\"AttributeName\":";
    dynamodb::AppendJsonString(keys.sort->name, out);
    out += ",\"KeyType\":\"RANGE\"}";
  }
  return out + "]";
}

std::string ThroughputJson(const Throughput& throughput) {
  return Cat("{\"NumberOfDecreasesToday\":0,\"ReadCapacityUnits\":", throughput.reads,
             ",\"WriteCapacityUnits\":", throughput.writes, "}");
}

std::string ProjectionJson(const IndexShape& index) {
  switch (index.projects) {
    case IndexShape::Projects::kAll:
      return R"({"ProjectionType":"ALL"})";
    case IndexShape::Projects::kKeysOnly:
      return R"({"ProjectionType":"KEYS_ONLY"})";
    case IndexShape::Projects::kInclude:
      break;
  }
  std::string out = R"({"ProjectionType":"INCLUDE","NonKeyAttributes":[)";
  const char* comma = "";
  for (const std::string& name : index.included) {
    out += std::exchange(comma, ",");
    dynamodb::AppendJsonString(name, out);
  }
  return out + "]}";
}

std::string IndexJson(const TableShape& shape, const IndexShape& index) {
  ObjectWriter out;
  dynamodb::AppendJsonString(index.name, out.Member("IndexName"));
  out.Member("KeySchema") += KeySchemaJson(index.keys);
  out.Member("Projection") += ProjectionJson(index);
  out.Member("IndexSizeBytes") += "0";
  out.Member("ItemCount") += "0";
  AppendTo(out.Member("IndexArn"), "\"", ArnOf(shape.name), "/index/", index.name, "\"");
  if (index.is_global) {
    out.Member("IndexStatus") += "\"ACTIVE\"";
    out.Member("ProvisionedThroughput") += ThroughputJson(index.throughput);
  }
  return out.Take();
}

std::string DefinitionsJson(const TableShape& shape) {
  std::vector<KeyAttribute> attributes = shape.KeyAttributesOf(nullptr);
  for (const IndexShape& index : shape.notes.indexes) {
    for (const KeyAttribute& attribute : shape.KeyAttributesOf(&index)) {
      if (std::find(attributes.begin(), attributes.end(), attribute) == attributes.end()) {
        attributes.push_back(attribute);
      }
    }
  }
  std::string out = "[";
  for (const KeyAttribute& attribute : attributes) {
    out += out.size() == 1 ? "{\"AttributeName\":" : ",{\"AttributeName\":";
    dynamodb::AppendJsonString(attribute.name, out);
    AppendTo(out, ",\"AttributeType\":\"", dynamodb::NameOf(attribute.type), "\"}");
  }
  return out + "]";
}

std::string MillisText(int64_t millis) {
  const std::string rest = std::to_string(millis % 1000 + 1000).substr(1);
  return Cat(millis / 1000, ".", rest);
}

}  // namespace

std::string DescriptionOf(const TableShape& shape, std::string_view status) {
  const TableNotes& notes = shape.notes;
  ObjectWriter out;
  out.Member("AttributeDefinitions") += DefinitionsJson(shape);
  AppendTo(out.Member("TableName"), "\"", shape.name, "\"");
  out.Member("KeySchema") += KeySchemaJson(shape.keys);
  AppendTo(out.Member("TableStatus"), "\"", status, "\"");
  out.Member("CreationDateTime") += MillisText(notes.created_millis);
  out.Member("ProvisionedThroughput") += ThroughputJson(notes.throughput);
  out.Member("TableSizeBytes") += "0";
  out.Member("ItemCount") += "0";
  AppendTo(out.Member("TableArn"), "\"", ArnOf(shape.name), "\"");
  AppendTo(out.Member("TableId"), "\"", shape.table->id.ToString(), "\"");
  if (notes.pays_per_request) {
    out.Member("BillingModeSummary") += R"({"BillingMode":"PAY_PER_REQUEST"})";
  }
  if (!notes.table_class.empty()) {
    AppendTo(out.Member("TableClassSummary"), "{\"TableClass\":\"", notes.table_class, "\"}");
  }
  out.Member("DeletionProtectionEnabled") += notes.is_protected ? "true" : "false";
  for (const bool is_global : {false, true}) {
    std::string indexes;
    for (const IndexShape& index : notes.indexes) {
      if (index.is_global != is_global) continue;
      AppendTo(indexes, indexes.empty() ? "" : ",", IndexJson(shape, index));
    }
    if (indexes.empty()) continue;
    AppendTo(out.Member(is_global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes"), "[",
             indexes, "]");
  }
  return out.Take();
}

}  // namespace liststore::dynamodb_face
