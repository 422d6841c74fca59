// Table: one table's share of a lane. Partitions by key, their rows, tombstones, value indexes and
// timers, and the memory they live in.
//
// Owned by a lane and used by its holder only, except PrefetchSlot. No clock: the time is an
// argument.
//
// Tombstones. A table keeps row, range and partition tombstones, dead cells and the shadows of
// expired cells for gc_grace_seconds, as ScyllaDB does, from the first write that brings a foreign
// timestamp on. Until then timestamps come from the lane and never go back, nothing can arrive that
// a tombstone would have to cover, and none is stored: the effective grace is zero. The observable
// rule is the same for both: what is purgeable at `now` has no effect on a later write, whether or
// not its bytes are gone.
//
// Truncation (of the table or of all partitions with one first key component) is by epoch: what was
// written before is invisible at once and its memory returns in slices (Reclaim).
#ifndef LISTSTORE_ENGINE_STORAGE_TABLE_H_
#define LISTSTORE_ENGINE_STORAGE_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/strings.h"
#include "engine/memory/arena.h"
#include "engine/model/eviction.h"
#include "engine/model/expiry.h"
#include "engine/model/hot_row.h"
#include "engine/model/mutation.h"
#include "engine/model/op_status.h"
#include "engine/model/presence.h"
#include "engine/model/row_view.h"
#include "engine/model/schema_actions.h"
#include "engine/model/stored_row.h"
#include "engine/model/table_schema.h"
#include "engine/model/usage.h"
#include "engine/storage/change_marks.h"
#include "engine/storage/eviction_state.h"
#include "engine/storage/partition/partition.h"
#include "engine/storage/partition_directory.h"
#include "engine/storage/partition_ref.h"
#include "engine/storage/pin_table.h"
#include "engine/storage/table_calls.h"
#include "engine/storage/ttl_wheel.h"
#include "engine/storage/usage_by_component.h"

namespace liststore::storage {

class TableMirror;

class Table final : private memory::Arena::Relocator {
 public:
  Table(const TableSchema& schema, memory::PagePool& pool, memory::MemoryBudget& budget,
        const AddressOf& address_of);
  ~Table() override;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const TableSchema& schema() const { return schema_; }
  // schema().id, where a read finds it without another cache line.
  TableId id() const { return id_; }

  // --- Writes ------------------------------------------------------------------------------------
  // kOutOfMemory: nothing of the call was applied. kRowTooLarge, of what upserts: the same, and
  // large_row() is what the row would have had.

  // Upserts rows of one partition; all or nothing. Two updates of one key are merged.
  OpStatus Upsert(const PartitionRef& partition, std::span<const RowUpdate> rows,
                  const WriteContext& write);
  // Deletes rows by key. `removed`, when given, receives how many were live; of ranges and partitions
  // that takes O(rows), else what goes of large ones goes from sight at once, and its memory in
  // slices.
  OpStatus DeleteRows(const PartitionRef& partition, std::span<const ClusteringKeyView> keys,
                      const WriteContext& write, uint64_t* removed = nullptr);
  OpStatus DeleteRange(const PartitionRef& partition, const ClusteringRange& range,
                       const WriteContext& write, uint64_t* removed = nullptr);
  OpStatus DeletePartition(const PartitionRef& partition, const WriteContext& write,
                           uint64_t* removed = nullptr);
  // Deletes, as DeleteRows would, the live rows whose cell in `column` equals `value`.
  OpStatus DeleteRowsByValue(const PartitionRef& partition, ColumnId column, std::string_view value,
                             const WriteContext& write, uint64_t* removed = nullptr);

  // The encoded keys, plain, of the rows that would delete.
  std::vector<std::string> KeysWithValue(const PartitionRef& partition, ColumnId column,
                                         std::string_view value, int64_t now_seconds);

  // Makes `rows` all that the partition has, atomically, and the partition complete. Without rows
  // it is kept empty until its freshness ends. `refused`: it was changed since the mark, and
  // nothing has been done. Takes memory for the new content beside the old.
  OpStatus Put(const PartitionRef& partition, std::span<const RowUpdate> rows, const PutSpec& spec,
               const WriteContext& write, bool& refused);
  // Drops all that is held, tombstones included; whether anything was. Takes no memory.
  bool Forget(const PartitionRef& partition);
  // The state of a partition now, for PutSpec::unless_since.
  uint64_t ChangeMark() { return marks_.Mark(); }

  // Sets memory aside for an upsert to come, so that it cannot fail; several, of different
  // partitions, add up. The caller does the upserts under the same hold of the lane, between them
  // nothing else, and ends with ClearPledges().
  OpStatus Pledge(const PartitionRef& partition, std::span<const RowUpdate> rows,
                  const WriteContext& write);
  void ClearPledges() {
    pledged_bytes_.reset();
    redeeming_ = false;
    context_.TrimScratch();
  }
  // The same for all that a batch brings to one partition.
  OpStatus PledgeShare(const PartitionRef& partition, const BatchShare& share,
                       const WriteContext& write);
  // From here to ClearPledges() writes take what was pledged, and do not fail.
  void RedeemPledges() { redeeming_ = true; }
  // Of rows that follow from others: nobody else writes to such a table, which sees timestamps of the
  // engine alone. Puts a row where none is.
  OpStatus PutRow(const PartitionRef& partition, const StoredRow& row, int64_t now_seconds);
  // What that may take, beside what some of them may take once, and what PrepareDeletion says; `again`:
  // where another row of them has been put before.
  uint64_t PutRowBytes(const PartitionRef& partition, const StoredRow& row, bool again);
  uint64_t PutOnceBytes() const { return directory_.ReserveBytesForInsert(); }
  // Before PutRow and DeleteRows of such rows, with pledges that are redeemed: takes from the heap what
  // they need of it, and sets `bytes` of memory aside; false: there is not as much. `row_bytes`: of the
  // largest one that is put. Throws std::bad_alloc.
  bool PledgeRows(uint64_t bytes, size_t row_bytes, memory::MemoryBudget::Purpose purpose);
  // The same of the heap for the deletion of a row that is there. Returns what it takes of memory:
  // something for a partition alone that a baseline is to have as it is.
  uint64_t PrepareDeletion(const PartitionRef& partition, ClusteringKeyView key);
  // The system refuses pages, so far as is known.
  bool refuses_pages() const { return arena_.refuses(); }

  // The part of a partition in which a deletion at `timestamp` may find rows to delete: not that which
  // tombstones as late lie over. Borrowed until the next write. O(log ranges + those ranges).
  ClusteringRange OlderRows(const PartitionRef& partition, WriteTimestamp timestamp) {
    ClusteringRange range;
    const DirectorySlot* const slot = FindForRead(partition);
    if (slot == nullptr) return range;
    uint64_t reference = slot->reference;
    range.lower = Partition(context_, reference).YoungerFromBegin(timestamp);
    return range;
  }

  // Sends a row as it will be when `updates`, all of them of `key`, have been applied in this order, and
  // then all is deleted that was written up to `covered` (none: nothing is); no row will live: nothing.
  // Changes nothing. O(log rows, and the cells of the row and the updates).
  void SendForeseen(const PartitionRef& partition, ClusteringKeyView key,
                    std::span<const ForeseenUpdate> updates, WriteTimestamp covered,
                    int64_t now_seconds, RowSink& sink);
  // Of the last write that was kRowTooLarge.
  RowSize large_row() const { return large_row_; }
  // What the last write that was pledged writes again; see kCellsRewrittenMax.
  uint64_t rewritten_cells() const { return rewritten_cells_; }

  // --- Reads -------------------------------------------------------------------------------------

  // Sends live rows to `sink` in the order asked; returns how many. O(log rows + returned); by
  // value: O(matches) in large partitions, a scan of fingerprints in small ones.
  // `info`, when given, receives what the partition says of itself. The way of most reads is in
  // line: in a group of 16 its calls alone were a quarter of the instructions. `fetched`:
  // PrefetchPartition was called for it. `Sink`: a RowSink.
  template <typename Sink>
  [[gnu::always_inline]] uint64_t Read(const PartitionRef& partition, const ReadSpec& spec,
                                       int64_t now_seconds, Sink& sink,
                                       PartitionInfo* info = nullptr, bool fetched = false) {
    const DirectorySlot* const slot = FindForRead(partition, fetched);
    uint64_t reference = slot == nullptr ? 0 : slot->reference;
    const Partition found(context_, reference);
    PackedRun run;
    if (slot == nullptr || !one_column_ || !sink.AcceptsPackedRuns() ||
        !found.NewestAsTheyLie(spec, now_seconds, run)) {
      return ReadRows(partition, slot, spec, now_seconds, sink, info);
    }
    sink.OnPackedRun(run);
    if (found.cache_bits() == 0 && cache_ == nullptr && usage_of_ == nullptr) {
      if (info != nullptr) info->presence = Presence::kComplete;
      ++usage_.hits;
    } else {
      NoteRead(partition, reference, run.count, now_seconds, info);
    }
    return run.count;
  }
  // The same for a view: the sink may keep pointing to rows of a small partition, which then stay
  // where they are until the pin that is returned is given to PinTable::Post. nullptr: it keeps
  // nothing. Rows that lie elsewhere are gone when this returns. `rows`: how many were sent.
  ViewPin* View(const PartitionRef& partition, const ReadSpec& spec, int64_t now_seconds,
                ViewSink& sink, uint64_t& rows);
  // Blocks that views hold; Post from any thread.
  PinTable& pins() { return pins_; }
  // Live rows in a range; all as Partition::Count.
  uint64_t Count(const PartitionRef& partition, const ClusteringRange& range, int64_t now_seconds,
                 uint64_t* dead_rows = nullptr, uint64_t looks_max = UINT64_MAX,
                 std::string* stopped_at = nullptr);

  // Partitions in token order, from the first with address >= `from_address` on (and, within that
  // address, after `after_key` when it is given), those without a live row too; `visit(address,
  // partition)` returns false to stop. The visitor must not touch the table.
  template <typename Visitor>
  void ScanPartitions(uint64_t from_address, std::optional<std::string_view> after_key,
                      Visitor&& visit) {
    directory_.ScanFrom(from_address, [&](DirectorySlot& slot) {
      const Partition partition(context_, slot.reference);
      if (after_key && slot.address == from_address && partition.key() <= *after_key) return true;
      if (IsTruncated(partition)) return true;
      return static_cast<bool>(visit(slot.address, partition));
    });
  }

  // --- Eviction (table_cache.cc); docs/cache.md --------------------------------------------------

  // From now on the table may take part in what `lane`, which outlives it, evicts: a few partitions
  // at a time by writes that find the limit near, and after refusals. The table is empty.
  void EnableEviction(const EvictionOptions& options, LaneEviction& lane);
  // Whether its partitions may go, from now on, where eviction is enabled; until this is said they
  // may not. What comes while they may not is a main partition, and what was on probation stays so.
  void TakePart(bool takes_part);
  bool takes_part() const { return cache_ != nullptr && cache_->takes_part; }
  bool evicts() const { return cache_ != nullptr; }
  const EvictionOptions& eviction_options() const { return cache_->options; }
  // Counts uses for each first component too; `owner` outlives the table.
  void CountUsageFor(UsageOwner& owner) { usage_of_ = std::make_unique<UsageByComponent>(owner); }
  void FlushUsage() {
    if (usage_of_ != nullptr) usage_of_->Flush();
  }
  // Where evictions of this table are told until the next call; nullptr: nowhere.
  void set_eviction_log(EvictionLog* log) { eviction_log_ = log; }
  // Told of every eviction for memory, from now on; outlives the table. nullptr: nobody.
  void set_eviction_witness(EvictionWitness* witness) { eviction_witness_ = witness; }
  // Evicts as much as the writes since the last call have taken, while the limit is near, from any
  // table of the lane but the partitions at the address `writing`. Bounded.
  void PayForGrowth(int64_t now_seconds, std::optional<uint64_t> writing = std::nullopt);

  // --- Ending, beginning again, copying ----------------------------------------------------------

  // The table ends: everything is out of sight, and schema().id is of the next generation, which
  // nobody knows. Its memory comes back by Reclaim; the shell stays, so that PrefetchSlot may still
  // look at it.
  void Drop();
  bool dropped() const { return dropped_; }
  // Dropped, and nothing is left: the shell may be used again.
  bool vacant() const;
  // Makes a vacant shell a table of `schema`, whose id is the shell's.
  void Reuse(TableSchema schema);
  // Nothing is stored. Where many partitions were truncated and wait for reclamation it may say no
  // all the same.
  bool IsBlank();
  // Another id: from now on the table is gone for those who know the one before.
  void set_id(TableId id) { id_ = schema_.id = id; }
  // What is gone under the grace so far stays gone.
  void SetGrace(int64_t gc_grace_seconds);
  // How long what is over keeps its effect: whether it has seen timestamps of clients, and since when.
  bool has_seen_foreign() const { return foreign_timestamps_; }
  int64_t grace_start_seconds() const { return context_.grace.start_seconds; }
  // Around a write that is applied again, as it was where it was first: what was over had its effect as
  // is said here. Nothing is reclaimed for the write, of whatever partition: the time that it goes by is
  // over, and others may be behind it. What is kept afterwards is what either side keeps.
  class Replayed {
   public:
    Replayed(Table& table, bool has_seen_foreign, int64_t grace_start_seconds);
    ~Replayed();
    Replayed(const Replayed&) = delete;
    Replayed& operator=(const Replayed&) = delete;

   private:
    Table& table_;
    const bool foreign_before_;
    const int64_t start_before_;
  };
  // Puts in a cell that was kept of a column, under its own times. `address`: of its partition.
  OpStatus PutKept(uint64_t address, ColumnId column, bool of_static_column, const KeptCell& cell,
                   int64_t now_seconds);

  // Sends everything stored of one partition, of a scan of this table, that still has an effect at
  // `now`. O(rows): 10 ns for one of the hot shape.
  void SendStored(const Partition& partition, int64_t now_seconds, StoredRowSink& sink) const;
  // Puts in what SendStored sent, each part under its own times, but for what has no effect any
  // more. Rows that are there already are merged with it. kOutOfMemory: a part of it was put in.
  OpStatus Restore(const PartitionRef& partition, const StoredPartition& from,
                   std::span<const StoredRow> rows, int64_t now_seconds);
  // The same for rows of the hot shape. O(rows): 10 to 30 ns for each that comes behind all others,
  // in order.
  OpStatus Restore(const PartitionRef& partition, const StoredPartition& from,
                   std::span<const HotRow> rows, int64_t now_seconds);
  // What is restored may lack partitions that there were before: those that are begun from now on
  // are partial.
  void NotePastUnknown() { past_unknown_ = true; }

  // --- A baseline (table_baseline.cc); docs/decisions/0026 ---------------------------------------
  // An instant to which the table goes back, as often as is asked. What changes a partition for the
  // first time since, keeps it as it was: it takes as much memory again, for a copy, within the limit.

  // Takes from the heap what SetBaseline and ReturnToBaseline need. Throws std::bad_alloc.
  void PrepareBaseline();
  // The instant is now, in place of the one before. O(1).
  void SetBaseline();
  bool has_baseline() const { return baseline_epoch_ != 0; }
  // There is none any more. O(1); what was kept comes back by Reclaim.
  void ForgetBaseline();
  // Ends the table as Drop does for those who know it; it keeps what it has, of which time takes
  // nothing, until it goes back, or is dropped.
  void SetAside();
  bool set_aside() const { return set_aside_; }
  // Sets memory aside for the next call; false: there is not as much. Throws std::bad_alloc.
  bool ReserveReturn();
  // All is as it was at the instant, and nothing of what came since has an effect any more.
  // `now_seconds`: the time afterwards, which may be an earlier one. O(partitions changed since).
  void ReturnToBaseline(int64_t now_seconds);

  // --- Stages of a group -------------------------------------------------------------------------
  // The holder calls the second, any thread the others.

  [[gnu::always_inline]] void PrefetchSlot(uint64_t address) const {
    directory_.PrefetchSlot(address);
  }
  // What the third stage takes; 0: nothing. Good for nothing else.
  [[gnu::always_inline]] uint64_t PrefetchHint(uint64_t address) const {
    return directory_.ReferenceAt(address);
  }
  // `key_bytes`: of the partition's key; `rows_max`: that are read, at least 1. Looks at nothing: a
  // hint that is out of date costs a useless prefetch.
  [[gnu::always_inline]] static void PrefetchPartition(uint64_t hint, size_t key_bytes,
                                                       uint64_t rows_max = UINT64_MAX) {
    if (hint != 0) Partition::Prefetch(hint, key_bytes, rows_max);
  }
  // The same for what a small write begins with.
  [[gnu::always_inline]] static void PrefetchForWrite(uint64_t hint) {
    if (hint != 0) Partition::PrefetchForWrite(hint);
  }

  // --- Truncation, expiry, memory ----------------------------------------------------------------

  void TruncateAll();
  // All partitions whose first key component is `component` (tables with a composite key only).
  void TruncateFirstComponent(std::string_view component);
  // Takes from the heap what that will need, so that it cannot be refused.
  void PrepareTruncation(std::string_view component) {
    truncated_components_.emplace(component, 0);
  }

  // Does about `budget` units (rows, leaves, entries) of the work that waits: rows that are due,
  // truncated partitions, compaction. Returns the units done; 0: nothing waits.
  size_t Reclaim(int64_t now_seconds, size_t budget);
  // O(1). False when Reclaim has nothing to do.
  bool WantsReclaim(int64_t now_seconds) const;
  // From now on rows that are over are told when they go: see TakeExpiries. The table has one
  // regular column.
  void EnableExpiryNotices();
  // Moves what was told since the last time behind `into`, in no order.
  void TakeExpiries(ExpiryLog& into);
  // No cell expires before this; nullopt: none will.
  std::optional<int64_t> NextExpiry() const {
    return set_aside_ ? std::nullopt : wheel_.NextWhen();
  }

  TableStats stats() const;
  // O(1).
  ExpiryProgress ExpiryAt(int64_t now_seconds) const {
    if (set_aside_) return {};
    return {wheel_.size() - std::min(wheel_.stale(), wheel_.size()),
            wheel_.BehindSeconds(now_seconds)};
  }
  // Gives memory that is set aside and not used back to the engine's budget, and scratch to the heap.
  void ReleaseCredit() {
    arena_.ReleaseCredit();
    if (!pledged_bytes_ && !redeeming_) context_.FreeIdleScratch();
  }
  // Checks every invariant of everything below; for tests. O(everything).
  void Verify();

 private:
  friend class TableMirror;   // a copy under way; see table_mirror.h
  friend class LaneEviction;  // chooses what goes

  struct PartitionKeyOf {
    std::string_view operator()(uint64_t reference) const { return Partition::KeyOf(reference); }
  };
  using Directory = PartitionDirectory<PartitionKeyOf>;

  // The partition's slot; nullptr when there is none or it was truncated. For a write, a truncated
  // one is taken out on the way.
  [[gnu::always_inline]] DirectorySlot* FindForRead(const PartitionRef& partition,
                                                    bool fetched = false) {
    // All lines of the page at once, before the key in the first of them is waited for.
    DirectorySlot* const slot = directory_.Find(
        partition.address, partition.key, [&](uint64_t reference) __attribute__((always_inline)) {
          if (!fetched) Partition::Prefetch(reference, partition.key.size());
        });
    if (slot != nullptr && pass_.active && IsTruncated(Partition(context_, slot->reference)))
        [[unlikely]] {
      return nullptr;
    }
    return slot;
  }
  DirectorySlot* FindForWrite(const PartitionRef& partition);
  DirectorySlot* Create(const PartitionRef& partition, size_t expected_bytes);
  bool IsTruncated(const Partition& partition) const;

  // --- A baseline
  struct Baseline;
  // It is as it was at the baseline, which is to have it like this.
  [[gnu::always_inline]] bool IsOfBaseline(uint64_t reference) {
    return baseline_epoch_ != 0 && IsOfBaselineSlowly(reference);
  }
  bool IsOfBaselineSlowly(uint64_t reference);
  // What a change of it takes for that; else 0.
  size_t BaselineBytes(const DirectorySlot* slot) {
    return slot != nullptr && IsOfBaseline(slot->reference) ? KeepBytes(slot->reference) : 0;
  }
  void LeaveBaseline();
  size_t KeepBytes(uint64_t reference);
  void KeepBefore(DirectorySlot* slot);
  size_t NoteCameBytes(const PartitionRef& partition) const;
  void NoteCame(const PartitionRef& partition);
  void KeepOrBury(uint64_t address, uint64_t reference);
  uint64_t RowsInDirectory() const;
  TombstoneCounts TombstonesOfDead();
  // What is in `partition` counts among what is aside, or does not any more.
  void CountAside(const Partition& partition);
  void UncountAside(const Partition& partition);
  void SwapTruncated();
  void TruncateSinceBaseline();
  void TakeBackInPlace();
  void TakeBackInPlace(DirectorySlot& kept);
  void TakeBackTheOthers();
  size_t ReclaimLeft(size_t budget);
  DirectorySlot* FindKeptBlock(uint64_t address, std::string_view key, const void* block);
  uint64_t VerifyBaseline(size_t& pinned, TombstoneCounts& tombstones);
  // Takes a partition out of the directory; a large one is taken apart in slices.
  void Discard(uint64_t address, uint64_t reference);
  void Bury(uint64_t reference);
  // Views point into the partition's block, or a baseline is to have it as it is. What a write then
  // takes beside, and the step that it begins with: the partition moves to a copy, the block stays
  // with the views, or with the baseline.
  static bool IsPinned(const DirectorySlot* slot);
  size_t UnpinBytes(const DirectorySlot* slot);
  void Unpin(DirectorySlot* slot);
  // Behind a command. What a pledge has made room for stays for its writes, whatever is read meanwhile.
  void TrimScratch() {
    if (!pledged_bytes_ && !redeeming_) context_.TrimScratch();
  }
  // After a write: an empty partition goes, another is in the wheel at or before its next event.
  void Finish(const PartitionRef& partition, DirectorySlot* slot);
  void ScheduleEvent(uint64_t address, Partition& partition);

  // What writes bring, in bytes: the bound for which they reserve. Where a slot is given, with what
  // they have to copy of the partition there.
  size_t UpsertBytes(const PartitionRef& partition, const DirectorySlot* slot,
                     std::span<const RowUpdate> rows, const Partition::Load& load);
  // Behind the UpsertBytes of all of them: whether a row would be larger than it may be, in
  // large_row_. Some comparisons, as long as the rows together are not.
  void CheckRowSizes(const DirectorySlot* slot, std::span<const SharedUpsert> upserts,
                     const WriteContext& write) {
    if (rewritten_cells_ > kCellsRewrittenMax && !copying_ && !replaying_) [[unlikely]] {
      large_row_.rewritten_cells = rewritten_cells_;
      return;
    }
    const bool may_be_large =
        rows_bytes_max_ > budget_.row_bytes_max() || row_cells_met_ + rows_cells_ > row_cells_max();
    if (may_be_large && !copying_) [[unlikely]]
      FindLargeRow(slot, upserts, write);
  }
  size_t PutRowBytesAt(const PartitionRef& partition, const DirectorySlot* slot,
                       const StoredRow& row, bool again = false);
  OpStatus PutRowInBoth(const PartitionRef& partition, const StoredRow& row, int64_t now_seconds);
  // O(n log n) of the rows, their cells and those of the rows there.
  void FindLargeRow(const DirectorySlot* slot, std::span<const SharedUpsert> upserts,
                    const WriteContext& write);
  // Rows of few cells are work as every write is.
  void NoteRewritten(size_t cells) {
    constexpr size_t kFewCells = 256;
    if (cells > kFewCells) [[unlikely]]
      rewritten_cells_ += cells;
  }
  // The rows that a batch deletes more than once.
  void NoteRewritten(const DirectorySlot* slot, const BatchShare& share);
  // What was written down was let in, maybe before there was this limit.
  uint64_t row_cells_max() const { return replaying_ ? UINT64_MAX : kRowCellsMax; }
  // What deletions need of the heap, before anything is written: notes what Reserve is to prepare.
  // `oldest`: none of them is older. `others`: ranges of the same batch.
  void PrepareDeletions(const DirectorySlot* slot, std::span<const ClusteringKeyView> keys,
                        const WriteContext& write, WriteTimestamp oldest);
  void PrepareRangeDeletion(const DirectorySlot* slot, const ClusteringRange& range,
                            const WriteContext& write, WriteTimestamp oldest, size_t others);
  size_t DeleteRowsBytes(const PartitionRef& partition, const DirectorySlot* slot,
                         std::span<const ClusteringKeyView> keys, const WriteContext& write);
  size_t DeleteRangeBytes(const PartitionRef& partition, const DirectorySlot* slot,
                          const ClusteringRange& range, const WriteContext& write);
  // A partition that is to be created, and what grows with the number of partitions.
  size_t CreateBytes(const PartitionRef& partition) const;
  // The first additions to a partition that is not there.
  OpStatus UpsertFirst(const PartitionRef& partition, std::span<const RowUpdate> rows,
                       const Partition::Load& load, const WriteContext& write);
  // Restore, whose rows `put_rows()` puts in.
  template <typename PutRows>
  OpStatus RestoreAround(const PartitionRef& partition, const StoredPartition& from,
                         const Partition::Load& load, bool has_rows, int64_t now_seconds,
                         PutRows&& put_rows);
  // The first and the last step of Restore. `keep_empty`: it has no rows, and stays.
  OpStatus BeginRestored(const PartitionRef& partition, const StoredPartition& from,
                         Partition::Load load, bool keep_empty, int64_t now_seconds);
  void EndRestored(const PartitionRef& partition, const StoredPartition& from, bool keep_empty);
  OpStatus RestoreRows(const PartitionRef& partition, const StoredPartition& from,
                       std::span<const StoredRow> rows, int64_t now_seconds);
  OpStatus RestoreHotRows(const PartitionRef& partition, std::span<const HotRow> rows,
                          const Partition::Load& load, int64_t now_seconds);
  void TakeOverGrace(const StoredPartition& from);
  // Whether nothing has to be put over rows that are restored.
  bool HasRowsAlone(const StoredPartition& from) const;
  // Reserves bytes() on top of what is pledged. When that fails, makes room, a bounded amount, and
  // tries again; what bytes() looks at may change on the way, so that it is called again.
  // While pledges are redeemed it only calls bytes(). In table_reserve.h.
  template <typename Bytes>
  bool Reserve(int64_t now_seconds, memory::MemoryBudget::Purpose purpose, Bytes&& bytes);
  // Writes while the table is mirrored: to both.
  OpStatus UpsertInBoth(const PartitionRef& partition, std::span<const RowUpdate> rows,
                        const WriteContext& write);
  OpStatus DeleteRowsInBoth(const PartitionRef& partition, std::span<const ClusteringKeyView> keys,
                            const WriteContext& write, uint64_t* removed);
  OpStatus DeleteRangeInBoth(const PartitionRef& partition, const ClusteringRange& range,
                             const WriteContext& write, uint64_t* removed);
  OpStatus DeletePartitionInBoth(const PartitionRef& partition, const WriteContext& write,
                                 uint64_t* removed);
  template <typename Here, typename There>
  OpStatus WithMirror(Here&& here, There&& there);
  // The first foreign timestamp makes the table keep tombstones from now on.
  void NoteTimestamps(const WriteContext& write);
  // A deletion may leave parts of rows, and tombstones; under timestamps of the lane it never does.
  bool MayRewrite(const WriteContext& write) const;
  bool KeepsTombstones(const WriteContext& write) const;

  // Notes a write, whatever became of it.
  void NoteChange(const PartitionRef& partition) { marks_.Note(partition.address); }
  void NoteUpsert(const PartitionRef& partition, std::span<const RowUpdate> rows);
  // Where uses of the partition are counted.
  [[gnu::always_inline]] Usage& UsageOf(std::string_view key) {
    return usage_of_ == nullptr ? usage_ : usage_of_->Of(key);
  }
  // What Read does when the page is not to be had as it lies. `slot`: of the partition, or null.
  uint64_t ReadRows(const PartitionRef& partition, const DirectorySlot* slot, const ReadSpec& spec,
                    int64_t now_seconds, RowSink& sink, PartitionInfo* info);
  void NoteRead(const PartitionRef& partition, uint64_t reference, uint64_t rows,
                int64_t now_seconds, PartitionInfo* info);
  // Whether what is written now begins the partition again.
  bool IsOver(uint64_t reference, int64_t now_seconds);
  // Whether more of a partition that is begun now may have been elsewhere.
  bool MayHaveMore(uint64_t address) const;
  // The bits with which a partition begins, and its place in the queue, which was reserved.
  uint8_t BeginBits(uint64_t address);
  void PushProbation(uint64_t address);
  // Why Reserve failed.
  OpStatus Refusal() {
    if (large_row_.any()) return OpStatus::kRowTooLarge;
    return std::exchange(too_large_, false) ? OpStatus::kTooLarge : OpStatus::kOutOfMemory;
  }
  bool IsGuarded(uint64_t address) const;
  // After an upsert: pays for it, or, in a batch, notes that it is to be paid for.
  void PayOrOwe(const PartitionRef& partition, int64_t now_seconds);
  // For LaneEviction, which looks at several together so that their cache misses overlap.
  static constexpr size_t kLookedAtTogether = 8;
  // How far a search of the hand has come, over several tables.
  struct HandTurn {
    size_t left = 0;  // to be evicted
    size_t looked_at = 0;
    // The least used that was not evicted, so far: address and reference.
    std::pair<uint64_t, uint64_t> least{0, 0};
    uint8_t least_uses = UINT8_MAX;
    Table* least_of = nullptr;
  };
  size_t EvictFromProbation(size_t partitions_max, int64_t now_seconds);
  // Moves the hand over some partitions; true: it has come to the end.
  bool TurnHand(HandTurn& turn, int64_t now_seconds);
  uint64_t AveragePartitionBytes() const {
    return arena_.live_bytes() / std::max<size_t>(directory_.size(), 1) + 1;
  }
  template <typename Work>
  uint64_t BytesFreedBy(const Work& work) {
    const uint64_t before = arena_.live_bytes();
    work();
    return before - std::min(before, arena_.live_bytes());
  }
  void NoteOnProbation(ptrdiff_t change) {
    cache_->on_probation += static_cast<size_t>(change);
    if (cache_->takes_part) cache_->lane.NoteOnProbation(change);
  }
  // A copy has had the reads of what it was copied from, and is a main partition where that was one.
  void TakeOverUses(const PartitionRef& partition, const Table& of, const Partition& from);
  void EvictOne(uint64_t address, uint64_t reference, int64_t now_seconds);
  void NoteEviction(std::string_view key, uint64_t rows, EvictionCause cause);
  // What evictions leave to do besides: stale timers, holes, ghosts that are too few.
  void TidyAfterEviction(size_t evicted);
  void VerifyEviction();

  size_t ReclaimDue(int64_t now_seconds, size_t budget);
  void ReclaimEntry(const TtlWheel::Entry& entry, int64_t now_seconds, size_t budget,
                    size_t& units);
  void ScheduleAgain(const TtlWheel::Entry& entry, Partition& partition);
  // A directory keeps room for what comes back to it.
  bool WantsTidy() const {
    return directory_.WantsTidy() && (baseline_epoch_ == 0 || directory_.migrating());
  }
  DirectorySlot* FindEntry(const TtlWheel::Entry& entry);
  size_t ReclaimTruncated(size_t budget);
  size_t ReclaimDead(size_t budget);
  size_t ReclaimDropped(size_t budget);
  void Moved(void* from, void* to, size_t bytes) override;
  bool MayMove(const void* block) const override;

  TableSchema schema_;  // changes with Reuse and SetGrace alone; its id with Drop and set_id too
  const AddressOf& address_of_;
  const memory::MemoryBudget& budget_;
  memory::Arena arena_;
  PartitionContext context_;

  // What every read looks at, in two cache lines: the id of schema_; whether that has one regular
  // column; what becomes of the read; and the directory.
  alignas(kCacheLineBytes) TableId id_;
  bool one_column_;
  // The pass over the directory that takes truncated partitions out.
  struct TruncationPass {
    bool active = false;
    uint32_t epoch = 0;  // truncations up to here are done when it ends
    uint64_t next_address = 0;
  } pass_;
  std::unique_ptr<EvictionState> cache_;        // null: nothing is evicted
  std::unique_ptr<UsageByComponent> usage_of_;  // null: not counted
  Usage usage_;                                 // what was counted without it
  alignas(kCacheLineBytes) Directory directory_;

  TtlWheel wheel_;
  PinTable pins_;
  TableMirror* mirror_ = nullptr;        // null: the table is not being copied
  std::optional<size_t> pledged_bytes_;  // nullopt: no write was pledged
  bool redeeming_ = false;
  bool too_large_ = false;  // the reservation that failed last would pass the limit by itself
  bool copying_ = false;    // rows of another table come, which were let in there
  bool in_both_ = false;    // a write that its copy has yet to see
  // Of the reservation that was asked for last: the rows and what they meet, at most; their cells, and
  // those of the row of most cells that they meet; and the row that would be larger than it may be.
  uint64_t rows_bytes_max_ = 0;
  uint64_t rows_cells_ = 0;
  uint64_t row_cells_met_ = 0;
  uint64_t rewritten_cells_ = 0;
  Partition::RowScratch deletions_;  // of the same, what they work with
  RowSize large_row_;
  bool foreign_timestamps_ = false;
  bool past_unknown_ = false;
  bool dropped_ = false;
  bool set_aside_ = false;
  bool replaying_ = false;  // a write comes again; see Replayed

  // A partition belongs to the epoch in which it was made; truncations start a new one.
  uint32_t epoch_ = 1;
  uint32_t truncated_before_ = 0;
  std::map<std::string, uint32_t, std::less<>> truncated_components_;
  LargePartition* dead_ = nullptr;
  std::vector<TtlWheel::Entry> due_again_;  // scratch of ReclaimDue

  uint32_t baseline_epoch_ = 0;         // partitions of it or later came since; 0: there is none
  std::unique_ptr<Baseline> baseline_;  // what is kept for it; null exactly where there is none
  std::unique_ptr<Baseline> spare_baseline_;  // prepared
  std::unique_ptr<Baseline> left_;            // to be taken apart
  uint64_t rows_aside_ = 0;                   // of what is kept, or left
  TombstoneCounts tombstones_aside_;          // likewise

  uint64_t evicted_bytes_ = 0;
  ChangeMarks marks_;
  EvictionLog* eviction_log_ = nullptr;
  EvictionWitness* eviction_witness_ = nullptr;
  std::unique_ptr<ExpiryLog> expiries_;  // null: nobody listens
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_TABLE_H_
