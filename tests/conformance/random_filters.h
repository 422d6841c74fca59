// Conditions on columns, of keys or not, beside ALLOW FILTERING or by an index.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_FILTERS_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_FILTERS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/random.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/read_model.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

// A column's value.
using ValueOfRow = std::function<std::optional<std::string>(const LiveRow& row)>;

// "v0 <= x", "c1 IN (x, y)"; CONTAINS of a collection of several cells. `before` stands before it.
// Whether it says `=` or IN.
bool AddFilter(Random& random, std::string_view before, const ModelColumn& column,
               const ValueOfRow& value, StatementText& text, ReadShape& shape);

// What the schema's index answers.
void AddIndexCondition(Random& random, const ModelSchema& schema, const ValueOfRow& value,
                       StatementText& text, ReadShape& shape);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_FILTERS_H_
