// Changes of the schema while its tables have rows: what is said, and what it means to the models.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_SCHEMA_CHANGES_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_SCHEMA_CHANGES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "tests/conformance/random_types.h"
#include "tests/conformance/table_model.h"
#include "tests/conformance/view_model.h"

namespace liststore::testing {

// The tables of a run.
struct ModelTables {
  std::string keyspace;
  ListCounts list_counts = {};
  ModelUserTypes types = {};
  std::vector<std::unique_ptr<TableModel>> models = {};
  std::vector<std::unique_ptr<ViewModel>> views = {};
  std::unique_ptr<TableModel> counters = nullptr;

  // The tables, then the views, then the counters.
  size_t readables() const { return models.size() + views.size() + 1; }
  const TableModel& readable(size_t number) const;
  // Those of a table.
  std::vector<ViewModel*> ViewsOf(const TableModel& base) const;
};

struct SchemaChangeOptions {
  // What ScyllaDB takes and Cassandra refuses is left out, or said as it has it.
  bool is_cassandra = false;
  bool has_short_ttls = true;  // by default, of less than a quarter of an hour
  // Tombstones may go at once: all writes have the server's timestamps.
  bool has_no_grace = false;
  // DROP of a column says up to which timestamp its cells go, and these are never seen again: after
  // all writes so far. nullopt: DROP says nothing.
  std::optional<int64_t> drop_timestamp = std::nullopt;
  // In a column that is added again, cells up to this one are not there.
  std::optional<int64_t> hidden_until = std::nullopt;
};

// A kind of change that a test is to have made.
inline constexpr std::string_view kFieldOfKeysAdded =
    "a field is added to a type of clustering keys";

inline constexpr std::string_view kPagesAroundAdd = "pages around ADD";
inline constexpr std::string_view kPagesAroundDrop = "pages around DROP";
inline constexpr std::string_view kPagesAroundRename = "pages around RENAME";
inline constexpr std::string_view kPagesAroundIndex = "pages around CREATE or DROP INDEX";
inline constexpr std::string_view kPagesAroundType = "pages around ALTER TYPE";

struct RandomSchemaChange {
  std::string_view kind = {};  // if it is one of those above
  std::vector<std::string> statements = {};
  // What some servers build behind the statement's back, with its keyspace left out.
  std::string built_index = {};
  std::string built_view = {};
  // Does it to the models; the one that is another now.
  std::function<const TableModel&()> apply = {};
  bool makes_table = false;
};

// `tables` outlives the result. The tables' CREATE statements have been said.
RandomSchemaChange MakeRandomSchemaChange(Random& random, ModelTables& tables,
                                          const SchemaChangeOptions& options);

// Of a table, between two pages of a read of it; nullopt: none was found.
std::optional<RandomSchemaChange> MakeChangeBetweenPages(Random& random, ModelTables& tables,
                                                         TableModel& model,
                                                         const SchemaChangeOptions& options);

// CREATE MATERIALIZED VIEW of one of the tables.
RandomSchemaChange MakeRandomView(Random& random, ModelTables& tables,
                                  const SchemaChangeOptions& options);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_SCHEMA_CHANGES_H_
