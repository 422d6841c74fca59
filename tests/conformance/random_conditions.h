// Writes with IF, and what they must answer.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_CONDITIONS_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_CONDITIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "tests/conformance/cql_session.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

struct RandomConditionalWrite {
  CqlStatement sent;
  std::string shown;
  // Judges the model's row, writes to it if that is what it says, and gives the answer. The write
  // is at `now_micros`, or above what the row has.
  std::function<std::vector<ResultRow>(int64_t now_micros, int64_t now_seconds)> apply;
};

// Of one row, without timestamps. `model` outlives the result.
RandomConditionalWrite MakeRandomConditionalWrite(Random& random, TableModel& model);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_CONDITIONS_H_
