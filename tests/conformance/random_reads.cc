// SELECT, and what it must answer; PagedRead.
#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/model/token.h"
#include "engine/model/types/composite_value.h"
#include "tests/conformance/paged_read.h"
#include "tests/conformance/random_filters.h"
#include "tests/conformance/random_selection.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/read_model.h"
#include "tests/conformance/value_pool.h"

namespace liststore::testing {
namespace {

class ReadMaker {
 public:
  ReadMaker(Random& random, const TableModel& model, const ReadOptions& options)
      : random_(random), model_(model), schema_(model.schema()), options_(options), text_(random) {}

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
    AddWholeSelection(Selected());
    AddFrom();
    return Finish();
  }

 private:
  // ---- Kinds

  RandomRead Partitions() {
    AddSelection(Selected());
    AddFrom();
    text_ << " WHERE ";
    const bool is_in = WherePartition();
    if (!random_.OneIn(4)) WhereClustering(" AND ");
    AddGroups();
    // The groups of several partitions are not merged, and where Cassandra has rows without a key
    // among those of several partitions is not known.
    const bool is_merged = is_in && (shape_.grouped || HasFirst() ||
                                     (!schema_.statics.empty() && !options_.has_scylla_rules));
    if (!schema_.clustering.empty() && !is_merged && random_.OneIn(2)) {
      if (is_in) text_.CountAs(kOrderBesideIn);
      if (!is_in && has_in_of_one_) text_.CountAs(kOrderBesideInOfOne);
      AddOrder(is_in);
    }
    AddLimits();
    return Finish();
  }

  RandomRead Indexed() {
    AddSelection(Selected());
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
        AddIndexed([i](const LiveRow& row) { return std::optional(row.partition[i]); });
        break;
      case On::kClustering:
        shape_.of_rows = true;
        AddIndexed([i](const LiveRow& row) { return ClusteringValue(row, i); });
        filters = false;  // the column may be restricted once
        break;
      case On::kValue:
        shape_.of_rows = !schema_.is_static(i);
        AddIndexed([i](const LiveRow& row) { return CellValue(row, i); });
    }
    if (filters) WhereClustering(" AND ");
    AddLimits();
    if (filters) text_ << " ALLOW FILTERING";
    return Finish();
  }
  void AddIndexed(const ValueOfRow& value) {
    AddIndexCondition(random_, schema_, value, text_, shape_);
  }

  RandomRead Scan() {
    AddSelection(Selected());
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

  // Where partitions are named by `=` or IN, their keys may be left out. Source: ScyllaDB
  // cql3/statements/select_statement.cc, validate_distinct_selection.
  RandomRead Distinct() {
    shape_.distinct = true;
    text_ << "DISTINCT ";
    const bool names_partitions = random_.OneIn(2);
    AddDistinctSelection(Selected(), names_partitions && options_.has_scylla_rules);
    AddFrom();
    if (names_partitions) {
      text_ << " WHERE ";
      WherePartition();
    } else if (random_.OneIn(2)) {
      WhereToken(" WHERE ");
    }
    AddLimitWithoutEffect();
    if (random_.OneIn(3)) AddLimit();
    return Finish();
  }

  RandomRead Filtered() {
    AddSelection(Selected());
    AddFrom();
    std::string_view before = " WHERE ";
    const uint64_t start = random_.Below(4);
    shape_.filters = true;
    std::set<size_t> named;  // columns of the partition key
    bool filters_values = false;
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
        const bool is_equality = Filter(before, schema_.partition_key[i], [i](const LiveRow& row) {
          return std::optional(row.partition[i]);
        });
        if (is_equality) named.insert(i);
      } else if (kind == 1 && !schema_.clustering.empty()) {
        const size_t i = random_.Below(schema_.clustering.size());
        Filter(before, schema_.clustering[i],
               [i](const LiveRow& row) { return ClusteringValue(row, i); });
      } else {
        const size_t i = random_.Below(schema_.values());
        // One of several cells is not restricted, and the language has no fields in WHERE.
        const DataType& type = schema_.ValueColumn(i).type;
        if (type.is_multi_cell() && !type.is_collection()) continue;
        Filter(before, schema_.ValueColumn(i),
               [i](const LiveRow& row) { return CellValue(row, i); });
        filters_values = true;
      }
      before = " AND ";
    }
    shape_.is_named |= named.size() == schema_.partition_key.size();
    AddGroups();
    const bool may_order = !shape_.grouped && !HasFirst() && !schema_.clustering.empty() &&
                           (schema_.statics.empty() || options_.has_scylla_rules);
    if (is_in_ && filters_values && may_order && !random_.OneIn(4)) {
      text_.CountAs(kOrderBesideFilter);
      AddOrder(/*is_in=*/true);
    }
    AddLimits();
    text_ << " ALLOW FILTERING";
    return Finish();
  }
  bool Filter(std::string_view before, const ModelColumn& column, const ValueOfRow& value) {
    return AddFilter(random_, before, column, value, text_, shape_);
  }

  // ---- Clauses

  Selection Selected() {
    return {random_, schema_, options_.with_write_times, options_.has_own_functions, text_, shape_};
  }
  // Whether an aggregate's answer has a value of its first row.
  bool HasFirst() const {
    return shape_.aggregates && std::ranges::find(shape_.selectors, Aggregate::kFirst,
                                                  &Selector::aggregate) != shape_.selectors.end();
  }

  void AddFrom() { text_ << " FROM " << schema_.table; }

  // True: by IN.
  bool WherePartition() {
    const PartitionChoice choice = AddPartitionWhere(random_, schema_, text_);
    shape_.is_named = true;
    is_in_ = choice.is_in;
    has_in_of_one_ = choice.has_in_of_one;
    shape_.conditions.push_back([keys = choice.keys](const LiveRow& row, const AnswerRules&) {
      return std::ranges::find(keys, row.partition) != keys.end();
    });
    return choice.is_in;
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
      text_ << before << "token(" << KeyNames(schema_) << ")" << (is_lower ? " >" : " <")
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

  // `is_in`: rows of several partitions are merged.
  void AddOrder(bool is_in) {
    shape_.reversed = random_.OneIn(2);
    const size_t columns = 1 + random_.Below(schema_.clustering.size());
    std::string_view before = " ORDER BY ";
    for (size_t i = 0; i < columns; ++i) {
      if (i + 1 < columns && LeavesOut(schema_.clustering[i])) continue;
      const bool descending = schema_.clustering[i].descending != shape_.reversed;
      text_ << before << schema_.clustering[i].name << (descending ? " DESC" : " ASC");
      before = ", ";
    }
    shape_.merged = is_in ? columns : 0;
  }

  // ORDER BY and GROUP BY may be without a column that has one value by WHERE. Source: ScyllaDB
  // cql3/statements/select_statement.cc, verify_ordering_is_valid, prepare_group_by.
  bool LeavesOut(const ModelColumn& column) {
    const bool is_fixed = text_.shown().find(" " + column.name + " = ") != std::string::npos;
    return is_fixed && options_.has_scylla_rules && random_.OneIn(2);
  }

  void AddGroups() {
    if (!random_.OneIn(5)) return;
    shape_.grouped = random_.Below(schema_.clustering.size() + 1);
    std::vector<const ModelColumn*> columns;
    for (const ModelColumn& column : schema_.partition_key) columns.push_back(&column);
    for (size_t i = 0; i < *shape_.grouped; ++i) columns.push_back(&schema_.clustering[i]);
    std::string_view before = " GROUP BY ";
    for (const ModelColumn* column : columns) {
      if (column != columns.back() && LeavesOut(*column)) continue;
      text_ << before << column->name;
      before = ", ";
    }
  }

  // One of partitions, where each has one row, or what is read has one in all. Source: ScyllaDB
  // cql3/statements/select_statement.cc, make_partition_slice.
  void AddLimitWithoutEffect() {
    if (!options_.has_scylla_rules || !random_.OneIn(4)) return;
    text_ << " PER PARTITION LIMIT ";
    text_.AddNumber(random_.Between(1, 4), 4);
  }
  void AddLimits() {
    if (shape_.aggregates && !shape_.grouped) {
      AddLimitWithoutEffect();
    } else if (random_.OneIn(4)) {
      shape_.per_partition_limit = random_.Between(1, 4);
      text_ << " PER PARTITION LIMIT ";
      text_.AddNumber(*shape_.per_partition_limit, 4);
    }
    if (random_.OneIn(3)) AddLimit();
  }
  void AddLimit() {
    if (is_in_) text_.CountAs(kLimitOfIn);
    shape_.limit = random_.Between(1, random_.OneIn(2) ? 4 : 40);
    text_ << " LIMIT ";
    text_.AddNumber(*shape_.limit, 4);
  }

  RandomRead Finish() {
    return {text_.Sent(),
            text_.shown(),
            shape_.merged == 0 && !shape_.grouped,
            [this_model = &model_, shape = shape_](int64_t now_seconds, const AnswerRules& rules) {
              std::vector<ResultRow> rows = Evaluate(*this_model, shape, now_seconds, rules);
              MakeComparable(shape, {}, rows);
              return rows;
            },
            [shape = shape_](std::vector<ResultRow>& found, const TimeWindow& window) {
              MakeComparable(shape, window, found);
            },
            text_.kinds()};
  }

  Random& random_;
  const TableModel& model_;
  const ModelSchema& schema_;
  const ReadOptions options_;
  StatementText text_;
  ReadShape shape_;
  // How the partition is named.
  bool is_in_ = false;
  bool has_in_of_one_ = false;
};

}  // namespace

RandomRead MakeRandomRead(Random& random, const TableModel& model, const ReadOptions& options) {
  return ReadMaker(random, model, options).Make();
}

RandomRead ReadEverything(Random& random, const TableModel& model, const ReadOptions& options) {
  return ReadMaker(random, model, options).Everything();
}

// ---- PagedRead
namespace {

// In the order of SELECT *.
std::vector<std::string> NamesOf(const ModelSchema& schema) {
  std::vector<std::string> names;
  for (const auto* columns :
       {&schema.partition_key, &schema.clustering, &schema.statics, &schema.regular}) {
    for (const ModelColumn& column : *columns) names.push_back(column.name);
  }
  return names;
}

}  // namespace

PagedRead::PagedRead(Random& random, const TableModel& model, int64_t now_seconds) : model_(model) {
  const ModelSchema& schema = model.schema();
  StatementText text(random);
  text << "SELECT ";
  if (random.OneIn(2)) {
    text << "*";
  } else {
    // A regular one is among them: static columns alone are another kind of SELECT.
    names_ = {schema.regular[0].name};
    for (const std::string& name : NamesOf(schema)) {
      if (name != names_[0] && random.OneIn(2)) names_.push_back(name);
    }
    for (const std::string& name : names_) text << (&name == &names_[0] ? "" : ", ") << name;
  }
  text << " FROM " << schema.table;
  const uint64_t kind = random.Below(4);
  const std::vector<LiveRow> rows = model.Live(now_seconds);
  std::string_view before = " WHERE ";
  const auto add = [&](const ModelColumn& column, const PoolValue& value) {
    text << before << column.name << " = ";
    text.AddValue(value);
    before = " AND ";
    equal_.emplace_back(column.name, value.bytes);
  };
  if (kind == 0 && !rows.empty()) {
    const Values& key = rows[random.Below(rows.size())].partition;
    for (size_t i = 0; i < key.size(); ++i) {
      const ModelColumn& column = schema.partition_key[i];
      add(column, PoolValueOf(column.type, key[i]));
    }
  } else if (kind == 1) {
    const ModelColumn& column = schema.ValueColumn(random.Below(schema.values()));
    if (!column.type.is_multi_cell()) {
      add(column, RandomPoolValue(random, column));
      text << " ALLOW FILTERING";
    }
  }
  sent_ = text.Sent();
  shown_ = text.shown();
}

std::optional<std::string> PagedRead::ValueOf(const LiveRow& row, const std::string& name) const {
  const ModelSchema& schema = model_.schema();
  for (size_t i = 0; i < schema.partition_key.size(); ++i) {
    if (schema.partition_key[i].name == name) return row.partition[i];
  }
  for (size_t i = 0; i < schema.clustering.size(); ++i) {
    if (schema.clustering[i].name == name) return ClusteringValue(row, i);
  }
  size_t i = 0;
  while (schema.ValueColumn(i).name != name) ++i;
  return CellValue(row, i);
}

bool PagedRead::Selects(const LiveRow& row) const {
  return std::ranges::all_of(equal_, [&](const auto& each) {
    const std::optional<std::string> value = ValueOf(row, each.first);
    return value && CompareValues(model_.schema().TypeOf(each.first), *value, each.second) == 0;
  });
}

std::vector<PagedRead::Row> PagedRead::Rows(int64_t now_seconds) const {
  const std::vector<std::string> names = names_.empty() ? NamesOf(model_.schema()) : names_;
  std::vector<Row> rows;
  for (LiveRow& row : model_.Live(now_seconds)) {
    if (!Selects(row)) continue;
    ResultRow values;
    for (const std::string& name : names) values.push_back(ValueOf(row, name));
    rows.emplace_back(std::move(row), std::move(values));
  }
  return rows;
}

std::vector<ResultRow> PagedRead::Behind(const LiveRow& last, int64_t now_seconds) const {
  std::vector<ResultRow> behind;
  for (Row& row : Rows(now_seconds)) {
    const LiveRow& place = row.first;
    const bool is_behind = place.key == last.key
                               ? !last.is_static_alone &&
                                     model_.CompareClustering(place.clustering, last.clustering) > 0
                               : std::tie(place.token, place.key) > std::tie(last.token, last.key);
    if (is_behind) behind.push_back(std::move(row.second));
  }
  return behind;
}

std::vector<std::string> PagedRead::Missing() const {
  const std::vector<std::string> there = NamesOf(model_.schema());
  std::vector<std::string> missing = names_;
  for (const auto& [name, value] : equal_) missing.push_back(name);
  std::erase_if(missing, [&](const std::string& name) {
    return std::ranges::find(there, name) != there.end();
  });
  return missing;
}

}  // namespace liststore::testing
