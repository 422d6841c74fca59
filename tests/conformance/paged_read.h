// PagedRead: a SELECT whose columns go by their names, so that the schema may change between two of
// its pages: what is due before and after.
#ifndef LISTSTORE_TESTS_CONFORMANCE_PAGED_READ_H_
#define LISTSTORE_TESTS_CONFORMANCE_PAGED_READ_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "tests/conformance/cql_session.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

class PagedRead {
 public:
  // Of all rows, those of a partition or those with a value; `model` outlives it.
  PagedRead(Random& random, const TableModel& model, int64_t now_seconds);

  const CqlStatement& sent() const { return sent_; }
  const std::string& shown() const { return shown_; }

  // A row, and what is answered of it.
  using Row = std::pair<LiveRow, ResultRow>;
  // By the schema as it is; all names are there.
  std::vector<Row> Rows(int64_t now_seconds) const;
  // Of these rows those behind one of before.
  std::vector<ResultRow> Behind(const LiveRow& last, int64_t now_seconds) const;
  // Of the names of columns in the statement those that the table has no longer.
  std::vector<std::string> Missing() const;

 private:
  std::optional<std::string> ValueOf(const LiveRow& row, const std::string& name) const;
  bool Selects(const LiveRow& row) const;

  const TableModel& model_;
  std::vector<std::string> names_;                          // none: *
  std::vector<std::pair<std::string, std::string>> equal_;  // column and value
  CqlStatement sent_;
  std::string shown_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_PAGED_READ_H_
