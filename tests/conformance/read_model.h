// What a SELECT makes of the rows of a model.
#ifndef LISTSTORE_TESTS_CONFORMANCE_READ_MODEL_H_
#define LISTSTORE_TESTS_CONFORMANCE_READ_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/types/data_type.h"
#include "tests/conformance/cql_session.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

// How the values of several rows become one.
enum class Aggregate : uint8_t {
  kFirst,  // the first row's
  kCount,
  kMin,
  kMax,
  // Of varints.
  kSum,
  kAvg
};

// A value of a row.
struct Selector {
  std::function<std::optional<std::string>(const LiveRow&, int64_t now_seconds, const AnswerRules&)>
      value;
  // Where the read has aggregates.
  Aggregate aggregate = Aggregate::kFirst;
  DataType type = CqlType::kBlob;  // of the value; kMin and kMax alone ask for it
  // As RandomRead::make_comparable, of the values of all rows; none: they are compared as they are.
  std::function<void(std::vector<std::optional<std::string>>& values, const TimeWindow& window)>
      make_comparable = {};
};

// What becomes of the rows that match.
struct ReadShape {
  using Condition = std::function<bool(const LiveRow&, const AnswerRules&)>;
  std::vector<Condition> conditions;
  bool reversed = false;
  // Partitions are named, each by `=` or IN for every column: they come by the values of their keys,
  // else by token.
  bool is_named = false;
  // ORDER BY of so many clustering columns beside IN: rows of all partitions in one order.
  size_t merged = 0;
  bool filters = false;  // it needs ALLOW FILTERING
  bool distinct = false;
  std::optional<int64_t> per_partition_limit;
  std::optional<int64_t> limit;
  std::vector<Selector> selectors;
  bool aggregates = false;
  // GROUP BY the partition key and so many clustering columns; limits are of groups.
  std::optional<size_t> grouped;
  // Rows are asked for: static values do not stand for a partition without any.
  bool of_rows = false;
};

// In place of a value that the server cannot make: the read is refused.
extern const std::string kNoJson;
bool IsRefused(const std::vector<ResultRow>& rows);

std::vector<ResultRow> Evaluate(const TableModel& model, const ReadShape& shape,
                                int64_t now_seconds, const AnswerRules& rules);

// Of a key column of a row, and of another one.
std::optional<std::string> ClusteringValue(const LiveRow& row, size_t column);
std::optional<std::string> CellValue(const LiveRow& row, size_t column);

// A type of whole numbers of which many can be added up.
bool IsSmall(const DataType& type);
// By each selector's own.
void MakeComparable(const ReadShape& shape, const TimeWindow& window, std::vector<ResultRow>& rows);

// A whole number of any length, and the shortest varint of one. The numbers of pools fit, but for
// those of bigint columns.
int64_t IntOf(std::string_view bytes);
std::string VarintOf(int64_t value);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_READ_MODEL_H_
