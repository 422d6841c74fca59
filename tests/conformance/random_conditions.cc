#include "tests/conformance/random_conditions.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/model/composite_value.h"
#include "tests/conformance/random_statements.h"

namespace liststore::testing {
namespace {

using Cell = std::optional<std::string>;

struct Condition {
  size_t column = 0;  // of the regular ones
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
    choose(schema_.clustering, true, write_.clustering);
    write_.ttl_seconds = schema_.default_ttl_seconds;
  }

  void AddWhere() {
    std::string_view before = " WHERE ";
    for (const auto& [name, value] : key_values_) {
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
    const PoolValue& value = RandomPoolValue(random_, schema_.regular[column]);
    text_.AddValue(value);
    write_.cells.emplace_back(column, value.bytes);
  }

  void Insert() {
    write_.marker = true;
    exists_ = false;
    text_ << "INSERT INTO " << schema_.table << " (";
    std::vector<size_t> assigned;
    for (const auto& [name, value] : key_values_) {
      text_ << (&name == &key_values_[0].first ? "" : ", ") << name;
    }
    for (size_t i = 0; i < schema_.regular.size(); ++i) {
      if (random_.OneIn(3)) continue;
      text_ << ", " << schema_.regular[i].name;
      assigned.push_back(i);
    }
    text_ << ") VALUES (";
    for (const auto& [name, value] : key_values_) {
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
    const size_t always = random_.Below(schema_.regular.size());
    std::string_view before = " SET ";
    for (size_t i = 0; i < schema_.regular.size(); ++i) {
      if (i != always && random_.OneIn(2)) continue;
      text_ << before << schema_.regular[i].name << " = ";
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
    const PoolValue& value = RandomPoolValue(random_, schema_.regular[column]);
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
      condition.column = random_.Below(schema_.regular.size());
      condition.op = kOps[random_.Below(std::size(kOps))];
      text_ << before << schema_.regular[condition.column].name << " " << condition.op << " ";
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
    const std::vector<ModelColumn>& regular = model.schema().regular;
    const std::optional<LiveRow> row = model.Find(write.partition, write.clustering, now_seconds);
    std::vector<Cell> cells(regular.size());
    for (size_t i = 0; row && i < cells.size(); ++i) {
      if (row->cells[i]) cells[i] = row->cells[i]->value;
    }
    bool applied = !exists || *exists == row.has_value();
    std::vector<bool> asked(regular.size(), exists.has_value());
    for (const Condition& condition : conditions) {
      applied &= Holds(condition, regular[condition.column].type, cells[condition.column]);
      asked[condition.column] = true;
    }
    ResultRow answer = {std::string(1, applied ? '\1' : '\0')};
    if (exists) {
      for (const auto& [name, value] : key) answer.push_back(row ? Cell(value.bytes) : Cell());
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      if (asked[i]) answer.push_back(cells[i]);
    }
    if (applied) {
      const int64_t timestamp = row ? std::max(now_micros, row->newest + 1) : now_micros;
      if (deletes) {
        const auto covers = [clustering = write.clustering](const Values& other) {
          return other == clustering;
        };
        model.Delete(write.partition, covers, timestamp);
      } else {
        model.Write(write, timestamp, now_seconds);
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
