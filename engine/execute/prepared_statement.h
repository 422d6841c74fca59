// PreparedStatement: a statement with what its answers and its group want to know of it, found once.
#ifndef LISTSTORE_ENGINE_EXECUTE_PREPARED_STATEMENT_H_
#define LISTSTORE_ENGINE_EXECUTE_PREPARED_STATEMENT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/plan/plan.h"
#include "engine/cql/planner/planned_statement.h"
#include "engine/execute/item_insert.h"
#include "engine/execute/item_read.h"
#include "engine/model/schema.h"
#include "engine/protocol/response.h"

namespace liststore::execute {

// What becomes of a kept statement, for whoever holds it beside the cache. Thread-safe.
class StatementUse {
 public:
  // The cache has it no more: it is to be looked up again.
  bool is_dropped() const { return is_dropped_.load(std::memory_order_acquire); }
  // It was executed. A load, unless the cache has asked meanwhile: the line stays with all loops.
  void NoteUse() const {
    if (!is_used_.load(std::memory_order_relaxed)) is_used_.store(true, std::memory_order_relaxed);
  }

 private:
  friend class StatementCache;
  void Drop() const { is_dropped_.store(true, std::memory_order_release); }
  bool TakeUse() const {
    return is_used_.load(std::memory_order_relaxed) &&
           is_used_.exchange(false, std::memory_order_relaxed);
  }

  mutable std::atomic<bool> is_dropped_ = false;
  mutable std::atomic<bool> is_used_ = false;  // since it was asked last
};

// A column of the table, selected as it is.
struct SelectedColumn {
  ColumnKind kind = ColumnKind::kRegular;
  uint16_t position = 0;  // among those of its kind
};

// A statement with everything of its answers that does not depend on values. Immutable, but for its
// use.
struct PreparedStatement : cql::PlannedStatement {
  std::string id;
  protocol::ColumnsMetadata variables;
  protocol::ColumnsMetadata columns;  // of a SELECT, or a conditional write
  bool is_groupable = false;          // see ExecuteGroup
  // Of a groupable SELECT its columns; of a groupable one of the shape, what it takes out of values.
  std::vector<SelectedColumn> selected;
  std::optional<ItemRead> item_read;
  std::optional<ItemInsert> item_insert;
  size_t bytes = 0;  // BytesOf, once all else is there
  StatementUse use;
  // Where its executions are counted; 0: nobody has asked yet.
  mutable std::atomic<uint32_t> metrics_series{0};
};

// Finds out what a group wants to know of a groupable statement, whose plan is there.
void LookAhead(PreparedStatement& statement);

// What keeping the statement takes: its text, its plan, and what is encoded of it.
size_t BytesOf(const PreparedStatement& statement);

inline constexpr size_t kStatementIdBytes = 16;

// MD5 of keyspace and text, kStatementIdBytes: the same on every server and after a restart.
// Source: ScyllaDB cql3/query_processor.cc, hash_target.
std::string StatementId(std::string_view keyspace, std::string_view text);

// Names and types of a plan's variables and result columns, encoded. The error: a name is too long.
std::optional<protocol::ProtocolError> EncodeMetadata(const cql::Plan& plan,
                                                      protocol::ColumnsMetadata& variables,
                                                      protocol::ColumnsMetadata& columns);
std::optional<protocol::ProtocolError> EncodeColumns(const TableDefinition& table,
                                                     const std::vector<cql::Selection>& result,
                                                     protocol::ColumnsMetadata& columns);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_PREPARED_STATEMENT_H_
