// Changes of the schema that are refused: what is said, and the error that the models foretell.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_REFUSALS_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_REFUSALS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/random.h"
#include "tests/conformance/random_schema_changes.h"

namespace liststore::testing {

struct RandomRefusal {
  std::string_view kind;
  std::string statement;
  int32_t code = 0;
  std::string error;  // all of it
};

// Of any kind that the tables have an occasion for.
RandomRefusal MakeRandomRefusal(Random& random, const ModelTables& tables);

std::span<const std::string_view> RefusalKinds();

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_REFUSALS_H_
