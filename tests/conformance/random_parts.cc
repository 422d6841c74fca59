#include "tests/conformance/random_parts.h"

#include <cstdint>
#include <string>

namespace liststore::testing {
namespace {

using Kind = DataType::Kind;

// A set of the column's elements or keys.
std::string AddKeys(Random& random, const ModelColumn& column, StatementText& text) {
  if (column.type.kind() == Kind::kSet) {
    const PoolValue& value = RandomPoolValue(random, column);
    text.AddValue(value);
    return value.bytes;
  }
  const int64_t key = random.Between(-1, 2);
  const std::string bytes = BytesOfInt(1, 4) + BytesOfInt(4, 4) + BytesOfInt(key, 4);
  text.AddValue({bytes, "{" + std::to_string(key) + "}"});
  return bytes;
}

// c[k], of a set or map; the element or key.
std::string AddElement(const ModelColumn& column, StatementText& text) {
  text << column.name << "[";
  PoolValue key{BytesOfInt(1, 4), "1"};
  if (column.type.kind() == Kind::kSet) key = {"a", "'a'"};
  text.AddValue(key);
  text << "]";
  return key.bytes;
}

// c.f; the number of the field.
size_t AddField(Random& random, const ModelColumn& column, StatementText& text) {
  const size_t field = random.Below(column.type.parameters().size());
  text << column.name << "." << column.type.user().fields[field];
  return field;
}

// " = v", maybe null.
void AddItsValue(Random& random, const DataType& type, StatementText& text, ModelPart& part) {
  text << " = ";
  if (random.OneIn(3)) return text.AddNull();
  const PoolValue* value = nullptr;
  do {
    value = &RandomPoolValue(random, {"", type});
  } while (value->literal.empty());  // a number of no bytes has no JSON
  text.AddValue(*value);
  part.value = value->bytes;
}

}  // namespace

ModelPart AddAssignedPart(Random& random, const ModelSchema& schema, size_t i, bool may_prepend,
                          StatementText& text) {
  const ModelColumn& column = schema.ValueColumn(i);
  const Kind kind = column.type.kind();
  ModelPart part{.column = i};
  if (kind == Kind::kUser) {
    part.kind = ModelPart::Kind::kSetField;
    part.index = AddField(random, column, text);
    AddItsValue(random, column.type.parameters()[part.index], text, part);
  } else if (kind == Kind::kMap && random.OneIn(3)) {
    part.kind = ModelPart::Kind::kSet;
    part.key = AddElement(column, text);
    AddItsValue(random, column.type.parameters()[1], text, part);
  } else if (kind == Kind::kList && random.OneIn(2) && may_prepend) {
    part.kind = ModelPart::Kind::kPrepend;
    const PoolValue& value = RandomPoolValue(random, column);
    text << column.name << " = ";
    text.AddValue(value);
    text << " + " << column.name;
    part.value = value.bytes;
  } else if (kind != Kind::kList && random.OneIn(2)) {
    part.kind = ModelPart::Kind::kRemove;
    text << column.name << " = " << column.name << " - ";
    part.value = AddKeys(random, column, text);
  } else {
    const PoolValue& value = RandomPoolValue(random, column);
    text << column.name << " = " << column.name << " + ";
    text.AddValue(value);
    part.value = value.bytes;
  }
  return part;
}

ModelPart AddDeletedPart(Random& random, const ModelSchema& schema, size_t i, StatementText& text) {
  const ModelColumn& column = schema.ValueColumn(i);
  if (column.type.kind() == Kind::kUser) {
    return {
        .column = i, .kind = ModelPart::Kind::kSetField, .index = AddField(random, column, text)};
  }
  return {.column = i, .kind = ModelPart::Kind::kSet, .key = AddElement(column, text)};
}

}  // namespace liststore::testing
