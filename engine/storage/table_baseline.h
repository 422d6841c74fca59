// What a table keeps so that it can go back to an instant of the past. For the sources of Table.
#ifndef LISTSTORE_ENGINE_STORAGE_TABLE_BASELINE_H_
#define LISTSTORE_ENGINE_STORAGE_TABLE_BASELINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/memory/arena.h"
#include "engine/model/cell.h"
#include "engine/storage/probation_queue.h"
#include "engine/storage/table.h"
#include "engine/storage/ttl_wheel.h"

namespace liststore::storage {

// Partitions of earlier epochs than that of the baseline (Table::baseline_epoch_) are as they were
// then, and lie in the table's directory. What changes one of them for the first time leaves it as
// it is, and goes to a copy, of a later epoch, in its place. Blocks are the table's own: what is kept
// counts as it did before.
//
// Invariants (Table::Verify checks them):
//  (1) partitions in `kept` that have rows or tombstones are of earlier epochs, and neither the
//      directory nor `truncated` has a partition of the same key and of an earlier epoch;
//  (2) each partition of a later epoch there has an entry in `kept`, by its key;
//  (3) nothing of an earlier epoch is in the directory once there is something truncated.
struct Table::Baseline {
  explicit Baseline(memory::Arena& arena)
      : kept(arena), truncated(arena), truncated_wheel(arena), truncated_probation(arena) {}

  bool empty() const { return kept.empty() && !has_truncated; }

  // Of what was changed since: as it was. Of a key that had nothing: a partition without rows.
  Directory kept;

  // All that was there at the first truncation since, with its timers and its place in the order of
  // eviction. After a return: what has to be taken apart.
  bool has_truncated = false;
  Directory truncated;
  TtlWheel truncated_wheel;
  ProbationQueue truncated_probation;
  size_t truncated_on_probation = 0;
  uint64_t truncated_rows = 0;
  TombstoneCounts truncated_tombstones;
  // Of the table, just before that truncation.
  uint32_t truncated_before = 0;
  bool was_truncating = false;

  // Of the table, at the instant.
  bool foreign_timestamps = false;
  bool past_unknown = false;
  GracePolicy grace;
  int64_t gc_grace_seconds = 0;

  uint64_t left_from = 0;          // the address from which there is something left to take apart
  std::unique_ptr<Baseline> next;  // among those that nobody goes back to any more
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_TABLE_BASELINE_H_
