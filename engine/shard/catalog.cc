#include "engine/shard/catalog.h"

#include <random>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
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
  changing_.store(true, std::memory_order_release);
  // Also where the heap refuses: loops wait for the end of it.
  const absl::Cleanup end = [&] {
    changing_.store(false, std::memory_order_release);
    EndIdsAhead();
  };
  const Outcome outcome = change(*next);
  if (outcome == Outcome::kChanged) next->version = NewUuid();
  if (outcome != Outcome::kNothing) Publish(std::move(next));
  return outcome;
}

void Catalog::Publish(std::shared_ptr<Schema> next) {
  const MutexLock lock(mutex_);
  next->generation = schema_->generation + 1;
  const uint64_t generation = next->generation;
  schema_ = std::move(next);
  generation_.store(generation, std::memory_order_release);
}

void Catalog::PublishMeanwhile(std::shared_ptr<Schema> schema) {
  LS_CHECK(changing_.load(std::memory_order_acquire), "the schema changes within Change");
  Publish(std::move(schema));
  EndIdsAhead();
}

void Catalog::NoteIdsAhead() {
  if (changing_.load(std::memory_order_acquire)) ids_ahead_.store(true, std::memory_order_release);
}

void Catalog::EndIdsAhead() {
  if (!ids_ahead_.exchange(false, std::memory_order_acq_rel)) return;
  ids_ahead_.notify_all();
}

void Catalog::WaitForChange() { ids_ahead_.wait(true, std::memory_order_acquire); }

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
