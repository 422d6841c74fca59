// Baseline: what the tables of an engine, and the schema, were at one instant, and the way back
// there. Tables of system keyspaces are left alone.
#ifndef LISTSTORE_ENGINE_SHARD_BASELINE_H_
#define LISTSTORE_ENGINE_SHARD_BASELINE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/model/op_status.h"
#include "engine/model/schema.h"
#include "engine/model/schema_difference.h"
#include "engine/shard/baseline_journal.h"
#include "engine/shard/engine.h"

namespace liststore::shard {

// For an engine whose tables are all in its catalog and known by their names alone: nobody keeps a
// TableId, as list stores do. One call at a time; statements may run meanwhile, and happen as a
// whole before or after the instant of a mark or a reset, which is its last step: what was answered
// before the call is before it, what begins behind the call after it. What was marked is kept,
// partition by partition, as it is changed (docs/decisions/0026), and takes memory then, within the
// engine's limit.
//
// The engine stands still for the instant, for O(tables * lanes), at a reset and for the partitions
// that were changed. Changes of the schema wait until they are done.
class Baseline {
 public:
  // `engine` outlives it.
  // So does `journal`; nullptr: nothing is written down.
  explicit Baseline(Engine& engine, BaselineJournal* journal = nullptr)
      : engine_(engine), journal_(journal) {}
  ~Baseline() { Forget(); }
  Baseline(const Baseline&) = delete;
  Baseline& operator=(const Baseline&) = delete;

  // The instant of the last Mark; nullopt: nothing is marked.
  std::optional<uint64_t> marked_nanos() const { return marked_nanos_; }

  // Marks the present schema and rows, in place of what was marked, and the time that `clock` says
  // at their instant. kOutOfMemory, of the heap's making, and kNotKept, the journal's: nothing has changed.
  // O(tables * lanes).
  OpStatus Mark(absl::FunctionRef<uint64_t()> clock);
  // Nothing is marked any more, which is the same as an empty store.
  void Forget();

  // Makes schema and rows what was marked: values, write timestamps and expiries. Nothing of what was written or deleted
  // since has an effect on later writes. Tables keep their uuids; one that was dropped or altered
  // comes back as it was. Lanes go on from the timestamp that they had given out last.
  //
  // `now_nanos`: the time afterwards. `set_clock` is ReturnRequest's. `differences`: what drivers are
  // to be told. kOutOfMemory, kNotKept: nothing has changed. O(partitions that were changed + tables * lanes).
  OpStatus Reset(uint64_t now_nanos, absl::FunctionRef<bool()> set_clock,
                 std::vector<SchemaDifference>& differences);

 private:
  using Keyspaces = decltype(Schema::keyspaces);

  ReturnRequest RequestFor(const Schema& current, uint64_t now_nanos,
                           absl::FunctionRef<bool()> set_clock,
                           BaselineJournal::AtInstant at_instant) const;
  // Runs it, by way of the journal if there is one.
  OpStatus WriteDown(BaselineJournal::Act go_back) const;
  // The definitions that are marked, once more, for other ids of their tables.
  struct Renumbered {
    std::vector<std::shared_ptr<KeyspaceDefinition>> keyspaces;
    std::vector<std::shared_ptr<TableDefinition>> tables;
  };
  Renumbered MakeRenumbered() const;
  // Puts the ids that `tables` have after a return into `keyspaces_` and the image. Takes no memory.
  void TakeIds(std::span<const TableId> tables, const Renumbered& copies);
  // Which of these tables may be evicted from.
  static std::vector<Engine::EvictionChoice> ChoicesOf(const Keyspaces& keyspaces);

  Engine& engine_;
  BaselineJournal* const journal_;
  std::optional<uint64_t> marked_nanos_;
  // Those of users, as marked; their tables with the ids that they have now, or had last.
  Keyspaces keyspaces_;
  EngineImage image_;  // its tables in the order of keyspaces_
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_BASELINE_H_
