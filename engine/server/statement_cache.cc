#include "engine/server/statement_cache.h"

#include <algorithm>
#include <utility>

#include "engine/base/md5.h"
#include "engine/base/strings.h"

namespace liststore {
namespace {

bool IsOf(const std::shared_ptr<const TableDefinition>& definition, std::string_view keyspace,
          std::string_view table) {
  return definition->keyspace == keyspace && (table.empty() || definition->name == table);
}

bool DependsOn(const Plan& plan, std::string_view keyspace, std::string_view table) {
  if (const auto* select = std::get_if<SelectPlan>(&plan.body)) {
    return IsOf(select->table, keyspace, table);
  }
  if (const auto* change = std::get_if<ModificationPlan>(&plan.body)) {
    return IsOf(change->table, keyspace, table);
  }
  if (const auto* batch = std::get_if<BatchPlan>(&plan.body)) {
    return std::ranges::any_of(batch->modifications, [&](const ModificationPlan& part) {
      return IsOf(part.table, keyspace, table);
    });
  }
  return false;
}

// The table that rows of the result are of.
const TableDefinition& ResultTable(const Plan& plan) {
  if (const auto* select = std::get_if<SelectPlan>(&plan.body)) return *select->table;
  if (const auto* change = std::get_if<ModificationPlan>(&plan.body)) return *change->table;
  return *std::get<BatchPlan>(plan.body).modifications[0].table;
}

}  // namespace

std::string StatementId(std::string_view keyspace, std::string_view text) {
  std::string hashed(keyspace);
  hashed += text;
  uint8_t digest[kMd5Bytes];
  Md5(hashed, digest);
  return std::string(reinterpret_cast<const char*>(digest), sizeof(digest));
}

std::optional<protocol::ProtocolError> EncodeMetadata(const Plan& plan,
                                                      protocol::ColumnsMetadata& variables,
                                                      protocol::ColumnsMetadata& columns) {
  std::vector<protocol::ColumnSpec> specs;
  for (const BindVariable& variable : plan.variables) {
    specs.push_back({variable.keyspace, variable.table, variable.name, &variable.type});
  }
  if (auto error = variables.Assign(specs)) return error;
  const std::vector<Selection>* result = plan.result_columns();
  if (result == nullptr) return std::nullopt;
  return EncodeColumns(ResultTable(plan), *result, columns);
}

std::optional<protocol::ProtocolError> EncodeColumns(const TableDefinition& table,
                                                     const std::vector<Selection>& result,
                                                     protocol::ColumnsMetadata& columns) {
  std::vector<protocol::ColumnSpec> specs;
  for (const Selection& selection : result) {
    specs.push_back({table.keyspace, table.name, selection.name, &selection.type});
  }
  return columns.Assign(specs);
}

std::shared_ptr<const PreparedStatement> StatementCache::Find(std::string_view id) const {
  const MutexLock lock(mutex_);
  const auto at = statements_.find(ToAbsl(id));
  return at == statements_.end() ? nullptr : at->second;
}

void StatementCache::Put(std::shared_ptr<const PreparedStatement> statement) {
  const MutexLock lock(mutex_);
  const std::string id = statement->id;
  const bool is_new = statements_.insert_or_assign(id, std::move(statement)).second;
  if (!is_new) return NoteDrop();
  order_.push_back(id);
  while (statements_.size() > kStatementsMax) {
    statements_.erase(order_.front());
    order_.pop_front();
    NoteDrop();
  }
  // Ids whose statements were dropped, and prepared again behind them, would add up.
  if (order_.size() > 2 * kStatementsMax) {
    std::deque<std::string> kept;
    for (std::string& old : order_) {
      if (statements_.contains(old)) kept.push_back(std::move(old));
    }
    order_ = std::move(kept);
  }
}

void StatementCache::Drop(std::string_view id) {
  const MutexLock lock(mutex_);
  statements_.erase(ToAbsl(id));
  NoteDrop();
}

void StatementCache::DropDependents(std::string_view keyspace, std::string_view table) {
  const MutexLock lock(mutex_);
  absl::erase_if(statements_, [&](const auto& entry) {
    return DependsOn(*entry.second->plan, keyspace, table);
  });
  NoteDrop();
}

size_t StatementCache::size() const {
  const MutexLock lock(mutex_);
  return statements_.size();
}

}  // namespace liststore
