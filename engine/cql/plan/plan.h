// Plan: a statement that has been checked against the schema and only waits for its bound values.
// Plain structs, made once when a statement is prepared and then followed as often as it is
// executed; immutable and shared between threads.
//
// A plan holds the definition of its table as it was when it was made. Whoever keeps plans drops
// those of a table that changes.
#ifndef LISTSTORE_ENGINE_CQL_PLAN_PLAN_H_
#define LISTSTORE_ENGINE_CQL_PLAN_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/cql/syntax/statement.h"
#include "engine/cql/syntax/unsupported.h"
#include "engine/cql/values/native_function.h"
#include "engine/model/schema.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {

// A value of a statement: known already, or bound or computed when it is executed.
struct Operand {
  DataType type = CqlType::kBlob;
  std::string receiver;  // what messages call the place it is meant for
  std::string bound_to;  // what bound bytes that are no value are said of; empty: the receiver
  // Bound: one of Plan::variables; or, from their number on, one of Plan::computed; else
  std::optional<uint32_t> marker;
  std::optional<std::string> constant;  // the serialised value; nullopt: null
};

// A function's result, computed each time the statement is executed.
struct ComputedValue {
  NativeFunction function;
  std::vector<Operand> arguments;  // of computed ones only those before it
  // The same variables make the same value: nothing in it depends on the time or on chance.
  bool is_pure = true;
};

// A bind marker as clients see it.
struct BindVariable {
  std::string name;
  DataType type = CqlType::kBlob;
  std::string keyspace;
  std::string table;
};

// ---- Restrictions

// A condition that is looked at row by row.
struct RowFilter {
  std::vector<uint16_t> columns;  // positions in TableDefinition::columns; several: a tuple
  // A part of the one column instead: the element of a list or map at an index or key, or a field
  // of a user type.
  std::optional<Operand> element;
  std::optional<size_t> field;
  RelationOperator op = RelationOperator::kEqual;
  // One for each column; for kIn, kNotIn as many for each alternative.
  std::vector<Operand> operands;
  std::optional<Operand> list;     // IN ?: instead, a list of values of the one column; or,
  bool list_is_of_tuples = false;  // (a, b) IN ?: of tuples of values of all
};

// Partition or clustering keys that one statement may name, unless the settings say otherwise.
// Source: ScyllaDB db/config.cc, max_{partition,clustering}_key_restrictions_per_query.
inline constexpr size_t kKeysPerStatementMax = 100;

// What a key column, or several next to each other, must equal: one of some alternatives.
struct KeyAlternatives {
  size_t columns = 1;
  // As many operands an alternative as there are columns.
  std::vector<std::vector<Operand>> alternatives;
  std::optional<Operand> list;  // as in RowFilter
  bool list_is_of_tuples = false;
  // Further relations on the one column: =, IN, slices. Values that one of them does not hold for
  // are no alternatives.
  std::vector<RowFilter> also;
  // Said with IN or by several relations: any number of values, maybe none.
  bool is_in = false;
  bool is_tuple = false;  // said of a tuple, where a null is an error
  // Of all parts the same: the keys that they may make together.
  size_t keys_max = kKeysPerStatementMax;
};

// A bound on the clustering columns behind those that equal something: as many values as columns
// are compared, first to last. In terms of values, whatever the clustering order, unless it says so.
struct ClusteringSlice {
  bool is_lower = false;
  bool inclusive = false;
  bool is_tuple = false;  // as in KeyAlternatives
  bool in_clustering_order = false;
  std::vector<Operand> values;
};

// Which rows of a partition, as far as its order can tell.
struct ClusteringRestriction {
  std::vector<KeyAlternatives> prefix;  // covers the first columns
  std::vector<ClusteringSlice> slices;  // all hold
  // Rows lie together whatever the values are: no alternatives, no tuples across both directions.
  bool is_one_range = true;
  bool slices_run_across = false;  // of tuples whose columns run in both directions

  size_t prefix_columns() const {
    size_t columns = 0;
    for (const KeyAlternatives& part : prefix) columns += part.columns;
    return columns;
  }
  bool empty() const { return prefix.empty() && slices.empty(); }
};

struct TokenBound {
  Operand value;
  bool is_lower = false;
  bool inclusive = false;
};

// An equality that a value index answers within a partition.
struct IndexLookup {
  ColumnId column = 0;
  Operand value;
};

// ---- SELECT

// A selected expression: what a row has, or a function or an aggregate of others.
struct Selection {
  enum class Kind : uint8_t {
    kColumn,
    // Of a column or, with an operand, of the cell at that key, element or number of a field.
    kWriteTime,    // microseconds, bigint
    kTtl,          // seconds left, int
    kWriteTimes,   // of each element of a column of several cells, or field, or 0: list<bigint>
    kTtls,         // the same: list<int>
    kTimeuuids,    // where each element of a list stands: list<timeuuid>
    kToken,        // of the partition key, bigint
    kValue,        // `value`
    kCall,         // `function` of `operands`: fields of user types and casts too
    kApplied,      // of a conditional write: whether its conditions held, boolean
    kCountRows,    // COUNT(*), COUNT(1), bigint
    kCountValues,  // COUNT(x), bigint; this and those below: of one operand
    kMin,
    kMax,
    kSum,
    kAvg,
  };
  Kind kind = Kind::kColumn;
  uint16_t column = 0;  // position in TableDefinition::columns
  std::string name;     // as the result has it
  DataType type = CqlType::kBlob;
  Operand value = {};
  NativeFunction function = {};
  std::vector<Selection> operands = {};

  bool is_aggregate() const { return kind >= Kind::kCountRows; }
  // It, or something within it.
  bool has_aggregate() const {
    return is_aggregate() || std::ranges::any_of(operands, &Selection::has_aggregate);
  }
};

struct SelectPlan {
  std::shared_ptr<const TableDefinition> table;
  // One for each column of the partition key; empty: all partitions, in token order.
  std::vector<KeyAlternatives> partition_key;
  std::vector<TokenBound> token_bounds;  // of a scan
  ClusteringRestriction clustering;
  bool at_most_one_row = false;      // whatever the values are: never paged
  bool uses_index = false;           // by ScyllaDB's rules, whoever finds the rows:
  std::optional<IndexLookup> index;  // storage, or else `filters`
  // What order and index leave over. Of a virtual table: all restrictions.
  std::vector<RowFilter> filters;

  std::vector<Selection> selections;
  bool is_aggregate = false;  // a row for each group of rows
  // Positions of the key columns in which the rows of a group agree; none: all rows are one group.
  std::vector<uint16_t> group_by;
  bool distinct = false;    // a row for each partition
  bool reversed = false;    // against the clustering order
  bool is_ordered = false;  // ORDER BY was said: rows of several partitions are merged
  // Clustering columns up to the last that ORDER BY names: those before it have one value or are
  // named as well.
  size_t ordered_columns = 0;
  std::optional<Operand> limit;
  std::optional<Operand> per_partition_limit;
  bool warns_of_filtering = false;  // kFilteringWarning goes with the answer
  // ---- Where Cassandra differs: see Dialect.
  // Of each partition key column, whether IN has it descending; empty: none.
  std::vector<bool> in_descending = {};
  bool merges_filtered_and_stably = false;  // rows of several partitions, of ORDER BY beside IN
  bool refuses_pages = false;               // of what ORDER BY might have to merge
  bool scans_serially = false;              // SERIAL may be asked for
  std::vector<Operand> not_empty = {};      // values that must have bytes, or lists of such
  std::string_view warning = {};            // goes with the answer
  std::optional<Operand> timeout;           // instead of the settings'

  // Every key column of the partition is restricted to one value.
  bool is_single_partition() const;
};

// ---- INSERT, UPDATE, DELETE

struct CellAssignment {
  enum class Kind : uint8_t {
    kSet,       // null: the cell is deleted; of a column of several cells: in place of all
    kAdd,       // to a counter, or elements to a collection, behind those of a list
    kSubtract,  // from a counter, or elements; of a map keys
    // Of columns of several cells alone:
    kPrepend,        // elements to a list
    kSetElement,     // that at `element`, an index or key
    kSetTimeuuid,    // that of a list at `element`, a timeuuid
    kDeleteElement,  // as kSetElement; of a set the element itself
    kSetField,       // `field`; null: it is deleted
    kDelete,         // all of them
  };
  ColumnId column = 0;
  Operand value;
  Kind kind = Kind::kSet;
  // Of a column of several cells its type; any other: the column has one.
  DataType elements = CqlType::kBlob;
  std::optional<Operand> element = {};
  size_t field = 0;
  // Where the column was dropped once and is there again: what is written with a timestamp up to
  // this is not there.
  std::optional<int64_t> hidden_until = {};

  bool of_elements() const { return elements.is_multi_cell(); }
  // What it writes depends on the elements that are there.
  bool reads() const {
    return elements.kind() == DataType::Kind::kList &&
           (kind == Kind::kSubtract || kind == Kind::kSetElement || kind == Kind::kDeleteElement);
  }
};

// What IF asks of the row.
struct ConditionPlan {
  enum class Existence : uint8_t {
    kAny,
    kExists,    // IF EXISTS
    kNotExists  // IF NOT EXISTS
  };
  Existence existence = Existence::kAny;
  // All hold, by the rules of IF: see cql/plan/conditions.h.
  std::vector<RowFilter> cells;
  // An empty collection of several cells is null, and nothing compares with it. Source: Cassandra
  // cql3/conditions/ColumnCondition.java.
  bool empty_is_null = false;
};

struct ViewPlans;  // view_plan.h

struct ModificationPlan {
  enum class Kind : uint8_t {
    kInsert,
    kUpdate,
    kDeleteCells,
    kDeleteRows
  };
  Kind kind = Kind::kInsert;
  std::shared_ptr<const TableDefinition> table;
  std::vector<KeyAlternatives> partition_key;
  // All clustering columns; for kDeleteRows maybe fewer, or a slice: then a range of rows goes;
  // none where only static columns are written.
  ClusteringRestriction clustering;
  std::vector<CellAssignment> assignments;  // of regular columns
  std::vector<CellAssignment> static_assignments;
  // No row is written or asked for: static columns alone.
  bool only_statics = false;
  // Of the table's views; nullptr: it has none.
  std::shared_ptr<const ViewPlans> views;
  std::optional<Operand> timestamp;
  std::optional<Operand> ttl;
  std::optional<Operand> timeout;  // as in SelectPlan; of a statement of a batch it has no effect
  bool is_counter = false;         // of a table of counters: what it assigns is added
  // Names one row then.
  std::optional<ConditionPlan> condition;
  // Columns of the answer of a conditional statement: [applied], and of the row as it was.
  std::vector<Selection> answer;
};

struct BatchPlan {
  BatchStatement::Kind kind = BatchStatement::Kind::kLogged;
  std::optional<Operand> timestamp;
  std::optional<Operand> timeout;  // as in SelectPlan
  std::vector<ModificationPlan> modifications;
  // Of a batch with conditions: a row for each statement.
  std::vector<Selection> answer;
};

// ---- The rest

struct UsePlan {
  std::string keyspace;
};
// Executed against the schema of the moment: nothing is kept of the one it was planned with.
struct SchemaPlan {
  std::shared_ptr<const Statement> statement;
  // Those of its parts that may be bound: of ALTER TABLE ... DROP, and of TRUNCATE.
  std::optional<Operand> timestamp = {};
  std::optional<Operand> timeout = {};
};
struct DescribePlan {
  DescribeStatement statement;
  std::string keyspace;  // the connection's
};

// Of roles and permissions, whatever is done with them; nothing was looked up.
struct RolePlan {
  std::shared_ptr<const Statement> statement;
};
// Of what PRUNE may be said: a view. No row is left to be taken out.
struct PruneViewPlan {
  std::shared_ptr<const TableDefinition> view;
};

struct Plan {
  std::variant<SelectPlan, ModificationPlan, BatchPlan, UsePlan, SchemaPlan, DescribePlan, RolePlan,
               PruneViewPlan>
      body;
  std::vector<BindVariable> variables;
  // Held behind the values of the variables while it is executed (computed_values.h).
  std::vector<ComputedValue> computed;
  // For each column of the partition key the variable that is bound to it; empty when there is
  // none for some. Token-aware drivers go by it.
  std::vector<uint16_t> partition_key_variables;
  // What the statement asks for and does not get, although it is accepted.
  std::vector<CqlFeature> without_effect;
  // The columns of a conditional write's answer are known when it was executed.
  bool answer_varies = false;
  // A write, or batch of writes, that depends on what is there.
  bool is_conditional() const;
  // Names and types of the columns of a result: SELECT and conditional writes have them before they
  // are executed. nullptr: there are none.
  const std::vector<Selection>* result_columns() const;
};

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLAN_PLAN_H_
