// Where Cassandra differs from ScyllaDB's rules: docs/cql_support.md has a row for each.
#ifndef LISTSTORE_TESTS_CONFORMANCE_KNOWN_DIFFERENCES_H_
#define LISTSTORE_TESTS_CONFORMANCE_KNOWN_DIFFERENCES_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/cql_session.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

// A statement that the model answers and a server refuses.
struct Refusal {
  std::string_view statement;  // with literals
  bool paged = false;
  const ModelSchema& schema;  // of its table
  std::string_view error;
};
// The name, if the statement is of the kind that is refused so; empty: it has none.
std::string NameOfRefusal(const Refusal& refusal);

// The rules by which the model's answer is the one that was found, as few as can be; none: it has
// no name. `answer` gives the model's by other rules.
std::vector<std::string> NamesOfOtherAnswer(
    std::string_view statement, bool paged, const ModelSchema& schema,
    const std::vector<ResultRow>& found,
    const std::function<std::vector<ResultRow>(const AnswerRules&)>& answer);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_KNOWN_DIFFERENCES_H_
