#include "tests/conformance/random_conditions.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "engine/model/composite_value.h"
#include "tests/conformance/random_statements.h"

namespace liststore::testing {
namespace {

using Cell = std::optional<std::string>;

struct Condition {
  size_t column = 0;  // one that is no key
  std::string_view op;
  std::vector<Cell> values;  // of IN several
};

bool IsNull(const DataType& type, const Cell& cell, bool empty_is_null) {
  const bool is_empty = type.is_multi_cell() && cell && *cell == BytesOfInt(0, 4);
  return !cell || (is_empty && empty_is_null);
}

bool Equal(const DataType& type, const Cell& a, const Cell& b, bool empty_is_null) {
  const bool a_null = IsNull(type, a, empty_is_null), b_null = IsNull(type, b, empty_is_null);
  if (a_null || b_null) return a_null && b_null;
  return CompareValues(type, *a, *b) == 0;
}

bool Holds(const Condition& condition, const DataType& type, const Cell& cell, bool empty_is_null) {
  const auto equals = [&](const Cell& value) { return Equal(type, cell, value, empty_is_null); };
  if (condition.op == "IN") return std::ranges::any_of(condition.values, equals);
  const Cell& value = condition.values[0];
  if (condition.op == "=") return equals(value);
  if (condition.op == "!=") return !equals(value);
  if (!cell) return false;
  const int order = CompareValues(type, *cell, *value);
  if (condition.op == "<") return order < 0;
  if (condition.op == "<=") return order <= 0;
  return condition.op == ">" ? order > 0 : order >= 0;
}

class ConditionalMaker {
 public:
  ConditionalMaker(Random& random, TableModel& model, const ConditionOptions& options)
      : random_(random), model_(model), schema_(model.schema()), options_(options), text_(random) {}

  RandomConditionalWrite Make() {
    ChooseKey();
    switch (random_.Below(4)) {
      case 0:
        Insert();
        break;
      case 1:
        write_.statics_alone = false;
        text_ << "DELETE FROM " << schema_.table;
        deletes_ = true;
        AddWhere();
        AddConditions();
        break;
      default:
        Update();
    }
    return {text_.Sent(), text_.shown(),
            [model = &model_, write = write_, values = key_values_, deletes = deletes_,
             exists = exists_, conditions = conditions_,
             options = options_](const RandomConditionalWrite::Instant& now) {
              return Apply(*model, write, values, deletes, exists, conditions, options, now);
            }};
  }

 private:
  void ChooseKey() {
    const auto choose = [&](const std::vector<ModelColumn>& columns, bool may_be_empty,
                            Values& to) {
      for (const ModelColumn& column : columns) {
        const PoolValue* value = &RandomPoolValue(random_, column);
        while (!may_be_empty && value->bytes.empty()) value = &RandomPoolValue(random_, column);
        to.push_back(value->bytes);
        key_values_.emplace_back(column.name, *value);
      }
    };
    choose(schema_.partition_key, schema_.partition_key.size() > 1, write_.partition);
    write_.statics_alone = !schema_.statics.empty() && random_.OneIn(4);
    choose(schema_.clustering, true, write_.clustering);
    write_.ttl_seconds = schema_.default_ttl_seconds;
  }

  // Of the key, those that the statement names.
  std::span<const std::pair<std::string, PoolValue>> NamedKey() const {
    return std::span(key_values_)
        .first(write_.statics_alone ? schema_.partition_key.size() : key_values_.size());
  }
  // The first of the values that it may assign.
  size_t FirstValue() const { return write_.statics_alone ? schema_.regular.size() : 0; }

  void AddWhere() {
    std::string_view before = " WHERE ";
    for (const auto& [name, value] : NamedKey()) {
      text_ << before << name << " = ";
      text_.AddValue(value);
      before = " AND ";
    }
  }

  void AddAssigned(size_t column) {
    if (random_.OneIn(6)) {
      text_.AddNull();
      write_.cells.emplace_back(column, std::nullopt);
      return;
    }
    const PoolValue& value = RandomPoolValue(random_, schema_.ValueColumn(column));
    text_.AddValue(value);
    write_.cells.emplace_back(column, value.bytes);
  }

  void Insert() {
    write_.marker = !write_.statics_alone;
    exists_ = false;
    text_ << "INSERT INTO " << schema_.table << " (";
    std::vector<size_t> assigned;
    for (const auto& [name, value] : NamedKey()) {
      text_ << (&name == &key_values_[0].first ? "" : ", ") << name;
    }
    for (size_t i = FirstValue(); i < schema_.values(); ++i) {
      // Without any static value it would be the clustering key that is missing.
      if (!(write_.statics_alone && i == FirstValue()) && random_.OneIn(3)) continue;
      text_ << ", " << schema_.ValueColumn(i).name;
      assigned.push_back(i);
    }
    text_ << ") VALUES (";
    for (const auto& [name, value] : NamedKey()) {
      text_ << (&name == &key_values_[0].first ? "" : ", ");
      text_.AddValue(value);
    }
    for (const size_t column : assigned) {
      text_ << ", ";
      AddAssigned(column);
    }
    text_ << ") IF NOT EXISTS";
    AddTtl();
  }

  void Update() {
    text_ << "UPDATE " << schema_.table;
    AddTtl();
    // A regular one, where the row is meant.
    const size_t always = write_.statics_alone
                              ? FirstValue() + random_.Below(schema_.statics.size())
                              : random_.Below(schema_.regular.size());
    std::string_view before = " SET ";
    for (size_t i = FirstValue(); i < schema_.values(); ++i) {
      if (i != always && random_.OneIn(2)) continue;
      text_ << before << schema_.ValueColumn(i).name << " = ";
      AddAssigned(i);
      before = ", ";
    }
    AddWhere();
    AddConditions();
  }

  void AddTtl() {
    if (!random_.OneIn(4)) return;
    write_.ttl_seconds = random_.OneIn(2) && options_.has_short_ttls ? 3 : 1000;
    text_ << " USING TTL ";
    text_.AddNumber(write_.ttl_seconds, 4);
  }

  // A value of the column, likely the one that the row has.
  Cell AddCompared(size_t column, bool may_be_null) {
    if (may_be_null && random_.OneIn(3)) {
      text_.AddNull();
      return std::nullopt;
    }
    const PoolValue& value = RandomPoolValue(random_, schema_.ValueColumn(column));
    text_.AddValue(value);
    return value.bytes;
  }

  void AddConditions() {
    if (random_.OneIn(3)) {
      exists_ = true;
      text_ << " IF EXISTS";
      return;
    }
    constexpr std::string_view kOps[] = {"=", "!=", "<", "<=", ">", ">=", "IN"};
    std::string_view before = " IF ";
    for (uint64_t left = 1 + random_.Below(2); left > 0; --left) {
      Condition condition;
      condition.column = FirstValue() + random_.Below(schema_.values() - FirstValue());
      condition.op = kOps[random_.Below(std::size(kOps))];
      text_ << before << schema_.ValueColumn(condition.column).name << " " << condition.op << " ";
      before = " AND ";
      if (condition.op == "IN") {
        text_ << "(";
        for (uint64_t i = 0; i < 3; ++i) {
          text_ << (i == 0 ? "" : ", ");
          condition.values.push_back(AddCompared(condition.column, true));
        }
        text_ << ")";
      } else {
        const bool equality = condition.op == "=" || condition.op == "!=";
        condition.values.push_back(AddCompared(condition.column, equality));
      }
      conditions_.push_back(std::move(condition));
    }
  }

  static RandomConditionalWrite::Answer Apply(
      TableModel& model, const RowWrite& write,
      const std::vector<std::pair<std::string, PoolValue>>& key, bool deletes,
      std::optional<bool> exists, const std::vector<Condition>& conditions,
      const ConditionOptions& options, const RandomConditionalWrite::Instant& now) {
    const ModelSchema& schema = model.schema();
    const std::optional<LiveRow> any = model.FindAny(write.partition, now.seconds);
    const std::optional<LiveRow> row =
        write.statics_alone ? std::nullopt
                            : model.Find(write.partition, write.clustering, now.seconds);
    std::vector<Cell> cells(schema.values());
    for (size_t i = 0; any && i < cells.size(); ++i) {
      const std::optional<LiveRow>& seen = schema.is_static(i) ? any : row;
      if (seen && seen->cells[i]) cells[i] = seen->cells[i]->value;
    }
    const bool any_static =
        std::any_of(cells.begin() + static_cast<ptrdiff_t>(schema.regular.size()), cells.end(),
                    [](const Cell& cell) { return cell.has_value(); });
    bool applied = !exists || *exists == (write.statics_alone ? any_static : row.has_value());
    std::vector<bool> asked(cells.size(), exists.has_value());
    for (const Condition& condition : conditions) {
      applied &= Holds(condition, schema.ValueColumn(condition.column).type,
                       cells[condition.column], options.empty_is_null);
      asked[condition.column] = true;
    }
    // Who asks for a row gets nothing of a partition that is without it.
    const bool answers = !exists || row || (write.statics_alone && any);
    ResultRow answer = {std::string(1, applied ? '\1' : '\0')};
    for (size_t i = 0; exists && i < key.size(); ++i) {
      const bool named = row || (write.statics_alone && any && i < schema.partition_key.size());
      answer.push_back(named ? Cell(key[i].second.bytes) : Cell());
    }
    // Static columns come first.
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t column = (i + schema.regular.size()) % cells.size();
      if (asked[column]) answer.push_back(answers ? cells[column] : Cell());
    }
    if (applied) {
      const std::optional<LiveRow>& looked_at = write.statics_alone ? any : row;
      int64_t timestamp = looked_at ? std::max(now.micros, looked_at->newest + 1) : now.micros;
      for (size_t i = schema.regular.size(); any && i < cells.size(); ++i) {
        if (any->cells[i]) timestamp = std::max(timestamp, any->cells[i]->timestamp + 1);
      }
      if (deletes) {
        const auto covers = [clustering = write.clustering](const Values& other) {
          return other == clustering;
        };
        model.Delete(write.partition, covers, /*whole=*/false, timestamp);
      } else {
        RowWrite written = write;
        written.list_micros = now.list_micros;
        model.Write(written, timestamp, now.seconds);
      }
    }
    std::vector<ResultRow> of_cassandra;
    if (applied || !row) of_cassandra.push_back({answer[0]});
    if (!applied && exists && row) {
      ResultRow without_statics = answer;
      const auto statics = without_statics.begin() + static_cast<ptrdiff_t>(1 + key.size());
      std::fill_n(statics, schema.statics.size(), std::nullopt);
      of_cassandra.push_back(std::move(without_statics));
    }
    for (const LiveRow& one :
         applied || !exists ? std::vector<LiveRow>() : model.Live(now.seconds)) {
      if (one.partition != write.partition) continue;
      of_cassandra.push_back(
          OfPartition(schema, answer[0], one, cells, key.size(), write.statics_alone));
    }
    if (!applied && !exists)
      of_cassandra.push_back(InOrderOfMention(schema, answer[0], conditions, cells));
    return {{std::move(answer)}, std::move(of_cassandra)};
  }

  // Its key, or with that one of a row where no row was asked for, and the static values: no
  // others. Which row it is depends on what has a marker.
  static ResultRow OfPartition(const ModelSchema& schema, const Cell& applied, const LiveRow& any,
                               const std::vector<Cell>& cells, size_t key_columns,
                               bool of_any_row) {
    ResultRow answer = {applied};
    answer.insert(answer.end(), any.partition.begin(), any.partition.end());
    for (size_t i = answer.size() - 1; i < key_columns; ++i) {
      const size_t column = i - schema.partition_key.size();
      const bool has_row = of_any_row && !any.is_static_alone;
      answer.push_back(has_row ? Cell(any.clustering[column]) : Cell());
    }
    for (size_t i = schema.regular.size(); i < cells.size(); ++i) answer.push_back(cells[i]);
    answer.resize(1 + key_columns + cells.size());
    return answer;
  }
  // The regular columns before the static ones.
  static ResultRow InOrderOfMention(const ModelSchema& schema, const Cell& applied,
                                    const std::vector<Condition>& conditions,
                                    const std::vector<Cell>& cells) {
    ResultRow answer = {applied};
    std::vector<bool> said(cells.size(), false);
    for (const bool is_static : {false, true}) {
      for (const Condition& condition : conditions) {
        if (schema.is_static(condition.column) != is_static || said[condition.column]) continue;
        said[condition.column] = true;
        answer.push_back(cells[condition.column]);
      }
    }
    return answer;
  }

  Random& random_;
  TableModel& model_;
  const ModelSchema& schema_;
  const ConditionOptions options_;
  StatementText text_;
  std::vector<std::pair<std::string, PoolValue>> key_values_;
  RowWrite write_;
  bool deletes_ = false;
  std::optional<bool> exists_;  // what IF [NOT] EXISTS wants
  std::vector<Condition> conditions_;
};

}  // namespace

RandomConditionalWrite MakeRandomConditionalWrite(Random& random, TableModel& model,
                                                  const ConditionOptions& options) {
  return ConditionalMaker(random, model, options).Make();
}

}  // namespace liststore::testing
