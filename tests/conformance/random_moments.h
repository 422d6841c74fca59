// Functions whose values no model foretells: those of the statement's instant, and of chance.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_MOMENTS_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_MOMENTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "tests/conformance/cql_session.h"
#include "tests/conformance/random_selection.h"
#include "tests/conformance/random_statements.h"

namespace liststore::testing {

// One of them among the selected columns: its values are compared by what has to hold of them.
void AddMoment(const Selection& to);

// A table whose rows are written by such functions, and read back at once.
class MomentTable {
 public:
  // `name` with its keyspace.
  explicit MomentTable(std::string name) : name_(std::move(name)) {}

  std::string CreateStatement() const;
  // Writes a row and reads its partition. `run` runs a statement and says when; the statements'
  // texts go to `shown`. Empty: all is as it has to be; else what is not.
  using Runner = std::function<CqlAnswer(const CqlStatement& statement, TimeWindow& window)>;
  std::string Step(Random& random, const Runner& run, std::string& shown);

 private:
  std::string CheckNew(const ResultRow& row, const TimeWindow& window);

  const std::string name_;
  std::map<int64_t, std::vector<ResultRow>> rows_;  // by partition, in their order
  int64_t last_ticks_ = 0;                          // of the greatest now() so far
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_MOMENTS_H_
