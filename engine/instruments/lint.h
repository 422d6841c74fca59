// Lint: habits that hurt at scale, found in what clients have sent.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_LINT_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_LINT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/instruments/journal.h"
#include "engine/model/schema.h"

namespace liststore::shard {
class Engine;
}  // namespace liststore::shard

namespace liststore::instruments {

// The same text but for its literals, so often, without being prepared.
inline constexpr uint64_t kLintUnpreparedMin = 3;
// Partitions that one SELECT may ask for.
inline constexpr size_t kLintKeysMax = 20;
// How far a client's clock may be ahead of the server's.
inline constexpr int64_t kLintAheadMicrosMax = 1'000'000;

// Rows that a read may pass over, deleted or over. Source: ScyllaDB's tombstone_warn_threshold.
inline constexpr uint64_t kLintDeadRowsMax = 1000;

struct LintFinding {
  std::string rule;        // "unprepared", "allow_filtering", ...
  std::string subject;     // a statement with ? for its literals, or "keyspace.table"
  uint64_t count = 0;      // requests; of large partitions those
  std::string detail;      // of the first of them; of the largest partition
  uint64_t first_seq = 0;  // 0: it is not about requests
};

// By rule and subject. Requests that failed are no habit. `schema`: of now.
// `honours_client_timestamps`: else those that drivers give by themselves have no effect, and are
// not looked at. O(records).
std::vector<LintFinding> Lint(const Journal& journal, const Schema& schema,
                              bool honours_client_timestamps);

// `text` with ? in place of each literal: what statements have in common that should be prepared.
std::string StatementShape(std::string_view text);

// The table liststore.lint, computed when it is read. Its columns are described in
// docs/cql_support.md. `journal` and `engine`, whose partitions are looked at, outlive the table.
// `replaces_client_timestamps`: asked with each read; empty: they are honoured.
std::unique_ptr<cql::VirtualTable> MakeLintTable(const Journal& journal, shard::Engine& engine,
                                                 std::function<bool()> replaces_client_timestamps);

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_LINT_H_
