// StatementCache: prepared statements by id.
#ifndef LISTSTORE_ENGINE_EXECUTE_STATEMENT_CACHE_H_
#define LISTSTORE_ENGINE_EXECUTE_STATEMENT_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "engine/base/mutex.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/plan/planned_statement.h"
#include "engine/protocol/response.h"

namespace liststore {

// A statement with everything of its answers that does not depend on values. Immutable.
struct PreparedStatement : PlannedStatement {
  std::string id;
  protocol::ColumnsMetadata variables;
  protocol::ColumnsMetadata columns;  // of a SELECT, or a conditional write
  bool is_groupable = false;          // see ExecuteGroup
  size_t bytes = 0;                   // BytesOf, once all else is there
};

// What keeping the statement takes: its text, its plan, and what is encoded of it.
size_t BytesOf(const PreparedStatement& statement);

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

// Thread-safe; 20 ns a look-up while nobody else looks. At most kStatementsMax, of kBytesMax in
// all: those that were not looked up for the longest time go then, and their next EXECUTE has the
// driver prepare them again. (A StatementMemo looks up again behind each that goes, so that what
// clients use stays.) ScyllaDB keeps what a 256th of its memory holds, at 10,000 bytes each.
class StatementCache {
 public:
  static constexpr size_t kStatementsMax = 10'000;
  static constexpr size_t kBytesMax = size_t{64} << 20;

  // nullptr: unknown, or dropped.
  std::shared_ptr<const PreparedStatement> Find(std::string_view id) const;
  // False: it is larger than all may be.
  [[nodiscard]] bool Put(std::shared_ptr<const PreparedStatement> statement);
  void Drop(std::string_view id);
  // Drops the statements that read or write a table; of all tables of the keyspace when `table` is
  // empty. O(statements).
  void DropDependents(std::string_view keyspace, std::string_view table);
  void DropAll();
  size_t size() const;
  size_t bytes() const;
  // Counts up whenever Find has come to answer otherwise for an id that it knew. A load.
  uint64_t drops() const { return drops_.load(std::memory_order_acquire); }

 private:
  // Behind the change.
  void NoteDrop() { drops_.fetch_add(1, std::memory_order_release); }

  // The one that was looked up last is the last.
  using Statements = std::list<std::shared_ptr<const PreparedStatement>>;

  // False: it is not there. `id` may be the statement's own.
  bool Erase(std::string_view id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::atomic<uint64_t> drops_ = 0;
  mutable Statements by_use_ ABSL_GUARDED_BY(mutex_);
  // By ids that the statements hold.
  absl::flat_hash_map<absl::string_view, Statements::iterator> statements_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of by_use_
};

// The statements that a client has executed lately, found without the cache's lock as long as the
// cache has dropped nothing. Of one cache, on one thread. Holds what was found in a turn until that
// ends, and over that kPlaces statements of kBytesMax each, which the cache may have dropped
// meanwhile.
class StatementMemo {
 public:
  // As StatementCache::Find. Valid until EndTurn.
  const PreparedStatement* Find(const StatementCache& cache, std::string_view id) {
    // Ids are digests: any byte spreads them.
    Place& place = places_[id.empty() ? 0 : static_cast<unsigned char>(id[0]) % kPlaces];
    const uint64_t drops = cache.drops();
    if (place.statement == nullptr || place.drops != drops || !IsSameId(place.statement->id, id)) {
      Replace(place, {cache.Find(id), drops});
    }
    return place.statement.get();
  }
  void EndTurn();

 private:
  static constexpr size_t kPlaces = 4;
  static constexpr size_t kBytesMax = 64 << 10;

  struct Place {
    std::shared_ptr<const PreparedStatement> statement;
    uint64_t drops = 0;  // the cache's, before it was asked
  };

  // Without a call for ids of the usual length.
  static bool IsSameId(std::string_view a, std::string_view b) {
    if (a.size() != kStatementIdBytes || b.size() != kStatementIdBytes) return a == b;
    return std::memcmp(a.data(), b.data(), kStatementIdBytes) == 0;
  }
  static bool IsLarge(const Place& place) {
    return place.statement != nullptr && place.statement->bytes > kBytesMax;
  }
  void Replace(Place& place, Place by);

  std::array<Place, kPlaces> places_;
  std::vector<std::shared_ptr<const PreparedStatement>> replaced_;  // in this turn
  bool has_large_ = false;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_EXECUTE_STATEMENT_CACHE_H_
