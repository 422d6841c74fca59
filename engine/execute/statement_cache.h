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
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "engine/base/mutex.h"
#include "engine/execute/prepared_statement.h"

namespace liststore::execute {

// Thread-safe; 20 ns a look-up while nobody else looks. At most kStatementsMax, of kBytesMax in
// all: some go then, and their next EXECUTE has the driver prepare them again. Those go first that
// were executed once at most, so that a client that prepares what it never uses again pushes out
// nothing that others use; among these, and among the others, those that were not executed for the
// longest time. ScyllaDB has two sections as well (cql3/prepared_statements_cache.hh), and keeps
// what a 256th of its memory holds, at 10,000 bytes each.
//
// A segmented LRU: a statement enters the `fresh_`, the second use that is noticed makes it one of
// the `proven_`, which have three quarters of all; what is pushed out of these is fresh again. Uses
// that a StatementMemo has answered are noticed when it is the statement's turn to go: it goes to
// the end instead. So an execution costs no lock and no shared line that is written, and Put is
// O(1) but for statements whose use it finds, once for each.
//
// Invariants: (1) each statement is in one of the lists, and `statements_` has its place there;
// (2) the bytes of a list are those of its statements; (3) what leaves is marked as dropped.
class StatementCache {
 public:
  static constexpr size_t kStatementsMax = 10'000;
  static constexpr size_t kBytesMax = size_t{64} << 20;

  // Instead of kBytesMax.
  explicit StatementCache(size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  size_t bytes_max() const { return bytes_max_.load(std::memory_order_relaxed); }
  // What is more goes with the next statement that is put in.
  void set_bytes_max(size_t bytes) { bytes_max_.store(bytes, std::memory_order_relaxed); }
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
  // What clients wanted to execute so far: what their memos had themselves is in neither.
  struct Lookups {
    uint64_t hits = 0;    // that Find had
    uint64_t misses = 0;  // that were answered as not known
  };
  // A client is told that its statement is not known. Many may have called Find for it, to say whose it is: those
  // do not count.
  void NoteMiss() const;
  Lookups lookups() const;

 private:
  static constexpr size_t kProvenMax = kStatementsMax / 4 * 3;
  // Executed once is what everybody does who prepares.
  static constexpr uint8_t kUsesOfProven = 2;

  struct Entry {
    std::shared_ptr<const PreparedStatement> statement;
    uint8_t uses = 0;  // that were noticed, up to kUsesOfProven
    bool is_proven = false;
  };
  // The one that was used last is the last.
  using Entries = std::list<Entry>;
  struct Segment {
    Entries entries;
    size_t bytes = 0;
  };

  Segment& SegmentOf(const Entry& entry) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return entry.is_proven ? proven_ : fresh_;
  }
  // To the end of the fresh or of the proven.
  void MoveTo(Entries::iterator at, bool is_proven) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteUse(Entries::iterator at) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The first of a list goes, to its end when it was used since.
  void Push(Segment& segment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Erase(Entries::iterator at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Nothing when it is not there. `id` may be the statement's own.
  void Erase(std::string_view id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t bytes_held() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return fresh_.bytes + proven_.bytes;
  }

  std::atomic<size_t> bytes_max_;
  mutable Mutex mutex_;
  mutable Segment fresh_ ABSL_GUARDED_BY(mutex_);
  mutable Segment proven_ ABSL_GUARDED_BY(mutex_);
  // By ids that the statements hold.
  std::unordered_map<absl::string_view, Entries::iterator, absl::Hash<absl::string_view>>
      statements_ ABSL_GUARDED_BY(mutex_);
  mutable Lookups lookups_ ABSL_GUARDED_BY(mutex_);
};

// The statements that a client has executed lately, found without the cache's lock as long as it
// has them. Of one cache, on one thread. Holds what was found in a turn until that ends, and over
// that kPlaces statements of kBytesMax each, which the cache may have dropped meanwhile.
class StatementMemo {
 public:
  // As StatementCache::Find. Valid until EndTurn.
  const PreparedStatement* Find(const StatementCache& cache, std::string_view id) {
    // Ids are digests: any byte spreads them.
    Place& place = places_[id.empty() ? 0 : static_cast<unsigned char>(id[0]) % kPlaces];
    if (place == nullptr || place->use.is_dropped() || !IsSameId(place->id, id)) {
      Replace(place, cache.Find(id));
    } else {
      place->use.NoteUse();
    }
    return place.get();
  }
  void EndTurn();

 private:
  static constexpr size_t kPlaces = 4;
  static constexpr size_t kBytesMax = 16 << 10;

  using Place = std::shared_ptr<const PreparedStatement>;

  // Without a call for ids of the usual length.
  static bool IsSameId(std::string_view a, std::string_view b) {
    if (a.size() != kStatementIdBytes || b.size() != kStatementIdBytes) return a == b;
    return std::memcmp(a.data(), b.data(), kStatementIdBytes) == 0;
  }
  static bool IsLarge(const Place& place) { return place != nullptr && place->bytes > kBytesMax; }
  void Replace(Place& place, Place by);

  std::array<Place, kPlaces> places_;
  std::vector<std::shared_ptr<const PreparedStatement>> replaced_;  // in this turn
  bool has_large_ = false;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_STATEMENT_CACHE_H_
