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

bool Equal(const DataType& type, const Cell& a, const Cell& b) {
  if (!a || !b) return !a && !b;
  return CompareValues(type, *a, *b) == 0;
}

bool Holds(const Condition& condition, const DataType& type, const Cell& cell) {
  const auto equals = [&](const Cell& value) { return Equal(type, cell, value); };
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
  ConditionalMaker(Random& random, TableModel& model)
      : random_(random), model_(model), schema_(model.schema()), text_(random) {}

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
             exists = exists_, conditions = conditions_](int64_t now_micros, int64_t now_seconds) {
              return Apply(*model, write, values, deletes, exists, conditions, now_micros,
                           now_seconds);
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
    write_.ttl_seconds = random_.OneIn(2) ? 3 : 500;
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

  static std::vector<ResultRow> Apply(TableModel& model, const RowWrite& write,
                                      const std::vector<std::pair<std::string, PoolValue>>& key,
                                      bool deletes, std::optional<bool> exists,
                                      const std::vector<Condition>& conditions, int64_t now_micros,
                                      int64_t now_seconds) {
    const ModelSchema& schema = model.schema();
    const std::optional<LiveRow> any = model.FindAny(write.partition, now_seconds);
    const std::optional<LiveRow> row =
        write.statics_alone ? std::nullopt
                            : model.Find(write.partition, write.clustering, now_seconds);
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
      applied &=
          Holds(condition, schema.ValueColumn(condition.column).type, cells[condition.column]);
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
      int64_t timestamp = looked_at ? std::max(now_micros, looked_at->newest + 1) : now_micros;
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
        written.list_micros = now_micros;
        model.Write(written, timestamp, now_seconds);
      }
    }
    return {answer};
  }

  Random& random_;
  TableModel& model_;
  const ModelSchema& schema_;
  StatementText text_;
  std::vector<std::pair<std::string, PoolValue>> key_values_;
  RowWrite write_;
  bool deletes_ = false;
  std::optional<bool> exists_;  // what IF [NOT] EXISTS wants
  std::vector<Condition> conditions_;
};

}  // namespace

RandomConditionalWrite MakeRandomConditionalWrite(Random& random, TableModel& model) {
  return ConditionalMaker(random, model).Make();
}

}  // namespace liststore::testing
