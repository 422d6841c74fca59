// StatementConditions: what the statements of a conditional write ask of the rows as they are, and
// what its answer says of them.
#ifndef LISTSTORE_ENGINE_EXECUTE_STATEMENT_CONDITIONS_H_
#define LISTSTORE_ENGINE_EXECUTE_STATEMENT_CONDITIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/hash/hash.h"
#include "engine/command/conditional_write.h"
#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/execute/select/row_buffer.h"
#include "engine/protocol/response.h"

namespace liststore::execute {

// One execution, by one thread; values stay the request's, plans the caller's.
class StatementConditions final : public RowConditions {
 public:
  // `is_batch`: of BATCH, where statements that name no partition are passed over.
  StatementConditions(bool is_batch, const cql::Dialect& dialect)
      : is_batch_(is_batch), dialect_(dialect) {}
  StatementConditions(const StatementConditions&) = delete;
  StatementConditions& operator=(const StatementConditions&) = delete;

  // The next statement, in the order of the batch; those without conditions too, because each has a
  // row in the answer. All are of one table. Invalid: values of a wrong type, another partition
  // than that of the statements before.
  cql::CqlStatus Add(const cql::ModificationPlan& plan, cql::BoundValues values);

  // No statement names a partition.
  bool empty() const { return table_ == nullptr; }
  // False: the table was changed while the statements were planned, and they mean different ones.
  bool are_of_one_schema() const { return one_schema_; }

  // Of the rows that were looked at, and of the answer, whose columns these are: more is an error before
  // anything is written. `answer` outlives the execution.
  void Limit(const std::vector<cql::Selection>& answer, size_t bytes_max) {
    answer_ = &answer;
    bytes_max_ = bytes_max;
  }

  // What the engine is to look at. Something was added. Valid until the next Add.
  RowLook Look();

  // The answer, once the write was executed: a row for each statement, up to what a frame does not
  // hold any more. `answer`: its columns, the first is [applied].
  void Append(bool applied, const std::vector<cql::Selection>& answer,
              protocol::RowsEncoder& rows) const;

  // The columns and rows of the answer where they vary with what was found. Source: Cassandra
  // cql3/statements/ModificationStatement.java, buildCasResultSet.
  struct VaryingAnswer {
    const TableDefinition* table = nullptr;
    std::vector<cql::Selection> columns;
    std::vector<std::vector<std::optional<std::string>>> rows;
  };
  VaryingAnswer AnswerThatVaries(bool applied, bool is_batch) const;

  // ---- RowConditions

  void OnAttempt() override;
  void OnStaticRow(std::span<const LiveCellView> cells) override;
  void OnRow(size_t index, const RowView& row) override;
  bool Hold() override;
  // Of the last Hold(): why there is neither yes nor no. Invalid as CheckComparable, or as Limit.
  const cql::CqlStatus& status() const { return status_; }

 private:
  using Values = std::vector<std::optional<std::string>>;  // of all columns

  // A row as it was.
  struct OldRow {
    bool exists = false;
    Values values;  // nulls where none exists
  };
  struct Statement {
    const cql::ConditionPlan* condition = nullptr;  // nullptr: it has none
    std::vector<cql::BoundFilter> cells;
    std::optional<std::string> key;  // encoded, of the row that it names; nullopt: it names none
    bool asks_row = false;           // something of the row that it names
    bool writes_statics = false;
    bool is_of_rows = false;  // names some by clustering columns, or the table has none
  };

  // What the conditions and the answer look at is within bounds.
  cql::CqlStatus CheckBytes() const;

  // What is read on behalf of a statement.
  enum class Reads : uint8_t {
    kNothing,  // of its own: static values come with whatever is read
    kRow,      // those that it names
    kPartition
  };
  static Reads ReadsOf(const cql::ModificationPlan& plan);
  struct NamedRow {
    cql::EncodedRange range;
    bool is_read = false;
  };
  static constexpr size_t kFirstRow = SIZE_MAX;  // of the partition, whichever it is

  // `named`: the statement names a partition.
  cql::CqlStatus AddPartition(const cql::ModificationPlan& plan, cql::BoundValues values,
                              bool& named);
  // Dialect::one_kind_of_condition_for_a_row.
  cql::CqlStatus CheckKinds(const Statement& statement) const;
  // Of AnswerThatVaries: the columns behind the key, in the order in which they are named.
  std::vector<uint16_t> ColumnsAsked() const;
  // The rows that are asked for, or else the first one.
  std::vector<const OldRow*> RowsAsked() const;
  // What Cassandra reads of the static columns, and of the others.
  std::vector<bool> ColumnsRead() const;
  bool has_statics() const { return !table_->storage.statics.empty(); }
  // What is in buffer_.
  OldRow TakeRow() const;
  // The row that a statement names, if it is among those that were read.
  const OldRow* RowOf(const Statement& statement) const;
  // What it is judged by and answered with: the row that it names or, in its place, the static row.
  // nullptr: there is neither.
  const Values* ValuesOf(const Statement& statement) const;
  bool Holds(const Statement& statement);

  const std::vector<cql::Selection>* answer_ = nullptr;  // see Limit
  size_t bytes_max_ = SIZE_MAX;
  uint64_t taken_bytes_ = 0;  // of the attempt
  cql::CqlStatus status_;
  const bool is_batch_;
  const cql::Dialect dialect_;
  const TableDefinition* table_ = nullptr;
  bool one_schema_ = true;
  std::string partition_key_;
  std::vector<Statement> statements_;
  std::vector<NamedRow> named_;  // rows that statements name, none twice
  bool reads_partition_ = false;
  std::vector<OldRow> rows_;  // of named_
  std::unordered_map<std::string, size_t, absl::Hash<std::string>> row_by_key_;
  OldRow statics_;        // of a table with static columns
  bool any_row_ = false;  // one was seen
  OldRow first_;          // the one that was seen first
  std::vector<ClusteringRange> ranges_;
  std::vector<size_t> row_of_range_;  // in named_, or kFirstRow
  std::unique_ptr<RowBuffer> buffer_;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_STATEMENT_CONDITIONS_H_
