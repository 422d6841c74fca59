#include "engine/execute/statement_cache.h"

#include <algorithm>
#include <utility>

#include "engine/base/strings.h"

namespace liststore::execute {
namespace {

bool IsOf(const std::shared_ptr<const TableDefinition>& definition, std::string_view keyspace,
          std::string_view table) {
  if (definition->keyspace != keyspace) return false;
  // The view of an index changes with its table.
  return table.empty() || definition->name == table ||
         (definition->is_index_view() && definition->view->base == table);
}

bool DependsOn(const cql::Plan& plan, std::string_view keyspace, std::string_view table) {
  if (const auto* select = std::get_if<cql::SelectPlan>(&plan.body)) {
    return IsOf(select->table, keyspace, table);
  }
  if (const auto* change = std::get_if<cql::ModificationPlan>(&plan.body)) {
    return IsOf(change->table, keyspace, table);
  }
  if (const auto* batch = std::get_if<cql::BatchPlan>(&plan.body)) {
    return std::ranges::any_of(batch->modifications, [&](const cql::ModificationPlan& part) {
      return IsOf(part.table, keyspace, table);
    });
  }
  return false;
}

}  // namespace

void StatementCache::MoveTo(Entries::iterator at, bool is_proven) const {
  const size_t bytes = at->statement->bytes;
  Segment& from = SegmentOf(*at);
  at->is_proven = is_proven;
  Segment& to = SegmentOf(*at);
  from.bytes -= bytes;
  to.bytes += bytes;
  to.entries.splice(to.entries.end(), from.entries, at);
}

void StatementCache::NoteUse(Entries::iterator at) const {
  if (at->uses < kUsesOfProven) ++at->uses;
  MoveTo(at, at->uses == kUsesOfProven);
  while (proven_.entries.size() > kProvenMax || proven_.bytes > bytes_max() / 4 * 3) {
    const auto oldest = proven_.entries.begin();
    MoveTo(oldest, oldest->statement->use.TakeUse() && oldest != at);
  }
}

std::shared_ptr<const PreparedStatement> StatementCache::Find(std::string_view id) const {
  const MutexLock lock(mutex_);
  const auto at = statements_.find(ToAbsl(id));
  if (at == statements_.end()) return nullptr;
  ++lookups_.hits;
  NoteUse(at->second);
  return at->second->statement;
}

bool StatementCache::Put(std::shared_ptr<const PreparedStatement> statement) {
  // Once: what fits now has a place in an empty cache.
  const size_t most = bytes_max();
  if (statement->bytes > most) return false;
  const MutexLock lock(mutex_);
  // Every client prepares what it executes: to be prepared again is no reason to be pushed out.
  uint8_t uses = 0;
  if (const auto at = statements_.find(ToAbsl(statement->id)); at != statements_.end()) {
    uses = at->second->uses;
    Erase(at->second);
  }
  while (statements_.size() == kStatementsMax || bytes_held() + statement->bytes > most) {
    Push(fresh_.entries.empty() ? proven_ : fresh_);
  }
  // The heap may refuse a part of it: then it is not there.
  Entries entry;
  entry.push_back(Entry{std::move(statement), uses});
  const auto at = entry.begin();
  statements_.emplace(ToAbsl(at->statement->id), at);
  fresh_.bytes += at->statement->bytes;
  fresh_.entries.splice(fresh_.entries.end(), entry);
  return true;
}

void StatementCache::Push(Segment& segment) {
  const auto first = segment.entries.begin();
  first->statement->use.TakeUse() ? NoteUse(first) : Erase(first);
}

void StatementCache::Erase(Entries::iterator at) {
  // Behind whatever it goes for: who still holds it looks it up again.
  at->statement->use.Drop();
  Segment& segment = SegmentOf(*at);
  segment.bytes -= at->statement->bytes;
  statements_.erase(ToAbsl(at->statement->id));
  segment.entries.erase(at);
}

void StatementCache::Erase(std::string_view id) {
  const auto at = statements_.find(ToAbsl(id));
  if (at != statements_.end()) Erase(at->second);
}

void StatementCache::Drop(std::string_view id) {
  const MutexLock lock(mutex_);
  Erase(id);
}

void StatementCache::DropDependents(std::string_view keyspace, std::string_view table) {
  const MutexLock lock(mutex_);
  for (Segment* const segment : {&fresh_, &proven_}) {
    for (auto at = segment->entries.begin(); at != segment->entries.end();) {
      const auto one = at++;
      if (DependsOn(*one->statement->plan, keyspace, table)) Erase(one);
    }
  }
}

void StatementCache::DropAll() {
  const MutexLock lock(mutex_);
  for (Segment* const segment : {&fresh_, &proven_}) {
    while (!segment->entries.empty()) Erase(segment->entries.begin());
  }
}

size_t StatementCache::size() const {
  const MutexLock lock(mutex_);
  return statements_.size();
}

size_t StatementCache::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_held();
}

void StatementCache::NoteMiss() const {
  const MutexLock lock(mutex_);
  ++lookups_.misses;
}

StatementCache::Lookups StatementCache::lookups() const {
  const MutexLock lock(mutex_);
  return lookups_;
}

void StatementMemo::Replace(Place& place, Place by) {
  if (place != nullptr) replaced_.push_back(std::move(place));
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
    if (IsLarge(place)) place.reset();
  }
}

}  // namespace liststore::execute
