// What CQL has and liststore does not: refused by name, or accepted without effect. The one list of
// it, for errors, the table liststore.unsupported and docs/cql_support.md. (Features of CQL; those
// of list stores are something else.)
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_UNSUPPORTED_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_UNSUPPORTED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace liststore::cql {

// X(feature, number, name, instead). `number` makes the code, LS-0001: clients look for it, so it
// never changes and is not used again. To add a feature take the next number; to implement one
// delete its line, and the compiler shows where it is refused. `name` goes into "liststore does not
// support ..."; `instead` is the nearest way that works.
// clang-format off
#define LISTSTORE_CQL_REFUSED(X)                                                                   \
  X(kUserFunctions, 3, "user-defined functions and aggregates", "computing it in the service")     \
  X(kTriggers, 4, "triggers", "a batch that makes the further writes as well")                     \
  X(kServiceLevels, 6, "service levels", "leaving them out: requests are served alike")            \
  X(kVectors, 11, "vectors", "a blob, and the search in the service")                              \
  X(kFunctions, 17, "functions of columns in WHERE", "filtering in the service")                   \
  X(kTtlPerRow, 31, "TTLs by a column", "USING TTL or default_time_to_live")                       \
  X(kCdc, 32, "change data capture", "a table of the changes, written in the same batch")          \
  X(kRateLimits, 33, "rate limits of partitions", "a limit in the service")                        \
  X(kEncryption, 34, "encryption of tables", "values that the service encrypts")                   \
  X(kKeyspaceStorage, 35, "storage other than LOCAL", "leaving the option out")                    \
  X(kMutationFragments, 36, "MUTATION_FRAGMENTS", "the table itself, with TTL() and WRITETIME()")  \
  X(kVirtualWrites, 37, "batches, ranges and conditions of virtual tables", "INSERT, UPDATE or DELETE of one row")  \
  X(kDurationKeys, 43, "durations within elements of sets and keys of maps that are not frozen", "frozen<...>, written whole") \
  X(kViewFunctions, 45, "functions of the time in the WHERE of a view", "a column with the time")  \
  X(kDynamodbStreams, 46, "streams of DynamoDB", "a table of the changes, written in the same transaction") \
  X(kPartiql, 47, "PartiQL", "DynamoDB's other operations, or CQL on the keyspace dynamodb")       \
  X(kDynamodbBackups, 48, "backups, exports and imports of DynamoDB", "snapshots of the server, or COPY of the table over CQL") \
  X(kGlobalTables, 49, "global tables and replicas of DynamoDB", "one server: nothing is replicated")

// The same of what is accepted, kept where it can be shown, and changes nothing; instead of
// `instead` stands why.
#define LISTSTORE_CQL_WITHOUT_EFFECT(X)                                                            \
  X(kReplication, 101, "replication_factor", "one node has the one copy")                          \
  X(kDurableWrites, 102, "durable_writes", "rows are in memory alone")                             \
  X(kTablets, 103, "tablets", "one node has all partitions")                                       \
  X(kKeyspaceConsistency, 104, "consistency of keyspaces", "one node has the one copy")            \
  X(kCompaction, 105, "compaction", "there are no files to compact")                               \
  X(kCompression, 106, "compression", "rows are in memory, as they are")                           \
  X(kCaching, 107, "caching", "all rows are in memory")                                            \
  X(kSpeculativeRetry, 108, "speculative_retry", "there is no other node to ask")                  \
  X(kBloomFilters, 109, "bloom_filter_fp_chance", "there are no files to look into")               \
  X(kChecksums, 110, "crc_check_chance", "there are no files to check")                            \
  X(kIndexIntervals, 111, "min_index_interval and max_index_interval", "there are no files")       \
  X(kMemtableFlush, 112, "memtable_flush_period_in_ms", "there are no files to write to")          \
  X(kTombstoneGc, 113, "tombstone_gc", "there is nothing to repair before tombstones go")          \
  X(kPaxosGrace, 114, "paxos_grace_seconds", "there are no rounds of Paxos")                       \
  X(kInMemory, 115, "in_memory", "all tables are")                                                 \
  X(kBypassCache, 116, "BYPASS CACHE", "rows are read where they are")                             \
  X(kTimeouts, 117, "USING TIMEOUT of TRUNCATE and PRUNE", "0ms ends at once; others are soon done") \
  X(kTracing, 118, "tracing", "answers come without a trace")                                      \
  X(kConsistencyLevels, 119, "consistency levels above ONE", "one node has the one copy")          \
  X(kOtherDatacenters, 120, "data centres that are not there", "the node has the one copy")        \
  X(kShellDescribe, 121, "DESCRIBE in Cassandra's cqlsh", "it asks servers from Cassandra 4 on alone: --release-version 4.1, or ScyllaDB's cqlsh")
// clang-format on

#define LISTSTORE_CQL_FEATURE_NAME(feature, number, name, instead) feature,
enum class CqlFeature : uint8_t {
  LISTSTORE_CQL_REFUSED(LISTSTORE_CQL_FEATURE_NAME)
  LISTSTORE_CQL_WITHOUT_EFFECT(LISTSTORE_CQL_FEATURE_NAME)
};
#undef LISTSTORE_CQL_FEATURE_NAME

#define LISTSTORE_CQL_FEATURE_ONE(feature, number, name, instead) +1
inline constexpr size_t kCqlFeatures = LISTSTORE_CQL_REFUSED(LISTSTORE_CQL_FEATURE_ONE)
    LISTSTORE_CQL_WITHOUT_EFFECT(LISTSTORE_CQL_FEATURE_ONE);
#undef LISTSTORE_CQL_FEATURE_ONE

struct CqlFeatureFacts {
  std::string_view code;  // "LS-0001"
  bool refused = true;    // else accepted without effect
  std::string_view name;
  std::string_view instead;  // without effect: why
};

// O(1); the views are to constants.
const CqlFeatureFacts& FactsOf(CqlFeature feature);
// The feature with a number below kCqlFeatures, in the order of the list, which is that of codes.
CqlFeature CqlFeatureAt(size_t index);

// "refused" or "no effect": as liststore.unsupported says it.
std::string_view KindName(const CqlFeatureFacts& facts);

// What a call of a function that CQL has by itself and liststore has not is refused as; nullopt: of
// all others. O(log functions).
std::optional<CqlFeature> FeatureOfFunction(std::string_view name);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_UNSUPPORTED_H_
