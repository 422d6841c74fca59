// StatementCache: prepared statements by id.
#ifndef LISTSTORE_ENGINE_SERVER_STATEMENT_CACHE_H_
#define LISTSTORE_ENGINE_SERVER_STATEMENT_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "engine/base/mutex.h"
#include "engine/cql/plan.h"
#include "engine/cql/planned_statement.h"
#include "engine/protocol/response.h"

namespace liststore {

// A statement with everything of its answers that does not depend on values. Immutable.
struct PreparedStatement : PlannedStatement {
  std::string id;
  protocol::ColumnsMetadata variables;
  protocol::ColumnsMetadata columns;  // of a SELECT, or a conditional write
  bool is_groupable = false;          // see ExecuteGroup
};

inline constexpr size_t kStatementIdBytes = 16;

// MD5 of keyspace and text, kStatementIdBytes: the same on every server and after a restart.
// Source: ScyllaDB cql3/query_processor.cc, hash_target.
std::string StatementId(std::string_view keyspace, std::string_view text);

// Names and types of a plan's variables and result columns, encoded. The error: a name is too long.
std::optional<protocol::ProtocolError> EncodeMetadata(const Plan& plan,
                                                      protocol::ColumnsMetadata& variables,
                                                      protocol::ColumnsMetadata& columns);
std::optional<protocol::ProtocolError> EncodeColumns(const TableDefinition& table,
                                                     const std::vector<Selection>& result,
                                                     protocol::ColumnsMetadata& columns);

// Thread-safe; 20 ns a look-up while nobody else looks. At most kStatementsMax: the one that was
// prepared first goes then, and its next EXECUTE has the driver prepare it again.
class StatementCache {
 public:
  static constexpr size_t kStatementsMax = 10'000;

  // nullptr: unknown, or dropped.
  std::shared_ptr<const PreparedStatement> Find(std::string_view id) const;
  void Put(std::shared_ptr<const PreparedStatement> statement);
  void Drop(std::string_view id);
  // Drops the statements that read or write a table; of all tables of the keyspace when `table` is
  // empty. O(statements).
  void DropDependents(std::string_view keyspace, std::string_view table);
  size_t size() const;
  // Counts up whenever Find has come to answer otherwise for an id that it knew. A load.
  uint64_t drops() const { return drops_.load(std::memory_order_acquire); }

 private:
  // Behind the change.
  void NoteDrop() { drops_.fetch_add(1, std::memory_order_release); }

  mutable Mutex mutex_;
  std::atomic<uint64_t> drops_ = 0;
  absl::flat_hash_map<std::string, std::shared_ptr<const PreparedStatement>> statements_
      ABSL_GUARDED_BY(mutex_);
  // Ids in the order of preparing; those that were dropped meanwhile too.
  std::deque<std::string> order_ ABSL_GUARDED_BY(mutex_);
};

// The statements that a client has executed lately, found without the cache's lock as long as the
// cache has dropped nothing. Of one cache, on one thread.
class StatementMemo {
 public:
  // As StatementCache::Find. Valid until the next call.
  const std::shared_ptr<const PreparedStatement>& Find(const StatementCache& cache,
                                                       std::string_view id) {
    // Ids are digests: any byte spreads them.
    Place& place = places_[id.empty() ? 0 : static_cast<unsigned char>(id[0]) % kPlaces];
    const uint64_t drops = cache.drops();
    if (place.statement == nullptr || place.drops != drops || !IsSameId(place.statement->id, id)) {
      place = {cache.Find(id), drops};
    }
    return place.statement;
  }

 private:
  static constexpr size_t kPlaces = 4;

  struct Place {
    std::shared_ptr<const PreparedStatement> statement;
    uint64_t drops = 0;  // the cache's, before it was asked
  };

  // Without a call for ids of the usual length.
  static bool IsSameId(std::string_view a, std::string_view b) {
    if (a.size() != kStatementIdBytes || b.size() != kStatementIdBytes) return a == b;
    return std::memcmp(a.data(), b.data(), kStatementIdBytes) == 0;
  }

  std::array<Place, kPlaces> places_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVER_STATEMENT_CACHE_H_
