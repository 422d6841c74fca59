// SELECT, and what it must answer.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/cql/encode_json.h"
#include "engine/model/composite_value.h"
#include "engine/model/token.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/read_model.h"

namespace liststore::testing {
namespace {

std::optional<std::string> ClusteringValue(const LiveRow& row, size_t column) {
  return row.is_static_alone ? std::nullopt : std::optional(row.clustering[column]);
}

std::optional<std::string> CellValue(const LiveRow& row, size_t column) {
  return row.cells[column] ? std::optional(row.cells[column]->value) : std::nullopt;
}

class ReadMaker {
 public:
  ReadMaker(Random& random, const TableModel& model, bool with_write_times)
      : random_(random),
        model_(model),
        schema_(model.schema()),
        with_write_times_(with_write_times),
        text_(random) {}

  RandomRead Make() {
    text_ << "SELECT ";
    switch (random_.Below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Partitions();
      case 4:
        return schema_.index ? Indexed() : Partitions();
      case 5:
      case 6:
        return Filtered();
      case 7:
        return Distinct();
      default:
        return Scan();
    }
  }

  RandomRead Everything() {
    text_ << "SELECT ";
    AddSelectors(true);
    AddFrom();
    return Finish();
  }

 private:
  // ---- Kinds

  RandomRead Partitions() {
    AddSelection();
    AddFrom();
    text_ << " WHERE ";
    const bool several = WherePartition();
    if (!random_.OneIn(4)) WhereClustering(" AND ");
    AddGroups();
    // The groups of several partitions are not merged, and where among rows of several partitions
    // one without a key belongs is not for the order to say.
    const bool is_merged = several && (shape_.grouped || has_first_ || !schema_.statics.empty());
    if (!schema_.clustering.empty() && !is_merged && random_.OneIn(2)) AddOrder(several);
    AddLimits();
    return Finish();
  }

  RandomRead Indexed() {
    AddSelection();
    AddFrom();
    text_ << " WHERE ";
    using On = ModelIndex::On;
    const ModelIndex index = *schema_.index;
    bool filters = random_.OneIn(3);
    if (index.is_local || (index.on != On::kPartitionKey && random_.OneIn(3))) {
      AddWholeKey();
      text_ << " AND ";
    } else if (index.on != On::kPartitionKey && random_.OneIn(4)) {
      WhereToken("");
      text_ << " AND ";
    }
    const size_t i = index.column;
    switch (index.on) {
      case On::kPartitionKey:
        AddIndexed([i](const LiveRow& row, const AnswerRules&) {
          return std::optional(row.partition[i]);
        });
        break;
      case On::kClustering:
        shape_.of_rows = true;
        AddIndexed([i](const LiveRow& row, const AnswerRules&) { return ClusteringValue(row, i); });
        filters = false;  // the column may be restricted once
        break;
      case On::kValue:
        shape_.of_rows = !schema_.is_static(i);
        const auto value = [i](const LiveRow& row, const AnswerRules&) {
          return CellValue(row, i);
        };
        if (schema_.ValueColumn(i).type.is_multi_cell()) {
          AddParts(index, value);
        } else {
          AddIndexed(value);
        }
    }
    if (filters) WhereClustering(" AND ");
    AddLimits();
    if (filters) text_ << " ALLOW FILTERING";
    return Finish();
  }
  // `value`: of a row.
  template <typename Value>
  void AddIndexed(const Value& value) {
    const ModelColumn& column = schema_.IndexedColumn();
    const PoolValue& wanted = RandomPoolValue(random_, column);
    text_ << column.name << " = ";
    text_.AddValue(wanted);
    shape_.conditions.push_back(
        [=, bytes = wanted.bytes](const LiveRow& row, const AnswerRules& rules) {
          return value(row, rules) == bytes;
        });
  }

  RandomRead Scan() {
    AddSelection();
    AddFrom();
    std::string_view before = " WHERE ";
    if (random_.OneIn(2)) before = WhereToken(before);
    if (random_.OneIn(4)) WhereClustering(before);
    AddGroups();
    AddLimits();
    // Behind an index on a clustering column others would be filters.
    const bool may_filter = schema_.index && schema_.index->on == ModelIndex::On::kClustering;
    if (may_filter || random_.OneIn(8)) text_ << " ALLOW FILTERING";
    return Finish();
  }

  RandomRead Distinct() {
    shape_.distinct = true;
    text_ << "DISTINCT ";
    for (size_t i = 0; i < schema_.partition_key.size(); ++i) {
      text_ << (i == 0 ? "" : ", ") << schema_.partition_key[i].name;
      AddSelector([i](const LiveRow& row, int64_t) { return std::optional(row.partition[i]); });
    }
    for (size_t i = schema_.regular.size(); i < schema_.values(); ++i) {
      if (random_.OneIn(2)) {
        AddColumn(i, [&](const std::string& column) { text_ << ", " << column; });
      }
    }
    AddFrom();
    if (random_.OneIn(3)) {
      WhereToken(" WHERE ");
    } else if (random_.OneIn(3)) {
      text_ << " WHERE ";
      WherePartition();
    }
    if (random_.OneIn(3)) AddLimit();
    return Finish();
  }

  RandomRead Filtered() {
    AddSelection();
    AddFrom();
    std::string_view before = " WHERE ";
    const uint64_t start = random_.Below(4);
    if (start == 0) {
      text_ << before;
      WherePartition();
      before = " AND ";
    } else if (start == 1) {
      before = WhereToken(before);
    }
    for (uint64_t left = 1 + random_.Below(3); left > 0; --left) {
      const uint64_t kind = random_.Below(3);
      if (kind == 0 && start >= 2) {
        const size_t i = random_.Below(schema_.partition_key.size());
        shape_.is_in = true;  // where it is IN, and names partitions
        AddFilter(before, schema_.partition_key[i], [i](const LiveRow& row, const AnswerRules&) {
          return std::optional(row.partition[i]);
        });
      } else if (kind == 1 && !schema_.clustering.empty()) {
        const size_t i = random_.Below(schema_.clustering.size());
        AddFilter(before, schema_.clustering[i],
                  [i](const LiveRow& row, const AnswerRules&) { return ClusteringValue(row, i); });
      } else {
        const size_t i = random_.Below(schema_.values());
        // One of several cells is not restricted, and the language has no fields in WHERE.
        const DataType& type = schema_.ValueColumn(i).type;
        if (type.is_multi_cell() && !type.is_collection()) continue;
        AddFilter(before, schema_.ValueColumn(i),
                  [i](const LiveRow& row, const AnswerRules& rules) {
                    const bool is_empty = rules.deleted_statics_are_empty && row.deleted_statics[i];
                    return is_empty ? std::optional<std::string>("") : CellValue(row, i);
                  });
      }
      before = " AND ";
    }
    AddGroups();
    AddLimits();
    text_ << " ALLOW FILTERING";
    return Finish();
  }

  // ---- Selectors

  template <typename Value>
  void AddSelector(Value value, Aggregate aggregate = Aggregate::kFirst,
                   DataType type = CqlType::kBlob) {
    shape_.selectors.push_back({std::move(value), aggregate, std::move(type)});
  }

  void AddSelection() {
    if (random_.OneIn(6)) {
      AddAggregates();
    } else if (random_.OneIn(5)) {
      AddJson();
    } else if (random_.OneIn(3)) {
      text_ << "*";
      AddColumns([](const std::string&) {});
    } else {
      AddSelectors(false);
    }
  }

  // JSON of the columns whose values have some; of a regular one at least, for static columns alone
  // are another kind of SELECT.
  void AddJson() {
    const auto has_json = [](const ModelColumn& column) { return HaveJson(column.type); };
    if (std::ranges::none_of(schema_.regular, has_json)) return AddSelectors(false);
    std::vector<std::string> names;
    AddColumns([&](const std::string& name) { names.push_back(name); });
    struct Member {
      std::string name;
      DataType type = CqlType::kInt;
      Selector selector;
    };
    std::vector<Member> members;
    for (size_t i = 0; i < names.size(); ++i) {
      const DataType& type = schema_.TypeOf(names[i]);
      if (HaveJson(type)) members.push_back({names[i], type, shape_.selectors[i]});
    }
    text_ << "JSON ";
    for (const Member& member : members) {
      text_ << (&member == &members[0] ? "" : ", ") << member.name;
    }
    shape_.selectors.clear();
    AddSelector([members](const LiveRow& row, int64_t now) -> std::optional<std::string> {
      std::string json = "{";
      for (const Member& member : members) {
        const std::optional<std::string> value = member.selector.value(row, now);
        json += (json.size() == 1 ? "\"" : ", \"") + member.name +
                "\": " + (value ? *EncodeJson(member.type, *value) : "null");
      }
      return json + "}";
    });
  }

  template <typename Name>
  void AddColumns(const Name& name) {
    for (size_t i = 0; i < schema_.partition_key.size(); ++i) {
      name(schema_.partition_key[i].name);
      AddSelector([i](const LiveRow& row, int64_t) { return std::optional(row.partition[i]); });
    }
    for (size_t i = 0; i < schema_.clustering.size(); ++i) {
      name(schema_.clustering[i].name);
      AddSelector([i](const LiveRow& row, int64_t) { return ClusteringValue(row, i); });
    }
    for (size_t i = 0; i < schema_.statics.size(); ++i) {
      AddColumn(schema_.regular.size() + i, name);
    }
    for (size_t i = 0; i < schema_.regular.size(); ++i) AddColumn(i, name);
  }
  template <typename Name>
  void AddColumn(size_t value, Name&& name) {
    name(schema_.ValueColumn(value).name);
    AddSelector([value](const LiveRow& row, int64_t) { return CellValue(row, value); });
  }

  // Keys, values, their times and the token; `all`, or some of them.
  void AddSelectors(bool all) {
    const auto name = [&, first = true](const std::string& text) mutable {
      text_ << (std::exchange(first, false) ? "" : ", ") << text;
    };
    auto say = name;
    if (all || random_.OneIn(2)) AddColumns([&](const std::string& column) { say(column); });
    for (size_t i = 0; i < schema_.values(); ++i) {
      // A static column alone would be another kind of SELECT.
      if (schema_.is_static(i) && shape_.selectors.empty()) AddColumn(0, say);
      const std::string& column = schema_.ValueColumn(i).name;
      const DataType& type = schema_.ValueColumn(i).type;
      if (type.is_multi_cell() || type.kind() == DataType::Kind::kUser) {
        if (!shape_.selectors.empty() && random_.OneIn(3)) AddElement(i, say);
      }
      if (type.is_multi_cell()) continue;
      if (all || random_.OneIn(2)) {
        say("ttl(" + column + ")");
        AddSelector([i](const LiveRow& row, int64_t now) -> std::optional<std::string> {
          const std::optional<ModelCell>& cell = row.cells[i];
          if (!cell || cell->ttl_seconds == 0) return std::nullopt;
          return BytesOfInt(cell->expiry_seconds - now, 4);
        });
      }
      if (with_write_times_ && (all || random_.OneIn(2))) {
        say("writetime(" + column + ")");
        AddSelector([i](const LiveRow& row, int64_t) -> std::optional<std::string> {
          if (!row.cells[i]) return std::nullopt;
          return BytesOfInt(row.cells[i]->timestamp, 8);
        });
      }
    }
    for (size_t i = 0; i < schema_.regular.size(); ++i) {
      const ModelColumn& column = schema_.regular[i];
      if (random_.OneIn(4)) AddConversion(i, say);
      if (!column.type.is_native() || column.type.is(CqlType::kBlob)) continue;
      if (column.type.is(CqlType::kCounter)) continue;
      if (!random_.OneIn(3)) continue;
      const std::string type(CqlTypeName(column.type.native()));
      const std::string bytes = type + "AsBlob(" + column.name + ")";
      say(random_.OneIn(2) ? bytes : "blobAs" + type + "(" + bytes + ")");
      AddSelector([i](const LiveRow& row, int64_t) { return CellValue(row, i); });
    }
    if (!shape_.selectors.empty() && !random_.OneIn(3)) return;
    say("token(" + KeyNames() + ")");
    AddSelector(
        [](const LiveRow& row, int64_t) { return std::optional(BytesOfInt(row.token, 8)); });
  }

  // c[k], of a list or map, or c.f.
  template <typename Say>
  void AddElement(size_t i, Say& say) {
    const ModelColumn& column = schema_.ValueColumn(i);
    if (column.type.kind() == DataType::Kind::kUser) return AddField(i, say);
    if (column.type.kind() == DataType::Kind::kSet) return;
    const int64_t key = random_.Between(-1, 2);
    say(column.name + "[");
    text_.AddNumber(key, 4);
    text_ << "]";
    AddSelector([i, type = column.type, key = BytesOfInt(key, 4)](
                    const LiveRow& row, int64_t) -> std::optional<std::string> {
      const std::optional<std::string> value = CellValue(row, i);
      if (!value) return std::nullopt;
      const auto element = ElementAt(type, *value, key);
      return element ? std::optional(std::string(*element)) : std::nullopt;
    });
  }

  template <typename Say>
  void AddField(size_t i, Say& say) {
    const ModelColumn& column = schema_.ValueColumn(i);
    const size_t field = random_.Below(column.type.parameters().size());
    say(column.name + "." + column.type.user().fields[field]);
    AddSelector(
        [i, type = column.type, field](const LiveRow& row, int64_t) -> std::optional<std::string> {
          const std::optional<std::string> value = CellValue(row, i);
          if (!value) return std::nullopt;
          const auto found = SplitTuple(type, *value)->at(field);
          return found ? std::optional(std::string(*found)) : std::nullopt;
        });
  }

  // Of rows, of values, or with the key of the first row.
  void AddAggregates() {
    shape_.aggregates = true;
    text_ << "count(*)";
    AddSelector([](const LiveRow&, int64_t) { return std::optional<std::string>(""); },
                Aggregate::kCount);
    for (uint64_t left = random_.Below(3); left > 0; --left) {
      const size_t i = random_.Below(schema_.values());
      // As in AddSelectors: not a static column alone.
      if (schema_.is_static(i)) AddAggregate(random_.Below(schema_.regular.size()));
      AddAggregate(i);
    }
    if (!random_.OneIn(4)) return;
    has_first_ = true;
    text_ << ", " << schema_.partition_key[0].name;
    AddSelector([](const LiveRow& row, int64_t) { return std::optional(row.partition[0]); });
  }

  // Of value `i`.
  void AddAggregate(size_t i) {
    const ModelColumn& column = schema_.ValueColumn(i);
    const auto value = [i](const LiveRow& row, int64_t) { return CellValue(row, i); };
    if (IsSmall(column.type) && random_.OneIn(2)) {
      // As a varint, for the sum need not fit into the column's type.
      const bool divides = random_.OneIn(2);
      text_ << (divides ? ", avg(CAST(" : ", sum(CAST(") << column.name << " AS varint))";
      return AddSelector(
          [i](const LiveRow& row, int64_t) -> std::optional<std::string> {
            const std::optional<std::string> number = CellValue(row, i);
            // A number of no bytes is none.
            if (!number || number->empty()) return std::nullopt;
            return VarintOf(IntOf(*number));
          },
          divides ? Aggregate::kAvg : Aggregate::kSum);
    }
    if (column.type.is_native() && random_.OneIn(2)) {
      const bool is_max = random_.OneIn(2);
      text_ << (is_max ? ", max(" : ", min(") << column.name << ")";
      return AddSelector(value, is_max ? Aggregate::kMax : Aggregate::kMin, column.type);
    }
    const bool converts = column.type.is(CqlType::kInt) && random_.OneIn(2);
    text_ << (converts ? ", count(CAST(" : ", count(") << column.name
          << (converts ? " AS text))" : ")");
    AddSelector(
        [i, converts](const LiveRow& row, int64_t) {
          const std::optional<std::string> counted = CellValue(row, i);
          // A number of no bytes has no text.
          return converts && counted && counted->empty() ? std::nullopt : counted;
        },
        Aggregate::kCount);
  }

  // A whole number, of which many can be added up.
  static bool IsSmall(const DataType& type) {
    constexpr CqlType kSmall[] = {CqlType::kInt, CqlType::kSmallint, CqlType::kTinyint};
    return std::ranges::any_of(kSmall, [&](CqlType small) { return type.is(small); });
  }

  // A value of another type: CAST(c AS type), and functions of times.
  template <typename Say>
  void AddConversion(size_t i, Say& say) {
    const ModelColumn& column = schema_.ValueColumn(i);
    const auto add = [&](const std::string& text, auto convert) {
      say(text);
      AddSelector([i, convert](const LiveRow& row, int64_t) -> std::optional<std::string> {
        const std::optional<std::string> value = CellValue(row, i);
        // A number of no bytes is none.
        if (!value || value->empty()) return std::nullopt;
        return convert(IntOf(*value));
      });
    };
    if (IsSmall(column.type) || column.type.is(CqlType::kBigint)) {
      if (random_.OneIn(2)) {
        return add("CAST(" + column.name + " AS text)",
                   [](int64_t value) { return std::to_string(value); });
      }
      return add("CAST(" + column.name + " AS varint)", VarintOf);
    }
    if (!column.type.is(CqlType::kTimestamp)) return;
    if (random_.OneIn(2)) {
      return add("toUnixTimestamp(" + column.name + ")",
                 [](int64_t millis) { return BytesOfInt(millis, 8); });
    }
    add("toDate(" + column.name + ")", [](int64_t millis) {
      constexpr int64_t kDay = 86'400'000;
      const int64_t days = millis / kDay - (millis % kDay < 0 ? 1 : 0);
      return BytesOfInt(days + (int64_t{1} << 31), 4);
    });
  }

  std::string KeyNames() const {
    std::string names;
    for (const ModelColumn& column : schema_.partition_key) {
      names += (names.empty() ? "" : ", ") + column.name;
    }
    return names;
  }

  // ---- Clauses

  void AddFrom() { text_ << " FROM " << schema_.table; }

  // True: several partitions were named.
  bool WherePartition() {
    const PartitionChoice choice = AddPartitionWhere(random_, schema_, text_);
    shape_.is_in = choice.is_in;
    shape_.conditions.push_back([keys = choice.keys](const LiveRow& row, const AnswerRules&) {
      return std::ranges::find(keys, row.partition) != keys.end();
    });
    return choice.keys.size() > 1;
  }

  void AddWholeKey() {
    Values key;
    for (const ModelColumn& column : schema_.partition_key) {
      const PoolValue& value = RandomPoolValue(random_, column);
      text_ << (key.empty() ? "" : " AND ") << column.name << " = ";
      text_.AddValue(value);
      key.push_back(value.bytes);
    }
    shape_.conditions.push_back(
        [key](const LiveRow& row, const AnswerRules&) { return row.partition == key; });
  }

  void WhereClustering(std::string_view before) {
    const size_t without = text_.shown().size();
    const TableModel::Predicate holds =
        AddClusteringWhere(random_, schema_, ClusteringUse::kRead, before, text_);
    shape_.of_rows |= text_.shown().size() != without;
    shape_.conditions.push_back([holds](const LiveRow& row, const AnswerRules&) {
      return row.is_static_alone || holds(row.clustering);
    });
  }

  std::string_view WhereToken(std::string_view before) {
    const auto add = [&](bool is_lower) {
      const bool inclusive = random_.OneIn(2);
      int64_t token = RandomToken();
      text_ << before << "token(" << KeyNames() << ")" << (is_lower ? " >" : " <")
            << (inclusive ? "= " : " ");
      before = " AND ";
      text_.AddNumber(token, 8);
      shape_.conditions.push_back([=](const LiveRow& row, const AnswerRules& rules) {
        // The smallest token, which no key has, stands for an end of the ring.
        const bool is_end = token == std::numeric_limits<int64_t>::min();
        if (is_end && (!is_lower || rules.empty_keys_first)) return true;
        if (row.token == token) return inclusive;
        return is_lower ? row.token > token : row.token < token;
      });
    };
    const uint64_t kind = random_.Below(3);
    if (kind != 0) add(true);
    if (kind != 1) add(false);
    return before;
  }

  // Of a partition that may be there as a rule.
  int64_t RandomToken() {
    switch (random_.Below(8)) {
      case 0:
        return std::numeric_limits<int64_t>::min();
      case 1:
        return std::numeric_limits<int64_t>::max();
      case 2:
        return static_cast<int64_t>(random_.Next());
      default:
        break;
    }
    Values key;
    for (const ModelColumn& column : schema_.partition_key) {
      key.push_back(RandomPoolValue(random_, column).bytes);
    }
    return TokenOf(SerializedKey(key)).value;
  }

  // `value`: of a row.
  template <typename Value>
  void AddFilter(std::string_view before, const ModelColumn& column, const Value& value) {
    if (column.type.is_multi_cell()) return AddContains(before, column, value);
    text_ << before << column.name;
    if (random_.OneIn(5)) {
      std::vector<PoolValue> list;
      for (uint64_t left = random_.Below(4); left > 0; --left) {
        list.push_back(RandomPoolValue(random_, column));
      }
      text_ << " IN ";
      const bool is_bound = text_.AddList(list);
      shape_.conditions.push_back(
          [=, type = column.type](const LiveRow& row, const AnswerRules& rules) {
            const auto is_empty = [](const PoolValue& v) { return v.literal.empty(); };
            if (is_bound && rules.bound_empties_spoil && std::ranges::any_of(list, is_empty)) {
              return false;
            }
            const bool ends = is_bound && rules.bound_empties_end;
            const auto end = ends ? std::ranges::find_if(list, is_empty) : list.end();
            return std::any_of(list.begin(), end, [&](const PoolValue& v) {
              const bool is_null = is_bound && rules.bound_empties_are_null && v.literal.empty();
              const std::optional<std::string> found = value(row, rules);
              return !is_null && found && CompareValues(type, *found, v.bytes) == 0;
            });
          });
      return;
    }
    constexpr std::string_view kOperators[] = {" = ", " < ", " <= ", " > ", " >= "};
    const size_t op = random_.Below(std::size(kOperators));
    text_ << kOperators[op];
    const PoolValue& other = RandomPoolValue(random_, column);
    text_.AddValue(other);
    shape_.conditions.push_back(
        [=, type = column.type, bytes = other.bytes](const LiveRow& row, const AnswerRules& rules) {
          const std::optional<std::string> found = value(row, rules);
          if (!found) return false;
          const int order = CompareValues(type, *found, bytes);
          return op == 0   ? order == 0
                 : op == 1 ? order < 0
                 : op == 2 ? order <= 0
                 : op == 3 ? order > 0
                           : order >= 0;
        });
  }

  // CONTAINS: what a collection of several cells is asked for.
  template <typename Value>
  void AddContains(std::string_view before, const ModelColumn& column, const Value& value) {
    text_ << before << column.name << " CONTAINS ";
    AddPart(column, column.type.parameters().size() - 1, value);
  }
  // A value that some of the collection's parts with this number, of each element, equal.
  template <typename Value>
  void AddPart(const ModelColumn& column, size_t number, const Value& value) {
    const DataType& type = column.type;
    const PoolValue& wanted = RandomPoolValue(random_, {"", type.parameters()[number], false});
    text_.AddValue(wanted);
    shape_.conditions.push_back(
        [=, bytes = wanted.bytes](const LiveRow& row, const AnswerRules& rules) {
          const std::optional<std::string> found = value(row, rules);
          if (!found) return false;
          const auto parts = SplitCollection(type, *found);
          for (size_t i = number; i < parts->size(); i += type.parameters().size()) {
            if ((*parts)[i] == bytes) return true;
          }
          return false;
        });
  }
  // What the index on a collection answers.
  template <typename Value>
  void AddParts(const ModelIndex& index, const Value& value) {
    const ModelColumn& column = schema_.IndexedColumn();
    if (index.of_keys) {
      text_ << column.name << " CONTAINS KEY ";
      return AddPart(column, 0, value);
    }
    if (!index.of_entries) return AddContains("", column, value);
    const DataType& type = column.type;
    const PoolValue& key = RandomPoolValue(random_, {"", type.parameters()[0], false});
    const PoolValue& wanted = RandomPoolValue(random_, {"", type.parameters()[1], false});
    text_ << column.name << "[";
    text_.AddValue(key);
    text_ << "] = ";
    text_.AddValue(wanted);
    shape_.conditions.push_back(
        [=, key = key.bytes, bytes = wanted.bytes](const LiveRow& row, const AnswerRules& rules) {
          const std::optional<std::string> found = value(row, rules);
          if (!found) return false;
          const auto element = ElementAt(type, *found, key);
          return element && *element == bytes;
        });
  }

  void AddOrder(bool several) {
    shape_.reversed = random_.OneIn(2);
    // Of several partitions all columns: what else would order rows that are equal so far?
    const size_t columns =
        several ? schema_.clustering.size() : 1 + random_.Below(schema_.clustering.size());
    text_ << " ORDER BY ";
    for (size_t i = 0; i < columns; ++i) {
      const bool descending = schema_.clustering[i].descending != shape_.reversed;
      text_ << (i == 0 ? "" : ", ") << schema_.clustering[i].name
            << (descending ? " DESC" : " ASC");
    }
    shape_.merged = several;
  }

  void AddGroups() {
    if (!random_.OneIn(5)) return;
    shape_.grouped = random_.Below(schema_.clustering.size() + 1);
    text_ << " GROUP BY " << KeyNames();
    for (size_t i = 0; i < *shape_.grouped; ++i) text_ << ", " << schema_.clustering[i].name;
  }

  void AddLimits() {
    if ((!shape_.aggregates || shape_.grouped) && random_.OneIn(4)) {
      shape_.per_partition_limit = random_.Between(1, 4);
      text_ << " PER PARTITION LIMIT ";
      text_.AddNumber(*shape_.per_partition_limit, 4);
    }
    if (random_.OneIn(3)) AddLimit();
  }
  void AddLimit() {
    shape_.limit = random_.Between(1, random_.OneIn(2) ? 4 : 40);
    text_ << " LIMIT ";
    text_.AddNumber(*shape_.limit, 4);
  }

  RandomRead Finish() {
    return {text_.Sent(), text_.shown(), !shape_.merged && !shape_.grouped,
            [this_model = &model_, shape = shape_](int64_t now_seconds, const AnswerRules& rules) {
              return Evaluate(*this_model, shape, now_seconds, rules);
            }};
  }

  Random& random_;
  const TableModel& model_;
  const ModelSchema& schema_;
  bool with_write_times_;
  StatementText text_;
  ReadShape shape_;
  bool has_first_ = false;  // an aggregate's answer has a value of its first row
};

}  // namespace

RandomRead MakeRandomRead(Random& random, const TableModel& model, bool with_write_times) {
  return ReadMaker(random, model, with_write_times).Make();
}

RandomRead ReadEverything(Random& random, const TableModel& model, bool with_write_times) {
  return ReadMaker(random, model, with_write_times).Everything();
}

}  // namespace liststore::testing
