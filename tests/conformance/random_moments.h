// Functions whose values no model foretells: those of the statement's instant, and of chance.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_MOMENTS_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_MOMENTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "tests/conformance/cql_session.h"
#include "tests/conformance/random_selection.h"
#include "tests/conformance/random_statements.h"

namespace liststore::testing {

// One of them among the selected columns: its values are compared by what has to hold of them.
void AddMoment(const Selection& to);

inline constexpr std::string_view kMomentWritten = "a moment is written into cells";
inline constexpr std::string_view kStaticMomentWritten = "a moment is written into static cells";

// A write of such functions into columns of any table.
struct MomentWrite {
  std::string_view kind;  // one of the above
  CqlStatement sent;
  std::string shown;
  // To be asked at once: the columns' values.
  CqlStatement read;
  // Does the same to the model, by the values that were read; empty: they are as they have to be.
  std::function<std::string(const CqlAnswer& read, const TimeWindow& of_write, int64_t timestamp,
                            int64_t now_seconds)>
      apply;
};
// nullopt: the table has no columns for them. `model` outlives the result.
std::optional<MomentWrite> MakeMomentWrite(Random& random, TableModel& model,
                                           const WriteTimes& times);

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
