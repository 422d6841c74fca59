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
  // When it is written, by the server.
  struct Instant {
    int64_t micros = 0;       // or above what the row has
    int64_t list_micros = 0;  // of what is appended to lists
    int64_t seconds = 0;
  };
  struct Answer {
    std::vector<ResultRow> rows;
    // What Cassandra may say instead: it has no columns when the write was applied or nothing was
    // read, and others where it has read the partition's static row alone.
    std::vector<ResultRow> of_cassandra;
  };
  // Judges the model's row, writes to it if that is what it says, and gives the answer.
  std::function<Answer(const Instant& now)> apply;
};

struct ConditionOptions {
  bool has_short_ttls = true;  // of less than a quarter of an hour, but for that of the table
  // A collection of several cells that is compared with an empty one is compared with null.
  bool empty_is_null = false;
};

// Of one row, without timestamps. `model` outlives the result.
RandomConditionalWrite MakeRandomConditionalWrite(Random& random, TableModel& model,
                                                  const ConditionOptions& options);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_CONDITIONS_H_
