#include "tests/conformance/random_conditions.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/types/composite_value.h"
#include "tests/conformance/random_parts.h"
#include "tests/conformance/random_statements.h"

namespace liststore::testing {
namespace {

using Cell = std::optional<std::string>;
using NamedValue = std::pair<std::string, PoolValue>;

std::vector<NamedValue> RandomKey(Random& random, const std::vector<ModelColumn>& columns,
                                  bool may_be_empty) {
  std::vector<NamedValue> key;
  for (const ModelColumn& column : columns) {
    const PoolValue* value = &RandomPoolValue(random, column);
    while (!may_be_empty && value->bytes.empty()) value = &RandomPoolValue(random, column);
    key.emplace_back(column.name, *value);
  }
  return key;
}

std::vector<NamedValue> RandomPartition(Random& random, const ModelSchema& schema) {
  return RandomKey(random, schema.partition_key, schema.partition_key.size() > 1);
}

// One statement on a partition.
class ConditionalMaker {
 public:
  ConditionalMaker(Random& random, const ModelSchema& schema, const ConditionOptions& options,
                   const std::vector<NamedValue>& partition)
      : random_(random), schema_(schema), options_(options), text_(random), key_(partition) {
    for (const auto& [name, value] : partition) statement_.write.partition.push_back(value.bytes);
    statement_.write.statics_alone = !schema_.statics.empty() && random_.OneIn(4);
    for (NamedValue& column : RandomKey(random_, schema_.clustering, /*may_be_empty=*/true)) {
      statement_.write.clustering.push_back(column.second.bytes);
      key_.push_back(std::move(column));
    }
    statement_.write.ttl_seconds = schema_.default_ttl_seconds;
  }

  // With conditions, or without.
  void Make(bool is_conditional) {
    switch (random_.Below(8)) {
      case 0:
      case 1:
        return Insert(is_conditional);
      case 2:
        if (!is_conditional && !schema_.clustering.empty()) return DeleteRange();
        return DeleteRow(is_conditional);
      case 3:
        return DeleteCells(is_conditional);
      default:
        return Update(is_conditional);
    }
  }

  CqlStatement Sent() { return text_.Sent(); }
  const std::string& shown() const { return text_.shown(); }
  const ConditionalStatement& statement() const { return statement_; }

 private:
  // Of the key, what the statement names.
  std::span<const NamedValue> NamedKey() const {
    return std::span(key_).first(statement_.write.statics_alone ? schema_.partition_key.size()
                                                                : key_.size());
  }
  // The first of the values that it may assign.
  size_t FirstValue() const { return statement_.write.statics_alone ? schema_.regular.size() : 0; }
  // One that it does: a regular one, where the row is meant.
  size_t AnyValue() {
    return statement_.write.statics_alone ? FirstValue() + random_.Below(schema_.statics.size())
                                          : random_.Below(schema_.regular.size());
  }

  void AddWhere(std::span<const NamedValue> key) {
    std::string_view before = " WHERE ";
    for (const auto& [name, value] : key) {
      text_ << before << name << " = ";
      text_.AddValue(value);
      before = " AND ";
    }
  }

  void AddAssigned(size_t column) {
    if (random_.OneIn(6)) {
      text_.AddNull();
      statement_.write.cells.emplace_back(column, std::nullopt);
      return;
    }
    const PoolValue& value = RandomPoolValue(random_, schema_.ValueColumn(column));
    text_.AddValue(value);
    statement_.write.cells.emplace_back(column, value.bytes);
  }

  void Insert(bool is_conditional) {
    statement_.write.marker = !statement_.write.statics_alone;
    text_ << "INSERT INTO " << schema_.table << " (";
    std::vector<size_t> assigned;
    for (const auto& [name, value] : NamedKey()) {
      text_ << (&name == &key_[0].first ? "" : ", ") << name;
    }
    for (size_t i = FirstValue(); i < schema_.values(); ++i) {
      // Without any static value it would be the clustering key that is missing.
      if (!(statement_.write.statics_alone && i == FirstValue()) && random_.OneIn(3)) continue;
      text_ << ", " << schema_.ValueColumn(i).name;
      assigned.push_back(i);
    }
    text_ << ") VALUES (";
    for (const auto& [name, value] : NamedKey()) {
      text_ << (&name == &key_[0].first ? "" : ", ");
      text_.AddValue(value);
    }
    for (const size_t column : assigned) {
      text_ << ", ";
      AddAssigned(column);
    }
    text_ << ")";
    if (is_conditional) {
      statement_.exists = false;
      text_ << " IF NOT EXISTS";
    }
    AddTtl();
  }

  void Update(bool is_conditional) {
    text_ << "UPDATE " << schema_.table;
    AddTtl();
    const size_t always = AnyValue();
    std::string_view before = " SET ";
    for (size_t i = FirstValue(); i < schema_.values(); ++i) {
      if (i != always && random_.OneIn(2)) continue;
      text_ << before;
      before = ", ";
      if (schema_.ValueColumn(i).type.is_multi_cell() && random_.OneIn(2)) {
        statement_.write.parts.push_back(
            AddAssignedPart(random_, schema_, i, /*may_prepend=*/true, text_));
        continue;
      }
      text_ << schema_.ValueColumn(i).name << " = ";
      AddAssigned(i);
    }
    AddWhere(NamedKey());
    if (is_conditional) AddConditions();
  }

  void DeleteRow(bool is_conditional) {
    statement_.write.statics_alone = false;
    statement_.deletes = true;
    text_ << "DELETE FROM " << schema_.table;
    AddWhere(NamedKey());
    if (is_conditional) AddConditions();
  }

  // The partition, or some of its rows.
  void DeleteRange() {
    statement_.write.statics_alone = false;
    statement_.deletes = true;
    text_ << "DELETE FROM " << schema_.table;
    AddWhere(std::span(key_).first(schema_.partition_key.size()));
    statement_.whole_partition = random_.OneIn(2);
    if (statement_.whole_partition) {
      statement_.covers = [](const Values&) { return true; };
      return;
    }
    const ModelColumn& first = schema_.clustering[0];
    const PoolValue& value = RandomPoolValue(random_, first);
    text_ << " AND " << first.name << " > ";
    text_.AddValue(value);
    statement_.covers = [type = first.type, bytes = value.bytes](const Values& row) {
      return CompareValues(type, row[0], bytes) > 0;
    };
  }

  void DeleteCells(bool is_conditional) {
    text_ << "DELETE ";
    const size_t always = AnyValue();
    std::string_view before;
    for (size_t i = FirstValue(); i < schema_.values(); ++i) {
      if (i != always && random_.OneIn(2)) continue;
      const ModelColumn& column = schema_.ValueColumn(i);
      text_ << before;
      before = ", ";
      const bool is_list = column.type.kind() == DataType::Kind::kList;
      if (column.type.is_multi_cell() && !is_list && random_.OneIn(2)) {
        statement_.write.parts.push_back(AddDeletedPart(random_, schema_, i, text_));
        continue;
      }
      text_ << column.name;
      if (column.type.is_multi_cell()) {
        statement_.write.parts.push_back({.column = i, .kind = ModelPart::Kind::kRemoveAll});
      } else {
        statement_.write.cells.emplace_back(i, std::nullopt);
      }
    }
    text_ << " FROM " << schema_.table;
    AddWhere(NamedKey());
    if (is_conditional) AddConditions();
  }

  void AddTtl() {
    if (!random_.OneIn(4)) return;
    statement_.write.ttl_seconds = random_.OneIn(2) && options_.has_short_ttls ? 3 : 1000;
    text_ << " USING TTL ";
    text_.AddNumber(statement_.write.ttl_seconds, 4);
  }

  // A value of the type; of elements none that only a marker can have. No empty collection of
  // several cells: written out it is a null, and bound it is none.
  Cell AddCompared(const DataType& type, bool may_be_null) {
    if (may_be_null && random_.OneIn(3)) {
      text_.AddNull();
      return std::nullopt;
    }
    const PoolValue* value = &RandomPoolValue(random_, {"", type});
    const bool has_cells = type.is_collection() && type.is_multi_cell();
    while (has_cells && value->bytes == std::string(4, '\0')) {
      value = &RandomPoolValue(random_, {"", type});
    }
    text_.AddValue(*value);
    return value->bytes;
  }

  // c, c[k] or c.f.
  void AddCondition(ModelCondition& condition) {
    const ModelColumn& column = schema_.ValueColumn(condition.column);
    text_ << column.name;
    const DataType::Kind kind = column.type.kind();
    if (kind == DataType::Kind::kUser && !random_.OneIn(3)) {
      condition.field = random_.Below(column.type.parameters().size());
      text_ << "." << column.type.user().fields[*condition.field];
    } else if ((kind == DataType::Kind::kMap || kind == DataType::Kind::kList) &&
               !random_.OneIn(3)) {
      const bool is_map = kind == DataType::Kind::kMap;
      const int64_t key = is_map ? random_.Between(-1, 2) : random_.Between(0, 2);
      text_ << "[";
      text_.AddNumber(key, 4);
      text_ << "]";
      condition.element = BytesOfInt(key, 4);
    }
  }

  void AddConditions() {
    if (random_.OneIn(3)) {
      statement_.exists = true;
      text_ << " IF EXISTS";
      return;
    }
    constexpr std::string_view kOps[] = {"=", "!=", "<", "<=", ">", ">=", "IN"};
    std::string_view before = " IF ";
    for (uint64_t left = 1 + random_.Below(2); left > 0; --left) {
      ModelCondition condition;
      condition.column = FirstValue() + random_.Below(schema_.values() - FirstValue());
      text_ << before;
      before = " AND ";
      AddCondition(condition);
      const DataType& type = condition.TypeIn(schema_);
      do {
        condition.op = kOps[random_.Below(std::size(kOps))];
      } while (HasDuration(type) && (condition.op[0] == '<' || condition.op[0] == '>'));
      text_ << " " << condition.op << " ";
      if (condition.op == "IN") {
        text_ << "(";
        for (uint64_t i = 0; i < 3; ++i) {
          text_ << (i == 0 ? "" : ", ");
          condition.values.push_back(AddCompared(type, true));
        }
        text_ << ")";
      } else {
        const bool equality = condition.op == "=" || condition.op == "!=";
        condition.values.push_back(AddCompared(type, equality));
      }
      statement_.conditions.push_back(std::move(condition));
    }
  }

  Random& random_;
  const ModelSchema& schema_;
  const ConditionOptions options_;
  StatementText text_;
  std::vector<NamedValue> key_;
  ConditionalStatement statement_;
};

// As a message, or as one text.
std::function<CqlAnswer(CqlSession&)> SendBatch(Random& random, std::vector<CqlStatement> sent,
                                                bool logged) {
  if (random.OneIn(2)) {
    return [sent = std::move(sent), logged](CqlSession& session) {
      return session.RunBatch(logged, sent, std::nullopt);
    };
  }
  CqlStatement text;
  text.text = logged ? "BEGIN BATCH" : "BEGIN UNLOGGED BATCH";
  for (CqlStatement& one : sent) {
    text.text += " " + one.text + ";";
    for (BoundParameter& parameter : one.parameters) {
      text.parameters.push_back(std::move(parameter));
    }
  }
  text.text += " APPLY BATCH";
  text.prepared = random.OneIn(2);
  return [text = std::move(text)](CqlSession& session) { return session.Run(text); };
}

}  // namespace

RandomConditionalWrite MakeRandomConditionalWrite(Random& random, TableModel& model,
                                                  const ConditionOptions& options) {
  ConditionalMaker maker(random, model.schema(), options, RandomPartition(random, model.schema()));
  maker.Make(/*is_conditional=*/true);
  return {[sent = maker.Sent()](CqlSession& session) { return session.Run(sent); }, maker.shown(),
          [&model, statement = maker.statement(), options](const ConditionalInstant& now) {
            return ApplyConditional(model, statement, options.rules, now);
          }};
}

RandomConditionalWrite MakeRandomConditionalBatch(Random& random, TableModel& model,
                                                  const ConditionOptions& options) {
  const std::vector<NamedValue> partition = RandomPartition(random, model.schema());
  const bool logged = random.OneIn(2);
  std::vector<CqlStatement> sent;
  std::vector<ConditionalStatement> statements;
  std::string shown = logged ? "BEGIN BATCH\n" : "BEGIN UNLOGGED BATCH\n";
  const uint64_t count = 1 + random.Below(4);
  const uint64_t conditional = random.Below(count);
  for (uint64_t i = 0; i < count; ++i) {
    ConditionalMaker maker(random, model.schema(), options, partition);
    maker.Make(/*is_conditional=*/i == conditional || random.OneIn(2));
    sent.push_back(maker.Sent());
    statements.push_back(maker.statement());
    shown += "  " + maker.shown() + ";\n";
  }
  return {SendBatch(random, std::move(sent), logged), shown + "APPLY BATCH",
          [&model, statements, options](const ConditionalInstant& now) {
            return ApplyConditionalBatch(model, statements, options.rules, now);
          }};
}

}  // namespace liststore::testing
