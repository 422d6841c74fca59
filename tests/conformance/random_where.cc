// Schemas, the text of statements, and WHERE clauses on keys.
#include <algorithm>

#include "engine/base/utf8.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/types/composite_value.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/random_tuples.h"
#include "tests/conformance/read_model.h"
#include "tests/conformance/time_model.h"

namespace liststore::testing {
namespace {

ModelColumn RandomColumn(Random& random, std::string name, const ModelUserTypes& types) {
  // Types whose encodings differ most are the likeliest.
  constexpr CqlType kUsual[] = {CqlType::kInt, CqlType::kText, CqlType::kBlob, CqlType::kBigint,
                                CqlType::kTimestamp};
  DataType type = kUsual[random.Below(std::size(kUsual))];
  if (random.OneIn(3)) type = PoolTypes()[random.Below(PoolTypes().size())];
  if (random.OneIn(20)) type = DataType::Frozen(types.fixed);
  return {std::move(name), type, random.OneIn(2)};
}

// Of a column that is no key.
void ChooseValueType(Random& random, const ModelUserTypes& types, ModelColumn& column) {
  const std::span<const DataType> collections = ElementPoolTypes();
  const std::span<const DataType> durations = DurationPoolTypes();
  if (random.OneIn(8)) column.type = durations[random.Below(durations.size())];
  if (random.OneIn(4)) column.type = collections[random.Below(collections.size())];
  if (!random.OneIn(6)) return;
  const DataType& user = random.OneIn(3) ? types.fixed : types.altered;
  column.type = random.OneIn(3) ? DataType::Frozen(user) : user;
}

}  // namespace

std::optional<ModelIndex> RandomIndex(Random& random, const ModelSchema& schema) {
  using On = ModelIndex::On;
  ModelIndex index;
  const uint64_t kind = random.Below(5);
  if (kind == 0 && schema.partition_key.size() > 1) {
    index = {On::kPartitionKey, random.Below(schema.partition_key.size()), false};
  } else if (kind == 1 && !schema.clustering.empty()) {
    index = {On::kClustering, random.Below(schema.clustering.size()), random.OneIn(2)};
  } else {
    index = {On::kValue, random.Below(schema.values()), random.OneIn(2)};
    const DataType& type = schema.ValueColumn(index.column).type;
    index.is_local &= !schema.is_static(index.column) && !type.is_multi_cell();
    // A value with fewer fields is another one to an index. While there is a global one none is
    // added to a type.
    index.is_local &= !type.has_fields();
    if (IsAltered(type) || (type.is_multi_cell() && !type.is_collection())) return std::nullopt;
    if (HasDuration(type)) return std::nullopt;
    if (type.is_multi_cell() && type.kind() == DataType::Kind::kMap) {
      const uint64_t part = random.Below(3);
      index.of_keys = part == 1;
      index.of_entries = part == 2;
    }
  }
  return index;
}

ModelColumn RandomValueColumn(Random& random, std::string name, const ModelUserTypes& types) {
  ModelColumn column = RandomColumn(random, std::move(name), types);
  column.descending = false;
  ChooseValueType(random, types, column);
  return column;
}

ModelSchema RandomSchema(Random& random, std::string table, const ModelUserTypes& types) {
  ModelSchema schema;
  schema.table = std::move(table);
  const auto add = [&](std::vector<ModelColumn>& columns, char letter, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      columns.push_back(RandomColumn(random, letter + std::to_string(i), types));
    }
  };
  add(schema.partition_key, 'p', 1 + random.Below(2));
  add(schema.clustering, 'c', random.OneIn(10) ? 0 : 1 + random.Below(3));
  add(schema.regular, 'v', 1 + random.Below(3));
  if (!schema.clustering.empty() && random.OneIn(5)) {
    schema.clustering[random.Below(schema.clustering.size())].type = DataType::Frozen(types.fixed);
  }
  // The shape of which the server reads many at once.
  if (random.OneIn(5)) {
    schema.clustering.resize(std::min<size_t>(schema.clustering.size(), 1));
    schema.regular.resize(1);
    if (!schema.clustering.empty()) schema.clustering[0].type = CqlType::kText;
  }
  if (!schema.clustering.empty() && random.OneIn(2)) add(schema.statics, 's', 1 + random.Below(2));
  for (auto* columns : {&schema.regular, &schema.statics}) {
    for (ModelColumn& column : *columns) ChooseValueType(random, types, column);
  }
  // Of clustering columns alone.
  for (auto* columns : {&schema.partition_key, &schema.statics, &schema.regular}) {
    for (ModelColumn& column : *columns) column.descending = false;
  }
  if (!random.OneIn(4)) schema.index = RandomIndex(random, schema);
  if (random.OneIn(3)) schema.default_ttl_seconds = random.OneIn(2) ? 20 : 1000;
  return schema;
}

std::vector<CqlStatement> DeletionsOfNothing(const ModelSchema& schema) {
  // All keys that statements can name, those without a literal included.
  std::vector<Values> keys = {{}};
  std::string where;
  for (const ModelColumn& column : schema.partition_key) {
    std::vector<Values> longer;
    for (const Values& key : keys) {
      for (const PoolValue& value : PoolOf(column.type)) {
        longer.push_back(key);
        longer.back().push_back(value.bytes);
      }
    }
    keys = std::move(longer);
    where += (where.empty() ? "" : " AND ") + column.name + " = ?";
  }
  std::vector<CqlStatement> deletions;
  for (const Values& key : keys) {
    if (key.size() == 1 && key[0].empty()) continue;
    CqlStatement deletion{
        "DELETE FROM " + schema.table + " USING TIMESTAMP -1000 WHERE " + where, {}, false};
    for (const std::string& component : key) deletion.parameters.push_back({component, false});
    deletions.push_back(std::move(deletion));
  }
  return deletions;
}

const PoolValue& RandomPoolValue(Random& random, const ModelColumn& column) {
  const std::vector<PoolValue>& pool = PoolOf(column.type);
  return pool[random.Below(pool.size())];
}

// ---- StatementText

namespace {

// There is no literal of an empty number.
std::string ShownValue(const PoolValue& value) {
  return value.literal.empty() ? "blobAsInt(0x) /* empty */" : value.literal;
}

}  // namespace

void StatementText::AddTimeCall(const PoolValue& value) {
  constexpr int64_t kMillisPerDay = 86'400'000;
  const bool is_date = value.type == "date";
  const int64_t millis = is_date ? MillisOfDate(value.bytes) : IntOf(value.bytes);
  sent_.text += is_date ? "toDate(" : "toTimestamp(";
  // Any time of the day, and any of the millisecond; before 1970, where Cassandra rounds up, what
  // needs no rounding.
  const bool is_exact = millis < 0;
  sent_.text += is_exact || random_.OneIn(2) ? "minTimeuuid(" : "maxTimeuuid(";
  const int64_t within = is_date && !is_exact ? random_.Between(0, kMillisPerDay - 1) : 0;
  if (Binds()) {
    sent_.text += "?";
    sent_.parameters.push_back({BytesOfInt(millis + within, 8), false});
  } else {
    sent_.text += std::to_string(millis + within);
  }
  sent_.text += "))";
}

void StatementText::AddCall(const PoolValue& value) {
  if ((value.type == "timestamp" || value.type == "date") && random_.OneIn(2)) {
    return AddTimeCall(value);
  }
  // There is no blobAsBlob, but a way there and back.
  const bool is_blob = value.type == "blob";
  sent_.text += is_blob ? "textAsBlob(blobAsText(" : "blobAs" + std::string(value.type) + "(";
  if (Binds()) {
    sent_.text += "?";
    sent_.parameters.push_back({value.bytes, false});
  } else {
    sent_.text += cql::PrintBlob(value.bytes);
  }
  sent_.text += is_blob ? "))" : ")";
}

const std::string& StatementText::ChooseJson(const PoolValue& value) {
  if (has_scylla_json_ && !value.whole_jsons.empty() && random_.OneIn(3)) {
    CountAs(kWholeNumberInJson);
    return value.whole_jsons[random_.Below(value.whole_jsons.size())];
  }
  return value.jsons[random_.Below(value.jsons.size())];
}

void StatementText::AddFromJson(const PoolValue& value) {
  const std::string& json = ChooseJson(value);
  sent_.text += "fromJson(";
  if (Binds()) {
    sent_.text += "?";
    sent_.parameters.push_back({json, false});
  } else {
    sent_.text += cql::QuoteString(json);
  }
  sent_.text += ")";
}

void StatementText::AddValue(const PoolValue& value) {
  shown_ += ShownValue(value);
  if (!value.jsons.empty() && random_.OneIn(12)) return AddFromJson(value);
  // Text alone can hold a blob, if its bytes are UTF-8.
  const bool can_call = !value.type.empty() && (value.type != "blob" || IsValidUtf8(value.bytes));
  if (can_call && random_.OneIn(8)) return AddCall(value);
  if (value.literal.empty() || Binds()) {
    sent_.text += "?";
    sent_.parameters.push_back({value.bytes, false});
  } else {
    sent_.text += value.literal;
  }
}

void StatementText::AddNull() {
  shown_ += "null";
  if (Binds()) {
    sent_.text += "?";
    sent_.parameters.push_back({std::nullopt, false});
  } else {
    sent_.text += "null";
  }
}

void StatementText::AddUnset(std::string_view around) {
  sent_.text += around;
  sent_.text += "?";
  sent_.parameters.push_back({std::nullopt, true});
}

bool StatementText::AddList(const std::vector<PoolValue>& values) {
  if (Binds()) {
    std::string list = BytesOfInt(static_cast<int64_t>(values.size()), 4);
    shown_ += "(";
    for (size_t i = 0; i < values.size(); ++i) {
      list += BytesOfInt(static_cast<int64_t>(values[i].bytes.size()), 4) + values[i].bytes;
      shown_ += (i == 0 ? "" : ", ") + ShownValue(values[i]);
    }
    shown_ += ")";
    sent_.text += "?";
    sent_.parameters.push_back({std::move(list), false});
    return true;
  }
  *this << "(";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) *this << ", ";
    AddValue(values[i]);
  }
  *this << ")";
  return false;
}

bool StatementText::AddTuple(const std::vector<PoolValue>& values) {
  const bool is_bound = Binds() && random_.OneIn(2);
  if (is_bound) {
    std::string tuple;
    for (const PoolValue& value : values) {
      tuple += BytesOfInt(static_cast<int64_t>(value.bytes.size()), 4) + value.bytes;
    }
    sent_.text += "?";
    sent_.parameters.push_back({std::move(tuple), false});
  }
  std::string_view before = "(";
  for (const PoolValue& value : values) {
    if (is_bound) {
      shown_ += std::string(before) + ShownValue(value);
    } else {
      *this << before;
      AddValue(value);
    }
    before = ", ";
  }
  is_bound ? Show(")") : void(*this << ")");
  return is_bound;
}

bool StatementText::AddTuples(const std::vector<std::vector<PoolValue>>& tuples) {
  if (!Binds()) {
    for (const std::vector<PoolValue>& tuple : tuples) {
      *this << (&tuple == &tuples[0] ? "(" : ", ");
      AddTuple(tuple);
    }
    *this << ")";
    return false;
  }
  std::string list = BytesOfInt(static_cast<int64_t>(tuples.size()), 4);
  for (const std::vector<PoolValue>& tuple : tuples) {
    std::string bytes;
    for (const PoolValue& value : tuple) {
      bytes += BytesOfInt(static_cast<int64_t>(value.bytes.size()), 4) + value.bytes;
      shown_ += (&value != &tuple[0] ? ", " : &tuple == &tuples[0] ? "((" : ", (");
      shown_ += ShownValue(value);
    }
    shown_ += ")";
    list += BytesOfInt(static_cast<int64_t>(bytes.size()), 4) + bytes;
  }
  shown_ += ")";
  sent_.text += "?";
  sent_.parameters.push_back({std::move(list), false});
  return true;
}

CqlStatement StatementText::Sent() {
  sent_.prepared = random_.OneIn(2);
  return sent_;
}

// ---- WHERE

namespace {

// Up to three values, maybe twice the same.
std::vector<PoolValue> RandomList(Random& random, const ModelColumn& column, bool empty_key) {
  std::vector<PoolValue> values;
  for (uint64_t left = random.OneIn(12) ? 0 : 1 + random.Below(3); left > 0; --left) {
    const PoolValue& value = RandomPoolValue(random, column);
    if (empty_key || !value.bytes.empty()) values.push_back(value);
  }
  return values;
}

// "c = x" or "c IN (x, y)".
struct Equality {
  bool says_in = false;
  std::vector<PoolValue> values;
};
Equality RandomEquality(Random& random, const ModelColumn& column, bool empty_key) {
  if (random.OneIn(5)) return {true, RandomList(random, column, empty_key)};
  const PoolValue* value = &RandomPoolValue(random, column);
  while (!empty_key && value->bytes.empty()) value = &RandomPoolValue(random, column);
  return {false, {*value}};
}

// How a column is said to equal something, all together.
struct Said {
  // With IN, and not of one value, which is `=`. Source: ScyllaDB cql3/expr/restrictions.cc,
  // validate_and_prepare_new_restriction.
  bool is_in = false;
  bool has_in_of_one = false;
};
void AddEquality(const ModelColumn& column, const Equality& equality, StatementText& text,
                 Said& said) {
  text << column.name << (equality.says_in ? " IN " : " = ");
  if (!equality.says_in) return text.AddValue(equality.values[0]);
  const bool is_bound = text.AddList(equality.values);
  const bool is_equality = !is_bound && equality.values.size() == 1;
  (is_equality ? said.has_in_of_one : said.is_in) = true;
}

bool Has(const std::vector<PoolValue>& values, const PoolValue& value) {
  return std::ranges::find(values, value.bytes, &PoolValue::bytes) != values.end();
}
// Whether they are the same to the type in other bytes: which of them counts is not said.
bool HaveTwins(const DataType& type, const Equality& a, const Equality& b) {
  return std::ranges::any_of(a.values, [&](const PoolValue& x) {
    return std::ranges::any_of(b.values, [&](const PoolValue& y) {
      return x.bytes != y.bytes && CompareValues(type, x.bytes, y.bytes) == 0;
    });
  });
}

// One or two of them, which both hold; the values that pass. Source: ScyllaDB
// cql3/restrictions/statement_restrictions.cc, possible_lhs_values.
std::vector<PoolValue> AddEqualities(Random& random, const ModelColumn& column, bool empty_key,
                                     std::string_view several, StatementText& text, Said& said) {
  Equality one = RandomEquality(random, column, empty_key);
  AddEquality(column, one, text, said);
  if (!random.OneIn(8)) return one.values;
  Equality other = RandomEquality(random, column, empty_key);
  const bool has_values = !one.values.empty() && !other.values.empty();
  if (has_values && random.OneIn(2)) {
    other.values[0] = one.values[random.Below(one.values.size())];
  }
  if (HaveTwins(column.type, one, other)) return one.values;
  text.CountAs(several);
  text << " AND ";
  AddEquality(column, other, text, said);
  std::erase_if(one.values, [&](const PoolValue& value) { return !Has(other.values, value); });
  return one.values;
}

bool OrderHolds(int order, int op) {
  return op == 0 ? order > 0 : op == 1 ? order >= 0 : op == 2 ? order < 0 : order <= 0;
}
constexpr std::string_view kOperators[] = {" > ", " >= ", " < ", " <= "};

// `type` may have got fields since the values were written.
bool IsSameKey(const DataType& type, const std::string& a, const std::string& b) {
  if (a == b) return true;
  return type.kind() == DataType::Kind::kUser && CompareValues(type, a, b) == 0;
}

}  // namespace

int CompareKeys(const ModelSchema& schema, const Values& a, const Values& b) {
  for (size_t i = 0; i < schema.partition_key.size(); ++i) {
    const int order = CompareValues(schema.partition_key[i].type, a[i], b[i]);
    if (order != 0) return order;
    if (a[i] != b[i]) return a[i].compare(b[i]);
  }
  return 0;
}

PartitionChoice AddPartitionWhere(Random& random, const ModelSchema& schema, StatementText& text) {
  PartitionChoice choice;
  choice.keys.emplace_back();
  for (size_t i = 0; i < schema.partition_key.size(); ++i) {
    if (i > 0) text << " AND ";
    Said said;
    const std::vector<PoolValue> values =
        AddEqualities(random, schema.partition_key[i], schema.partition_key.size() > 1,
                      kSeveralOfPartition, text, said);
    choice.is_in |= said.is_in;
    choice.has_in_of_one |= said.has_in_of_one;
    std::vector<Values> longer;
    for (const Values& key : choice.keys) {
      for (const PoolValue& value : values) {
        longer.push_back(key);
        longer.back().push_back(value.bytes);
      }
    }
    choice.keys = std::move(longer);
  }
  std::ranges::sort(
      choice.keys, [&](const Values& a, const Values& b) { return CompareKeys(schema, a, b) < 0; });
  choice.keys.erase(std::unique(choice.keys.begin(), choice.keys.end()), choice.keys.end());
  return choice;
}

TableModel::Predicate AddClusteringWhere(Random& random, const ModelSchema& schema,
                                         ClusteringUse use, std::string_view before,
                                         StatementText& text, std::vector<Values>* keys) {
  const size_t columns = schema.clustering.size();
  if (columns > 0 && random.OneIn(6)) {
    text << before;
    return AddTuples(random, schema, use, text, keys);
  }
  const size_t equal = use == ClusteringUse::kWholeKeys ? columns : random.Below(columns + 1);
  std::vector<TableModel::Predicate> all;
  if (keys != nullptr) *keys = {{}};
  for (size_t i = 0; i < equal; ++i) {
    text << before;
    before = " AND ";
    Said said;
    const std::vector<PoolValue> values =
        AddEqualities(random, schema.clustering[i], true, kSeveralOfClustering, text, said);
    all.push_back([values, i, &schema](const Values& row) {
      return std::ranges::any_of(values, [&](const PoolValue& v) {
        return IsSameKey(schema.clustering[i].type, v.bytes, row[i]);
      });
    });
    if (keys == nullptr) continue;
    std::vector<Values> longer;
    for (const Values& key : *keys) {
      for (const PoolValue& value : values) {
        longer.push_back(key);
        longer.back().push_back(value.bytes);
      }
    }
    *keys = std::move(longer);
  }
  const auto add_slice = [&](size_t i, int op) {
    const PoolValue& value = RandomPoolValue(random, schema.clustering[i]);
    text << before << schema.clustering[i].name << kOperators[op];
    before = " AND ";
    text.AddValue(value);
    all.push_back([=, &schema, bytes = value.bytes](const Values& row) {
      return OrderHolds(CompareValues(schema.clustering[i].type, row[i], bytes), op);
    });
  };
  if (use == ClusteringUse::kWholeKeys) {
    // Of UPDATE, which has no slices.
  } else if (equal > 0 && random.OneIn(8)) {
    // Beside what the last of them equals, which is a slice then for what would stand behind it.
    text.CountAs(kSliceBesideEquality);
    add_slice(equal - 1, static_cast<int>(random.Below(std::size(kOperators))));
  } else if (equal < columns) {
    if (random.OneIn(2)) add_slice(equal, static_cast<int>(random.Below(2)));
    if (random.OneIn(2)) add_slice(equal, 2 + static_cast<int>(random.Below(2)));
    if (random.OneIn(8)) {
      text.CountAs(kSlicesOfOneColumn);
      add_slice(equal, static_cast<int>(random.Below(2)));
      add_slice(equal, static_cast<int>(random.Below(2)));
    }
  }
  return [all](const Values& row) {
    return std::ranges::all_of(all, [&](const TableModel::Predicate& p) { return p(row); });
  };
}

}  // namespace liststore::testing
