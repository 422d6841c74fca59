// Batches of random writes, without conditions.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_BATCHES_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_BATCHES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "tests/conformance/cql_session.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

struct RandomBatch {
  std::function<CqlAnswer(CqlSession& session)> send;
  std::string shown;
  // Does it to the models; the timestamp is for where neither the batch nor its message has one.
  std::function<void(int64_t timestamp, int64_t now_seconds)> apply;
};

// A BATCH message, or BEGIN BATCH ... APPLY BATCH. The models that `any_model` gives outlive the
// result.
RandomBatch MakeRandomBatch(Random& random, const std::function<TableModel&()>& any_model,
                            WriteTimes times);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_BATCHES_H_
