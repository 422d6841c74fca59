// Writes with conditions: INSERT ... IF NOT EXISTS, UPDATE and DELETE ... IF, and batches of them.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_CONDITIONS_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_CONDITIONS_H_

#include <functional>
#include <string>

#include "engine/base/random.h"
#include "tests/conformance/condition_model.h"
#include "tests/conformance/cql_session.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

struct RandomConditionalWrite {
  std::function<CqlAnswer(CqlSession& session)> send;
  std::string shown;
  // Judges the model's rows, writes to them if that is what they say, and gives the answer.
  std::function<ConditionalAnswer(const ConditionalInstant& now)> apply;
};

struct ConditionOptions {
  bool has_short_ttls = true;  // of less than a quarter of an hour, but for that of the table
  ConditionRules rules = {};
};

// Of one row, or of several of a partition; without timestamps. `model` outlives the result.
RandomConditionalWrite MakeRandomConditionalWrite(Random& random, TableModel& model,
                                                  const ConditionOptions& options);
RandomConditionalWrite MakeRandomConditionalBatch(Random& random, TableModel& model,
                                                  const ConditionOptions& options);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_CONDITIONS_H_
