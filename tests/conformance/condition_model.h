// What IF asks of the rows of a partition, what it lets happen and how it is answered: of single
// statements and of batches.
#ifndef LISTSTORE_TESTS_CONFORMANCE_CONDITION_MODEL_H_
#define LISTSTORE_TESTS_CONFORMANCE_CONDITION_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/cql_session.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

struct ModelCondition {
  size_t column = 0;  // one that is no key
  // A part of it, in its place: the element at this key or index, or the field of this number.
  std::optional<std::string> element = {};
  std::optional<size_t> field = {};
  std::string_view op;
  std::vector<std::optional<std::string>> values;  // of IN several

  // Of what is compared.
  const DataType& TypeIn(const ModelSchema& schema) const;
};

struct ConditionalStatement {
  RowWrite write;  // names partition and row, also where nothing is written to it
  bool deletes = false;
  // Of a deletion that is not of the row that `write` names.
  TableModel::Predicate covers = {};
  bool whole_partition = false;

  std::optional<bool> exists = {};  // what IF [NOT] EXISTS wants
  std::vector<ModelCondition> conditions = {};

  bool is_conditional() const { return exists || !conditions.empty(); }
  bool names_row() const { return !covers && !write.statics_alone; }
};

// When it is written, by the server.
struct ConditionalInstant {
  int64_t micros = 0;                  // or above what the rows have
  std::optional<int64_t> list_micros;  // of what is appended to lists; nullopt: as it is written
  int64_t seconds = 0;
  // Deletions of partitions and of ranges come before the other writes of the batch; else all are
  // of one timestamp.
  bool ranges_first = false;
};

struct ConditionalAnswer {
  std::vector<ResultRow> rows;
  // What Cassandra may say instead: it has no columns when the write was applied or nothing was
  // read, and others where it has read the partition's static row alone.
  std::vector<std::vector<ResultRow>> of_cassandra;
};

// Rules of comparison that servers do not share: where nothing is said, ScyllaDB's.
struct ConditionRules {
  // A collection of several cells that is compared with an empty one is compared with null.
  bool empty_is_null = false;
  // Whether an element of a map is less or greater is told by the order of its keys, of integers.
  bool elements_as_keys = false;
};

// Judges the rows that the model has, writes if that is what they say, and gives the answer.
ConditionalAnswer ApplyConditional(TableModel& model, const ConditionalStatement& statement,
                                   const ConditionRules& rules, const ConditionalInstant& now);
// A batch on one partition of statements of which one has conditions.
ConditionalAnswer ApplyConditionalBatch(TableModel& model,
                                        std::span<const ConditionalStatement> statements,
                                        const ConditionRules& rules, const ConditionalInstant& now);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_CONDITION_MODEL_H_
