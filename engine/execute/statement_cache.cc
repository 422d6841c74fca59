#include "engine/execute/statement_cache.h"

#include <algorithm>
#include <utility>

#include "engine/base/md5.h"
#include "engine/base/strings.h"
#include "engine/cql/plan/plan_bytes.h"

namespace liststore {
namespace {

bool IsOf(const std::shared_ptr<const TableDefinition>& definition, std::string_view keyspace,
          std::string_view table) {
  if (definition->keyspace != keyspace) return false;
  // The view of an index changes with its table.
  return table.empty() || definition->name == table ||
         (definition->is_index_view() && definition->view->base == table);
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

size_t BytesOf(const PreparedStatement& statement) {
  // An entry of the map, an id in the order, what the pointers count with.
  constexpr size_t kEntryBytes = 256;
  size_t bytes = sizeof(statement) + kEntryBytes + statement.text.capacity() +
                 statement.keyspace.capacity() + statement.outline.keyspace.capacity() +
                 statement.outline.table.capacity() + statement.variables.bytes() +
                 statement.columns.bytes() + PlanBytes(*statement.plan);
  if (std::holds_alternative<SchemaPlan>(statement.plan->body)) {
    bytes += statement.text.size() * kTreeBytesPerTextByte;
  }
  return bytes;
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
  if (at == statements_.end()) return nullptr;
  by_use_.splice(by_use_.end(), by_use_, at->second);
  return *at->second;
}

bool StatementCache::Put(std::shared_ptr<const PreparedStatement> statement) {
  if (statement->bytes > kBytesMax) return false;
  const MutexLock lock(mutex_);
  if (Erase(statement->id)) NoteDrop();
  while (statements_.size() == kStatementsMax || bytes_ + statement->bytes > kBytesMax) {
    Erase(by_use_.front()->id);
    NoteDrop();
  }
  bytes_ += statement->bytes;
  const auto at = by_use_.insert(by_use_.end(), std::move(statement));
  statements_.emplace(ToAbsl((*at)->id), at);
  return true;
}

bool StatementCache::Erase(std::string_view id) {
  const auto at = statements_.find(ToAbsl(id));
  if (at == statements_.end()) return false;
  const Statements::iterator statement = at->second;
  bytes_ -= (*statement)->bytes;
  statements_.erase(at);
  by_use_.erase(statement);
  return true;
}

void StatementCache::Drop(std::string_view id) {
  const MutexLock lock(mutex_);
  Erase(id);
  NoteDrop();
}

void StatementCache::DropDependents(std::string_view keyspace, std::string_view table) {
  const MutexLock lock(mutex_);
  for (auto at = by_use_.begin(); at != by_use_.end();) {
    const PreparedStatement& statement = **at++;
    if (DependsOn(*statement.plan, keyspace, table)) Erase(statement.id);
  }
  NoteDrop();
}

void StatementCache::DropAll() {
  const MutexLock lock(mutex_);
  statements_.clear();
  by_use_.clear();
  bytes_ = 0;
  NoteDrop();
}

size_t StatementCache::size() const {
  const MutexLock lock(mutex_);
  return statements_.size();
}

size_t StatementCache::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

void StatementMemo::Replace(Place& place, Place by) {
  if (place.statement != nullptr) replaced_.push_back(std::move(place.statement));
  place = std::move(by);
  has_large_ |= IsLarge(place);
}

void StatementMemo::EndTurn() {
  // A batch may have replaced thousands; an idle client holds no memory for them.
  constexpr size_t kKeptPlaces = 64;
  if (replaced_.capacity() > kKeptPlaces) replaced_ = {};
  replaced_.clear();
  if (!std::exchange(has_large_, false)) return;
  for (Place& place : places_) {
    if (IsLarge(place)) place.statement.reset();
  }
}

}  // namespace liststore
