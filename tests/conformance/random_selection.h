// What a SELECT selects: columns, their times and parts, JSON, values made of them.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_SELECTION_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_SELECTION_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/random.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/read_model.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

// A list of selectors that grows, in the text of a statement and in the shape of its answer.
struct Selection {
  Random& random;
  const ModelSchema& schema;
  bool with_write_times;   // may ask for WRITETIME
  bool has_own_functions;  // those that liststore alone has
  StatementText& text;
  ReadShape& shape;

  // Begins the next selector, behind a comma if it is not the first.
  void Say(std::string_view selector) const {
    text << (shape.selectors.empty() ? "" : ", ") << selector;
  }
  template <typename Value>
  void Add(Value value, Aggregate aggregate = Aggregate::kFirst,
           DataType type = CqlType::kBlob) const {
    shape.selectors.push_back(
        {[value = std::move(value)](const LiveRow& row, int64_t now_seconds, const AnswerRules&) {
           return value(row, now_seconds);
         },
         aggregate, std::move(type)});
  }
  // One that servers have different rules for.
  template <typename Value>
  void AddByRules(Value value) const {
    shape.selectors.push_back({std::move(value)});
  }
  // A value's column.
  void AddColumn(size_t value) const;
};

// Of any kind: `*`, columns and what is made of them, JSON, aggregates.
void AddSelection(const Selection& selection);
// All columns, with their times.
void AddWholeSelection(const Selection& selection);
// Behind DISTINCT: the partition key, maybe without some of it, and static columns.
void AddDistinctSelection(const Selection& selection, bool may_leave_out_keys);

// "p0, p1"
std::string KeyNames(const ModelSchema& schema);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_SELECTION_H_
