// The words of the grammar. Source: ScyllaDB cql3/Cql.g.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_KEYWORDS_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_KEYWORDS_H_

#include <cstdint>
#include <string_view>

namespace liststore::cql {

// X(name): R reserved: never a name. U usable as a name of anything. N a name of anything but a
// function. T a native type, and usable as a name of anything but a type.
// clang-format off
#define LISTSTORE_CQL_KEYWORDS(R, U, N, T)                                                         \
  R(ADD) R(ALLOW) R(ALTER) R(AND) R(APPLY) R(ASC) R(AUTHORIZE) R(BATCH) R(BEGIN) R(BY) R(CAST)     \
  R(COLUMNFAMILY) R(CREATE) R(DEFAULT) R(DELETE) R(DROP) R(ENTRIES) R(FROM) R(FULL) R(GRANT) R(IF) \
  R(IN) R(INDEX) R(INFINITY) R(INSERT) R(INTO) R(IS) R(KEYSPACE) R(LIMIT) R(MATERIALIZED)          \
  R(MODIFY) R(NAN) R(NORECURSIVE) R(NOT) R(NULL) R(OF) R(ON) R(OR) R(ORDER) R(PRIMARY) R(RENAME)   \
  R(REPLACE) R(REVOKE) R(SCHEMA) R(SCYLLA_CLUSTERING_BOUND) R(SCYLLA_COUNTER_SHARD_LIST)           \
  R(SCYLLA_TIMEUUID_LIST_INDEX) R(SELECT) R(SET) R(TABLE) R(TO)                                    \
  R(TOKEN) R(TRUNCATE) R(UNLOGGED) R(UNSET) R(UPDATE) R(USE) R(USING) R(VIEW) R(WHERE) R(WITH)     \
  N(COUNT) N(KEY) N(TTL) N(WRITETIME)                                                              \
  T(ASCII) T(BIGINT) T(BLOB) T(BOOLEAN) T(COUNTER) T(DATE) T(DECIMAL) T(DOUBLE) T(DURATION)        \
  T(FLOAT) T(INET) T(INT) T(SMALLINT) T(TEXT) T(TIME) T(TIMESTAMP) T(TIMEUUID) T(TINYINT) T(UUID)  \
  T(VARCHAR) T(VARINT)                                                                             \
  U(AGGREGATE) U(AGGREGATES) U(ALL) U(AS) U(ATTACH) U(ATTACHED) U(BYPASS) U(CACHE) U(CALLED)       \
  U(CLUSTER) U(CLUSTERING) U(COLUMNFAMILIES) U(COMPACT) U(CONTAINS) U(CUSTOM) U(DESC) U(DESCRIBE)  \
  U(DETACH) U(DISTINCT) U(EFFECTIVE) U(EXECUTE) U(EXISTS) U(FILTERING) U(FINALFUNC) U(FOR)         \
  U(FROZEN) U(FUNCTION) U(FUNCTIONS) U(GROUP) U(HASHED) U(INITCOND) U(INPUT) U(INTERNALS) U(JSON)  \
  U(KEYS) U(KEYSPACES) U(LANGUAGE) U(LEVEL) U(LEVELS) U(LIKE) U(LIST) U(LOGIN) U(MAP)              \
  U(MUTATION_FRAGMENTS) U(NOLOGIN) U(NOSUPERUSER) U(ONLY) U(OPTIONS) U(PARTITION) U(PASSWORD)      \
  U(PASSWORDS) U(PER) U(PERMISSION) U(PERMISSIONS) U(PRUNE) U(REDUCEFUNC) U(RETURNS) U(ROLE)       \
  U(ROLES) U(SERVICE) U(SERVICE_LEVEL) U(SERVICE_LEVELS) U(SFUNC) U(SHARES) U(STATIC) U(STORAGE)   \
  U(STYPE) U(SUPERUSER) U(TABLES) U(TIMEOUT) U(TRIGGER) U(TUPLE) U(TYPE) U(TYPES) U(USER)          \
  U(USERS) U(VALUES) U(VECTOR)
// clang-format on

#define LISTSTORE_CQL_KEYWORD_NAME(name) k##name,
enum class Keyword : uint8_t {
  kNone,
  LISTSTORE_CQL_KEYWORDS(LISTSTORE_CQL_KEYWORD_NAME, LISTSTORE_CQL_KEYWORD_NAME,
                         LISTSTORE_CQL_KEYWORD_NAME, LISTSTORE_CQL_KEYWORD_NAME)
};
#undef LISTSTORE_CQL_KEYWORD_NAME

enum class KeywordClass : uint8_t {
  kReserved,
  kUnreserved,
  kNotAFunction,
  kType
};

// In any case; kNone for a word that is none of them.
Keyword FindKeyword(std::string_view word);
// "SELECT". Not of kNone.
std::string_view KeywordText(Keyword keyword);
KeywordClass ClassOf(Keyword keyword);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_KEYWORDS_H_
