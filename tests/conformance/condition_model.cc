#include "tests/conformance/condition_model.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/model/types/composite_value.h"
#include "tests/conformance/value_pool.h"

namespace liststore::testing {
namespace {

using Cell = std::optional<std::string>;
using Cells = std::vector<Cell>;

// ---- What is compared

bool IsNull(const DataType& type, const Cell& cell, bool empty_is_null) {
  const bool is_empty =
      type.is_collection() && type.is_multi_cell() && cell && *cell == BytesOfInt(0, 4);
  return !cell || (is_empty && empty_is_null);
}

bool Equal(const DataType& type, const Cell& a, const Cell& b, bool empty_is_null) {
  const bool a_null = IsNull(type, a, empty_is_null), b_null = IsNull(type, b, empty_is_null);
  if (a_null || b_null) return a_null && b_null;
  return CompareValues(type, *a, *b) == 0;
}

Cell ComparedOf(const ModelCondition& condition, const DataType& type, const Cell& cell) {
  if (!cell || (!condition.element && !condition.field)) return cell;
  const auto part = condition.field ? SplitTuple(type, *cell)->at(*condition.field)
                                    : ElementAt(type, *cell, *condition.element);
  return part ? Cell(std::string(*part)) : std::nullopt;
}

// As integers of Cassandra are compared, of which only the first byte has a sign.
int CompareAsIntegers(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty() || a[0] == b[0]) return a.compare(b);
  return static_cast<signed char>(a[0]) < static_cast<signed char>(b[0]) ? -1 : 1;
}

bool Holds(const ModelCondition& condition, const ModelSchema& schema, const Cells& cells,
           const ConditionRules& rules) {
  const DataType& type = condition.TypeIn(schema);
  const Cell cell =
      ComparedOf(condition, schema.ValueColumn(condition.column).type, cells[condition.column]);
  const auto equals = [&](const Cell& value) {
    return Equal(type, cell, value, rules.empty_is_null);
  };
  if (condition.op == "IN") return std::ranges::any_of(condition.values, equals);
  const Cell& value = condition.values[0];
  if (condition.op == "=") return equals(value);
  if (condition.op == "!=") return !equals(value);
  if (!cell) return false;
  const bool is_of_map =
      condition.element && schema.ValueColumn(condition.column).type.kind() == DataType::Kind::kMap;
  const int order = is_of_map && rules.elements_as_keys ? CompareAsIntegers(*cell, *value)
                                                        : CompareValues(type, *cell, *value);
  if (condition.op == "<") return order < 0;
  if (condition.op == "<=") return order <= 0;
  return condition.op == ">" ? order > 0 : order >= 0;
}

// ---- What is there

// What a statement sees of its partition and its row.
struct Seen {
  std::optional<LiveRow> any;  // the first row, or what stands for static values alone
  std::optional<LiveRow> row;
  Cells cells;  // of the row, and the partition's static ones
  bool has_statics = false;

  bool Holds(const ConditionalStatement& statement, const ModelSchema& schema,
             const ConditionRules& rules) const {
    const bool exists = statement.write.statics_alone ? has_statics : row.has_value();
    return (!statement.exists || *statement.exists == exists) &&
           std::ranges::all_of(statement.conditions, [&](const ModelCondition& condition) {
             return testing::Holds(condition, schema, cells, rules);
           });
  }
  // The largest timestamp of static values.
  int64_t NewestStatic(const ModelSchema& schema) const {
    int64_t newest = std::numeric_limits<int64_t>::min();
    for (size_t i = schema.regular.size(); any && i < cells.size(); ++i) {
      if (any->cells[i]) newest = std::max(newest, any->cells[i]->timestamp);
    }
    return newest;
  }
};

// Which rows are read on behalf of a statement. Source: ScyllaDB cql3/statements/cas_request.cc,
// read_command.
enum class Reads : uint8_t {
  kNothing,  // of its own: static values come with whatever is read
  kRow,
  kPartition,  // all rows, for a change of elements of a static list
};

Reads ReadsOf(const ConditionalStatement& statement, const ModelSchema& schema) {
  const bool reads_list = std::ranges::any_of(statement.write.parts, [](const ModelPart& part) {
    return part.kind == ModelPart::Kind::kSetAt || part.kind == ModelPart::Kind::kDiscard;
  });
  if (statement.write.statics_alone) return reads_list ? Reads::kPartition : Reads::kNothing;
  const bool asks_for_row =
      statement.exists ||
      std::ranges::any_of(statement.conditions, [&](const ModelCondition& condition) {
        return !schema.is_static(condition.column);
      });
  return reads_list || asks_for_row ? Reads::kRow : Reads::kNothing;
}

Seen SeenBy(const TableModel& model, const ConditionalStatement& statement, int64_t now_seconds) {
  const ModelSchema& schema = model.schema();
  Seen seen;
  seen.any = model.FindAny(statement.write.partition, now_seconds);
  if (statement.names_row()) {
    seen.row = model.Find(statement.write.partition, statement.write.clustering, now_seconds);
  }
  seen.cells.resize(schema.values());
  for (size_t i = 0; seen.any && i < seen.cells.size(); ++i) {
    const std::optional<LiveRow>& from = schema.is_static(i) ? seen.any : seen.row;
    if (!from || !from->cells[i]) continue;
    seen.cells[i] = from->cells[i]->value;
    seen.has_statics |= schema.is_static(i);
  }
  return seen;
}

void Write(TableModel& model, const ConditionalStatement& statement, int64_t timestamp,
           const ConditionalInstant& now) {
  if (statement.deletes) {
    const TableModel::Predicate row = [clustering = statement.write.clustering](
                                          const Values& other) { return other == clustering; };
    // A row without clustering columns is its partition.
    const bool is_range = statement.covers || statement.write.clustering.empty();
    return model.Delete(statement.write.partition, statement.covers ? statement.covers : row,
                        statement.whole_partition,
                        is_range && now.ranges_first ? timestamp - 1 : timestamp);
  }
  RowWrite written = statement.write;
  written.list_micros = now.list_micros;
  model.Write(written, timestamp, now.seconds);
}

// ---- Answers

Cell Applied(bool applied) { return std::string(1, applied ? '\1' : '\0'); }

size_t KeyColumns(const ModelSchema& schema) {
  return schema.partition_key.size() + schema.clustering.size();
}

// The columns that are answered with: static ones come first.
void AppendAsked(const ModelSchema& schema, const std::vector<bool>& asked, const Cells* cells,
                 ResultRow& answer) {
  for (size_t i = 0; i < asked.size(); ++i) {
    const size_t column = (i + schema.regular.size()) % asked.size();
    if (asked[column]) answer.push_back(cells != nullptr ? (*cells)[column] : Cell());
  }
}

std::vector<bool> AskedBy(const ModelSchema& schema,
                          std::span<const ConditionalStatement> statements) {
  std::vector<bool> asked(schema.values(), false);
  for (const ConditionalStatement& statement : statements) {
    if (statement.exists) asked.assign(asked.size(), true);
    for (const ModelCondition& condition : statement.conditions) asked[condition.column] = true;
  }
  return asked;
}

// Its key, or with that one of a row where no row was asked for, and the static values: no
// others. Which row it is depends on what has a marker.
ResultRow OfPartition(const ModelSchema& schema, const Cell& applied, const LiveRow& any,
                      const Cells& cells, bool of_any_row) {
  ResultRow answer = {applied};
  answer.insert(answer.end(), any.partition.begin(), any.partition.end());
  for (size_t i = 0; i < schema.clustering.size(); ++i) {
    const bool has_row = of_any_row && !any.is_static_alone;
    answer.push_back(has_row ? Cell(any.clustering[i]) : Cell());
  }
  for (size_t i = schema.regular.size(); i < cells.size(); ++i) answer.push_back(cells[i]);
  answer.resize(1 + KeyColumns(schema) + cells.size());
  return answer;
}

// Columns as Cassandra answers with them: as the statements name them, of each the regular ones
// before the static ones.
std::vector<size_t> InOrderOfMention(const ModelSchema& schema,
                                     std::span<const ConditionalStatement> statements) {
  std::vector<size_t> columns;
  for (const ConditionalStatement& statement : statements) {
    for (const bool is_static : {false, true}) {
      for (const ModelCondition& condition : statement.conditions) {
        const bool is_new = std::ranges::find(columns, condition.column) == columns.end();
        if (is_new && schema.is_static(condition.column) == is_static) {
          columns.push_back(condition.column);
        }
      }
    }
  }
  return columns;
}

// Cassandra's answers of a single statement.
std::vector<std::vector<ResultRow>> OfCassandra(const TableModel& model,
                                                const ConditionalStatement& statement,
                                                const Seen& seen, const ResultRow& answer,
                                                bool applied, int64_t now_seconds) {
  const ModelSchema& schema = model.schema();
  std::vector<std::vector<ResultRow>> answers;
  if (applied || !seen.row) answers.push_back({{answer[0]}});
  if (applied) return answers;
  if (!statement.exists) {
    ResultRow in_order = {answer[0]};
    for (const size_t column : InOrderOfMention(schema, {&statement, 1})) {
      in_order.push_back(seen.cells[column]);
    }
    answers.push_back({std::move(in_order)});
    return answers;
  }
  if (seen.row) {
    ResultRow without_statics = answer;
    const auto statics = without_statics.begin() + static_cast<ptrdiff_t>(1 + KeyColumns(schema));
    std::fill_n(statics, schema.statics.size(), std::nullopt);
    answers.push_back({std::move(without_statics)});
  }
  for (const LiveRow& one : model.Live(now_seconds)) {
    if (one.partition != statement.write.partition) continue;
    answers.push_back(
        {OfPartition(schema, answer[0], one, seen.cells, statement.write.statics_alone)});
  }
  return answers;
}

}  // namespace

const DataType& ModelCondition::TypeIn(const ModelSchema& schema) const {
  const DataType& type = schema.ValueColumn(column).type;
  if (field) return type.parameters()[*field];
  return element ? type.parameters().back() : type;
}

ConditionalAnswer ApplyConditional(TableModel& model, const ConditionalStatement& statement,
                                   const ConditionRules& rules, const ConditionalInstant& now) {
  const ModelSchema& schema = model.schema();
  const RowWrite& write = statement.write;
  const Seen seen = SeenBy(model, statement, now.seconds);
  const bool applied = seen.Holds(statement, schema, rules);
  ResultRow answer = {Applied(applied)};
  if (statement.exists) {
    const bool names_partition = seen.row || (write.statics_alone && seen.any);
    for (const std::string& value : write.partition) {
      answer.push_back(names_partition ? Cell(value) : Cell());
    }
    for (size_t i = 0; i < schema.clustering.size(); ++i) {
      answer.push_back(seen.row ? Cell(write.clustering[i]) : Cell());
    }
  }
  // Who asks for a row gets nothing of a partition that is without it.
  const bool answers = !statement.exists || seen.row || (write.statics_alone && seen.any);
  AppendAsked(schema, AskedBy(schema, {&statement, 1}), answers ? &seen.cells : nullptr, answer);
  std::vector<std::vector<ResultRow>> of_cassandra =
      OfCassandra(model, statement, seen, answer, applied, now.seconds);
  if (applied) {
    const bool reads_row = ReadsOf(statement, schema) == Reads::kRow;
    const std::optional<LiveRow>& looked_at = reads_row ? seen.row : seen.any;
    const int64_t newest =
        std::max(looked_at ? looked_at->newest : now.micros - 1, seen.NewestStatic(schema));
    Write(model, statement, std::max(now.micros, newest + 1), now);
  }
  return {{std::move(answer)}, std::move(of_cassandra)};
}

namespace {

// In the order of the table, none twice.
void SortOnce(const TableModel& model, std::vector<LiveRow>& rows) {
  std::ranges::sort(rows, [&](const LiveRow& a, const LiveRow& b) {
    return model.CompareClustering(a.clustering, b.clustering) < 0;
  });
  rows.erase(
      std::unique(rows.begin(), rows.end(),
                  [](const LiveRow& a, const LiveRow& b) { return a.clustering == b.clustering; }),
      rows.end());
}

// The rows that Cassandra reads: those of statements with conditions.
std::vector<LiveRow> AskedFor(const TableModel& model,
                              std::span<const ConditionalStatement> statements,
                              std::span<const Seen> seen) {
  std::vector<LiveRow> rows;
  for (size_t i = 0; i < statements.size(); ++i) {
    if (statements[i].is_conditional() && seen[i].row) rows.push_back(*seen[i].row);
  }
  SortOnce(model, rows);
  return rows;
}

// The rows that are read, none twice, in the order of the table: those of the statements that ask
// for their own or, where none does, the first of the partition.
std::vector<LiveRow> LookedAt(const TableModel& model,
                              std::span<const ConditionalStatement> statements,
                              std::span<const Seen> seen, int64_t now_seconds) {
  const ModelSchema& schema = model.schema();
  const auto any_reads = [&](Reads reads) {
    return std::ranges::any_of(statements, [&](const ConditionalStatement& statement) {
      return ReadsOf(statement, schema) == reads;
    });
  };
  std::vector<LiveRow> rows;
  if (any_reads(Reads::kPartition)) {
    for (LiveRow& row : model.Live(now_seconds)) {
      if (row.partition == statements[0].write.partition) rows.push_back(std::move(row));
    }
  } else if (any_reads(Reads::kRow)) {
    for (size_t i = 0; i < statements.size(); ++i) {
      if (ReadsOf(statements[i], schema) == Reads::kRow && seen[i].row) {
        rows.push_back(*seen[i].row);
      }
    }
  } else if (seen[0].any) {
    rows.push_back(*seen[0].any);
  }
  std::erase_if(rows, [](const LiveRow& row) { return row.is_static_alone; });
  SortOnce(model, rows);
  return rows;
}

// Cassandra's answers of a batch: one row where it was applied or nothing was read, else one for
// each that was, or any one of the partition where static columns alone were asked for; with all
// static values, those that are compared, or none.
std::vector<std::vector<ResultRow>> BatchOfCassandra(
    const ModelSchema& schema, std::span<const ConditionalStatement> statements, bool applied,
    std::span<const LiveRow> rows, std::span<const LiveRow> partition) {
  if (applied) return {{{Applied(true)}}};
  std::vector<size_t> columns = InOrderOfMention(schema, statements);
  const bool all = std::ranges::any_of(
      statements, [](const ConditionalStatement& one) { return one.exists.has_value(); });
  if (all) {
    columns.clear();
    for (size_t i = 0; i < schema.values(); ++i) {
      columns.push_back((i + schema.regular.size()) % schema.values());
    }
  }
  std::vector<std::vector<ResultRow>> answers = {{{Applied(false)}}};
  const std::vector<size_t> compared = InOrderOfMention(schema, statements);
  enum class Statics : uint8_t {
    kNone,
    kCompared,
    kAll
  };
  for (const Statics statics : {Statics::kNone, Statics::kCompared, Statics::kAll}) {
    const auto shows_static = [&](size_t column) {
      return statics == Statics::kAll || (statics == Statics::kCompared &&
                                          std::ranges::find(compared, column) != compared.end());
    };
    const auto shown = [&](const LiveRow& row, bool has_key, bool has_values) {
      ResultRow one = {Applied(false)};
      one.insert(one.end(), row.partition.begin(), row.partition.end());
      for (size_t i = 0; i < schema.clustering.size(); ++i) {
        one.push_back(has_key ? Cell(row.clustering[i]) : Cell());
      }
      for (const size_t column : columns) {
        const bool is_shown = schema.is_static(column) ? shows_static(column) : has_values;
        const std::optional<ModelCell>& cell = row.cells[column];
        one.push_back(is_shown && cell ? Cell(cell->value) : Cell());
      }
      return one;
    };
    std::vector<ResultRow> answer;
    for (const LiveRow& row : rows) answer.push_back(shown(row, true, true));
    if (!answer.empty()) answers.push_back(std::move(answer));
    for (const LiveRow& any : partition) {
      if (!any.is_static_alone) answers.push_back({shown(any, true, true)});
      answers.push_back({shown(any, !any.is_static_alone, false)});
      answers.push_back({shown(any, false, false)});
    }
  }
  return answers;
}

}  // namespace

ConditionalAnswer ApplyConditionalBatch(TableModel& model,
                                        std::span<const ConditionalStatement> statements,
                                        const ConditionRules& rules,
                                        const ConditionalInstant& now) {
  const ModelSchema& schema = model.schema();
  std::vector<Seen> seen;
  bool applied = true;
  for (const ConditionalStatement& statement : statements) {
    seen.push_back(SeenBy(model, statement, now.seconds));
    applied &= seen.back().Holds(statement, schema, rules);
  }
  const std::vector<LiveRow> rows = LookedAt(model, statements, seen, now.seconds);
  const std::vector<bool> asked = AskedBy(schema, statements);
  ConditionalAnswer answer;
  for (size_t i = 0; i < statements.size(); ++i) {
    const ConditionalStatement& statement = statements[i];
    const auto is_its_row = [&](const LiveRow& row) {
      return statement.names_row() && row.clustering == statement.write.clustering;
    };
    const bool has_row = std::ranges::any_of(rows, is_its_row);
    // The static row in place of one that is not there, but for EXISTS.
    const bool asks_for_row = statement.names_row() && statement.exists;
    const bool has_statics =
        !schema.statics.empty() && !asks_for_row && (!rows.empty() || seen[i].has_statics);
    ResultRow row = {Applied(applied)};
    for (const std::string& value : statement.write.partition) {
      row.push_back(has_row || has_statics ? Cell(value) : Cell());
    }
    for (size_t c = 0; c < schema.clustering.size(); ++c) {
      row.push_back(has_row ? Cell(statement.write.clustering[c]) : Cell());
    }
    Cells cells = seen[i].cells;
    // A row that is not read is not answered with.
    for (size_t c = 0; c < schema.regular.size(); ++c) {
      if (!has_row) cells[c].reset();
    }
    AppendAsked(schema, asked, has_row || has_statics ? &cells : nullptr, row);
    answer.rows.push_back(std::move(row));
  }
  std::vector<LiveRow> partition = model.Live(now.seconds);
  std::erase_if(partition,
                [&](const LiveRow& row) { return row.partition != statements[0].write.partition; });
  answer.of_cassandra =
      BatchOfCassandra(schema, statements, applied, AskedFor(model, statements, seen), partition);
  if (!applied) return answer;
  // Above what is there of the rows that are judged or changed by what they have.
  int64_t timestamp = std::max(now.micros, seen[0].NewestStatic(schema) + 1);
  for (const LiveRow& row : rows) {
    const bool is_named =
        std::ranges::any_of(statements, [&](const ConditionalStatement& statement) {
          return statement.names_row() && row.clustering == statement.write.clustering;
        });
    if (is_named || &row == rows.data()) timestamp = std::max(timestamp, row.newest + 1);
  }
  for (const ConditionalStatement& statement : statements) Write(model, statement, timestamp, now);
  return answer;
}

}  // namespace liststore::testing
