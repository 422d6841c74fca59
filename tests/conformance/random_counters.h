// Tables of counters: additions, batches of them, and deletions.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_COUNTERS_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_COUNTERS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "engine/base/random.h"
#include "tests/conformance/cql_session.h"
#include "tests/conformance/random_types.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

// All columns that are no key are counters.
ModelSchema RandomCounterSchema(Random& random, std::string table, const ModelUserTypes& types);

struct RandomCounterWrite {
  std::function<CqlAnswer(CqlSession& session)> send;
  std::string shown;
  // At the server's timestamp, which is above all before it.
  std::function<void(int64_t timestamp, int64_t now_seconds)> apply;
};

// `may_delete`: rows and partitions too. `model` outlives the result.
RandomCounterWrite MakeRandomCounterWrite(Random& random, TableModel& model, bool may_delete);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_COUNTERS_H_
