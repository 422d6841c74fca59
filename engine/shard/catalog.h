// Catalog: the current schema. Readers take a snapshot; changes replace it.
#ifndef LISTSTORE_ENGINE_SHARD_CATALOG_H_
#define LISTSTORE_ENGINE_SHARD_CATALOG_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"
#include "engine/model/schema.h"

namespace liststore::shard {

// Thread-safe. One change at a time; whoever holds an older snapshot keeps it alive.
class Catalog {
 public:
  Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  // The current schema; never nullptr.
  std::shared_ptr<const Schema> snapshot() const;
  // Generation of the current schema: a glance, so that plans made for an older one are noticed.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Hands `change` a copy of the current schema and publishes what it made of it, with a new
  // version and generation, when it returns true. Nothing else changes meanwhile; `change` may call
  // the engine, but not the catalog.
  bool Change(absl::FunctionRef<bool(Schema&)> change);
  // What has become of the copy, where that is more than a yes or no.
  enum class Outcome : uint8_t {
    kNothing,  // it is dropped
    kUnseen,   // published; no statement sees a difference (ids in the engine alone): the version
               // stays, and nobody reads the schema again
    kChanged,  // published, with a new version
  };
  Outcome ChangeAs(absl::FunctionRef<Outcome(Schema&)> change);

  // Within Change: publishes what is to hold until the change is done, and has no new version: no
  // statement sees a difference. Where the change comes to nothing, it stays.
  void PublishMeanwhile(std::shared_ptr<Schema> schema);
  // Within Change: the engine is about to end ids of tables that the current schema still has.
  // Outside of it nothing.
  void NoteIdsAhead();
  // Returns once no ids are ahead of the schema, which takes a moment, however long the change
  // takes. For who was told that a table is gone while the snapshot still had it: the next one is of
  // later. Not within Change.
  void WaitForChange();

  // Puts a table into its keyspace (KeyspaceDefinition::Put); makes the keyspace with the
  // given replication when there is none. For use within Change.
  static void PutTable(Schema& schema, std::shared_ptr<const TableDefinition> table);

  // A fresh identity for a table or a node.
  Uuid NewUuid();

 private:
  void Publish(std::shared_ptr<Schema> next);
  // What was ahead is published, or will not be.
  void EndIdsAhead();

  Mutex change_mutex_;  // one change at a time
  mutable Mutex mutex_;
  std::shared_ptr<const Schema> schema_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> generation_{0};
  std::atomic<bool> changing_{false};   // change_mutex_ is held
  std::atomic<bool> ids_ahead_{false};  // while it is
  Mutex random_mutex_;
  Random random_ ABSL_GUARDED_BY(random_mutex_);
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_CATALOG_H_
