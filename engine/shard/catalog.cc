#include "engine/shard/catalog.h"

#include <random>
#include <string>
#include <utility>

#include "engine/base/check.h"

namespace liststore::shard {
namespace {

// Identities differ from process to process, so that drivers notice a server that was replaced.
uint64_t SystemSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

Catalog::Catalog() : schema_(std::make_shared<Schema>()), random_(SystemSeed()) {
  Change([](Schema&) { return true; });
}

std::shared_ptr<const Schema> Catalog::snapshot() const {
  const MutexLock lock(mutex_);
  return schema_;
}

bool Catalog::Change(absl::FunctionRef<bool(Schema&)> change) {
  return ChangeAs([&](Schema& next) {
           return change(next) ? Outcome::kChanged : Outcome::kNothing;
         }) == Outcome::kChanged;
}

Catalog::Outcome Catalog::ChangeAs(absl::FunctionRef<Outcome(Schema&)> change) {
  const MutexLock one_at_a_time(change_mutex_);
  auto next = std::make_shared<Schema>(*snapshot());
  const Outcome outcome = change(*next);
  if (outcome == Outcome::kNothing) return outcome;
  if (outcome == Outcome::kChanged) next->version = NewUuid();
  ++next->generation;
  const uint64_t generation = next->generation;
  const MutexLock lock(mutex_);
  schema_ = std::move(next);
  generation_.store(generation, std::memory_order_release);
  return outcome;
}

void Catalog::WaitForChange() { const MutexLock change_under_way(change_mutex_); }

void Catalog::PutTable(Schema& schema, std::shared_ptr<const TableDefinition> table) {
  const auto at = schema.keyspaces.find(table->keyspace);
  auto keyspace = std::make_shared<KeyspaceDefinition>();
  if (at != schema.keyspaces.end()) {
    *keyspace = *at->second;
  } else {
    keyspace->name = table->keyspace;
    keyspace->replication = {{"class", "org.apache.cassandra.locator.SimpleStrategy"},
                             {"replication_factor", "1"}};
  }
  const std::string name = table->keyspace;
  keyspace->Put(std::move(table));
  schema.keyspaces.insert_or_assign(name, std::move(keyspace));
}

Uuid Catalog::NewUuid() {
  const MutexLock lock(random_mutex_);
  const uint64_t high = random_.Next();
  return Uuid::FromRandomBits(high, random_.Next());
}

}  // namespace liststore::shard
