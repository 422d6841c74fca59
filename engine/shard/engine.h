// Engine: all shards of a store, cut into lanes, and the catalog of tables. The one place through
// which both front doors reach data.
//
// Thread-safe. A command is routed by its partition key to a lane, the lane is taken, the command
// runs where the caller stands (or, when the lane is taken, by whoever holds it), the reply comes
// back. The engine starts one thread at most, and only when asked to (StartMappingAhead).
#ifndef LISTSTORE_ENGINE_SHARD_ENGINE_H_
#define LISTSTORE_ENGINE_SHARD_ENGINE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/base/mutex.h"

#include "engine/command/command.h"
#include "engine/command/conditional_write.h"
#include "engine/command/memory_refusal.h"
#include "engine/command/reply.h"
#include "engine/commitlog/record_decoder.h"
#include "engine/commitlog/write_log.h"
#include "engine/memory/heap_share.h"
#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/memory/region_mapper.h"
#include "engine/model/expiry.h"
#include "engine/model/hot_row.h"
#include "engine/model/schema_actions.h"
#include "engine/model/stored_row.h"
#include "engine/model/token.h"
#include "engine/model/view_sink.h"
#include "engine/shard/call_addresses.h"
#include "engine/shard/catalog.h"
#include "engine/shard/copied_parts.h"
#include "engine/shard/engine_image.h"
#include "engine/shard/lane.h"
#include "engine/shard/router.h"

namespace liststore::shard {

struct EngineOptions {
  uint32_t shards = 1;
  uint32_t lanes_per_shard_log2 = 4;
  uint64_t memory_limit_bytes = uint64_t{1} << 30;
  memory::SystemMemory* system = &memory::SystemMemory::Instance();  // outlives the engine
  // What of a table is copied under one hold of a lane: rows, where they are small (1 to 2 us each).
  uint32_t copied_rows_per_hold = 512;
  // What of a view's base is looked at under one hold of all lanes (10 to 20 us each).
  uint32_t filled_rows_per_hold = 64;
};

// How far a scan of partitions has come; see also Engine::PositionAt.
struct ScanPosition {
  uint32_t segment = 0;  // see Router
  uint32_t shard = 0;
  uint64_t address = 0;                  // resume at or after this within the lane
  std::optional<std::string> after_key;  // and, at that address, after this key
  bool started = false;                  // address and after_key count
  bool done = false;
  // Of one call; see Router. It may find nothing, and more be there all the same.
  uint32_t pieces_max = UINT32_MAX;
  bool waits_its_turn = false;  // as Command::waits_its_turn
};

// How far a copy of a table has come; see Engine::CopyOut.
struct CopyPosition {
  uint32_t lane = 0;
  uint64_t address = 0;                  // resume at or after this within the lane
  std::optional<std::string> after_key;  // and, at that address, after this key
  bool done = false;
};

// One of the tables that are rebuilt together; see Engine::RebuildTable.
struct TableRebuild {
  TableId from;
  TableSchema schema;  // its id is assigned
  ColumnMap columns;
  std::span<const ColumnToKeep> keeps = {};
  std::span<const ColumnToRestore> restores = {};
  // What was kept of each of `keeps`.
  std::vector<KeptCells> kept = {};
};

class Engine {
 public:
  explicit Engine(const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Ids at a time, those of dropped tables whose memory has not come back included.
  static constexpr size_t kTablesMax = 65'535;

  // --- Tables ------------------------------------------------------------------------------------
  // What ends one is atomic under all lanes: nobody sees a part of it, and from then on its id
  // gives kTableGone.

  // Creates a table in every lane; `schema.id` is assigned. The shell of a dropped table is used
  // again when there is one. For tables whose number the program decides.
  TableId CreateTable(TableSchema schema);
  // The same for tables whose number users decide. kTooManyTables.
  OpStatus CreateTable(TableSchema schema, TableId& id);
  // The rows are out of sight at once; memory comes back in slices of Reclaim, of a small table
  // before this returns. kTableGone. The heap cannot refuse it.
  OpStatus DropTable(TableId table) noexcept { return DropTables({&table, 1}); }
  // All at one instant. kTableGone: none of them.
  OpStatus DropTables(std::span<const TableId> tables) noexcept;
  // Creates a table of `schema`, copies everything of `from` into it, and drops `from`: rows and
  // what is left of deleted ones (markers, cells, tombstones, shadows), each with its own write
  // timestamp, TTL and times, cells as `columns` says. The partition key's columns are the same;
  // clustering columns too, but for types whose values encode alike (ascii, text, blob).
  //
  // Others read and write `from` meanwhile: it is copied in slices of some 512 rows, under a hold of
  // one lane each, and what is written to a part that was copied goes into the copy as well. The
  // change itself is one step, under a short hold of all lanes.
  //
  // All or nothing: kOutOfMemory (both tables have to fit, with what is written meanwhile, which
  // itself is not refused for it), kTooManyTables, kTableGone: nothing has changed. O(rows); 6 us a
  // row in a checked build on a busy machine of 2 cores, 50 rows a partition.
  OpStatus RebuildTable(TableId from, TableSchema schema, const ColumnMap& columns,
                        uint64_t now_nanos, TableId& id);
  // The same for several tables, all or none; their new ids are put into `rebuilds`.
  // `between_slices` is called by the caller's thread, which then holds no lane.
  OpStatus RebuildTables(
      std::span<TableRebuild> rebuilds, uint64_t now_nanos,
      absl::FunctionRef<void()> between_slices = [] {});
  // Another grace from now on; what is gone stays gone. The TTL is the front doors' affair.
  OpStatus SetGrace(TableId table, int64_t gc_grace_seconds);
  OpStatus TruncateTable(TableId table);
  // All at one instant. kTableGone: none of them.
  OpStatus TruncateTables(std::span<const TableId> tables);
  // Takes from the heap what the next call will need, so that it is not refused half-way.
  void PrepareTruncation(TableId table, std::string_view component);
  OpStatus TruncateFirstComponent(TableId table, std::string_view component);

  // --- Derived tables, whose rows follow from those of others (command/row_follower.h) -----------

  // Puts what follows from the rows of `base` into the tables that `follower` derives, which are
  // emptied before, in slices of up to 64 rows, each under a hold of all lanes. `base` is not evicted
  // from any more; where its tables may be, and there is no room, some of all goes first.
  // Whoever writes to `base` meanwhile has what follows changed in the same step (see
  // ExecuteConditional), as RenewTable has made sure before. kOutOfMemory, kTableGone: they have a
  // part of their rows. O(rows of base). `between_slices` is called by the caller's thread, which
  // then holds no lane.
  OpStatus FillDerived(
      TableId base, RowFollower& follower, uint64_t now_nanos,
      absl::FunctionRef<void()> between_slices = [] {});
  // Another id for the same table, as others follow it from now on, or nobody does: who writes by the
  // id from before gets kTableGone.
  OpStatus RenewTable(TableId& table);

  // --- Images ------------------------------------------------------------------------------------
  // For tables that come back as they were (shard/baseline.h). One image at a time.

  // Takes an image of these tables, all at one instant, in place of `image`. From then on they keep
  // what is changed of them, within the memory limit: a write that finds no room for it is refused.
  // Where something may be evicted, an image is of a half of what rows may take at most, for which
  // some goes before. kOutOfMemory: of the heap's making; nothing has changed, and `image` is as it
  // was.
  //
  // At the instant every lane is held for O(tables * lanes); then `clock` is called, and its time is
  // the image's, and `at_instant`, after which nothing fails, and which may call AppendBarrierHeld. A
  // batch is in it whole, or not at all.
  OpStatus TakeImage(
      std::span<const TableId> tables, absl::FunctionRef<uint64_t()> clock, EngineImage& image,
      absl::FunctionRef<void()> at_instant = [] {});
  void DropImage(EngineImage& image);
  // Makes the tables of the request what they were, all at one instant; those that stand, and that
  // nobody else follows than then, keep their ids. Where the clock turns out to be set to another
  // time, all tables get new ids, and the era ends: statements that have read the clock before find
  // their tables gone. kOutOfMemory: nothing has changed. Every lane is held for O(partitions that
  // were changed + tables * lanes). The memory of what was there comes back by Reclaim.
  OpStatus ReturnTo(ReturnRequest& request);
  // Ascends whenever ReturnTo finds that its clock was set to another time. What goes by an instant
  // that was read in an earlier era is void: read the era first, then the clock.
  uint64_t era() const { return era_.load(std::memory_order_acquire); }

  // --- Commands ----------------------------------------------------------------------------------

  // Runs one command. `now_nanos`: the caller's one reading of the clock. kTableGone where the
  // command's table was dropped, here and below.
  Reply Execute(const Command& command, uint64_t now_nanos);

  // For a command that takes a while to make: where it will go, and its memory comes closer
  // meanwhile. First the partition's slot in the directory, then, when that has come, what a small
  // write looks at; the second takes the lane for a moment, and does nothing where it is taken.
  // From 5,000 lists on an addition of one item takes 8 % less for it.
  struct Destination {
    Lane* lane;
    uint32_t lane_number;
    uint64_t address;
  };
  Destination Foresee(TableId table, std::string_view partition_key) const;
  void FetchForWrite(TableId table, const Destination& to) const;
  // Its two halves, for who foresees several: the second of all of them behind the first of all, so that
  // taking a lane does not wait for the pages that were asked for before.
  uint64_t HintForWrite(TableId table, const Destination& to) const;
  static void FetchForWrite(uint64_t hint) { storage::Table::PrefetchForWrite(hint); }
  // Runs a command that goes there.
  Reply Execute(const Command& command, const Destination& to, uint64_t now_nanos);

  // Runs many, looked up together in groups of 16, so that their cache misses overlap; replies[i]
  // belongs to commands[i]. Commands of one partition run in order; nothing else is promised about
  // order.
  void ExecuteGroup(std::span<const Command> commands, uint64_t now_nanos,
                    std::span<Reply> replies);

  // A read without a command, for a sixth less. `Sink`: a RowSink; of one that is final, the rows
  // that most reads find come without a virtual call. `info`: what the partition says of itself.
  // False: the table was dropped. In engine_groups.h, for those that read.
  template <typename Sink>
  bool Read(TableId table, std::string_view partition_key, const ReadSpec& spec, uint64_t now_nanos,
            Sink& sink, PartitionInfo& info);
  // The same of many, fetched together as those of ExecuteGroup. `reads` has size(), and of read
  // i < size() key(i), sink(i), and SetInfo(i, info), called when its rows have come.
  template <typename Reads>
  bool ReadGroup(TableId table, const ReadSpec& spec, uint64_t now_nanos, Reads& reads);

  // Upserts on many partitions, all or nothing as far as memory goes: the worst case is set aside
  // in every lane concerned before anything is applied. The tables exist. (ExecuteBatch without
  // what only it needs.)
  OpStatus ExecuteAllOrNothing(std::span<const Command> upserts, uint64_t now_nanos,
                               std::span<Reply> replies);

  // Writes (upserts and deletions of every kind but by value) of many partitions and tables, all or
  // nothing: kOutOfMemory and kTableGone mean that nothing was applied. All lanes concerned are
  // held at once, so that no reader sees a part of it.
  //
  // Commands without a timestamp get one in common, above all that these lanes have given out; the
  // others keep theirs. The order of the commands does not count: upserts go first, then deletions,
  // because at equal timestamps a deletion wins (docs/data_model.md), and so does null over a
  // value. A deletion's Reply::rows therefore includes rows of the batch that it took.
  //
  // Memory is set aside for the worst case of every partition before the first write. O(commands +
  // rows log rows).
  OpStatus ExecuteBatch(std::span<const Command> writes, uint64_t now_nanos,
                        std::span<Reply> replies);

  // Reads rows and, if the conditions hold, writes, in one step while all lanes concerned are held.
  // The writes are as those of ExecuteBatch, all or nothing; their common timestamp is above the
  // rows that were read, too. Conditions that do not hold need no memory.
  // With a follower every lane is held, and what follows from the writes is changed before any is
  // let go: nobody sees the one without the other. Rows that follow are never refused: what they
  // take beyond the memory limit, the next write finds missing. O(rows read and written, log rows).
  ConditionalReply ExecuteConditional(const ConditionalWrite& write, uint64_t now_nanos);

  // --- The commit log ----------------------------------------------------------------------------
  // docs/commit_log.md. Whatever is written is refused with kNotKept, and nothing of it applied, where a log
  // that it concerns has no room for it. Rows that follow from others (derived tables) are not
  // written down, nor what goes by time, with its table or, but for WriteDownEvictions, by eviction.

  // From now on what lanes of shard i apply is appended to logs[i], in the order in which they apply it.
  // `run`: above that of every earlier start of which there are records, below 2^23. Before there are
  // other threads; the logs outlive the engine.
  void SetWriteLogs(std::span<commitlog::WriteLog* const> logs, uint32_t run);
  // From now on what is evicted of this table is written down too, and so is not there again after a replay. What
  // is forgotten of it is gone in any case; Reply::refused says then that it is not written down yet.
  void WriteDownEvictions(TableId table);
  // Of all lanes: what the logs had no room for, as far as they have it now.
  void WriteDownGone(uint64_t now_nanos);
  // Of each lane: evictions for whose records the heap had no room. The lane refuses writes until a snapshot of
  // everything has been published that was begun when there were so many: it has none of them.
  std::vector<uint64_t> LostEvictions();
  void ForgiveLostEvictions(std::span<const uint64_t> lost);
  bool keeps_log() const { return !logs_.empty(); }
  uint32_t log_run() const { return log_run_; }
  // Why a log refuses. OK: none does.
  absl::Status log_refusal() const;
  // The ends of all logs, at one instant, at which no batch or step is under way: every lane is held.
  std::vector<uint64_t> LogPositions();
  // A step that stands in every log between the same writes: what was executed before AppendBarrier is
  // before it, what is executed afterwards behind it. Room for it comes first, in all logs or none:
  // every true is ended by one AppendBarrier or UnreserveBarrier with the same number. `payload`: at
  // most so many bytes.
  bool ReserveBarrier(size_t payload_bytes);
  void UnreserveBarrier(size_t payload_bytes);
  void AppendBarrier(std::string_view payload, size_t reserved_payload_bytes);
  // The same by who is called while every lane is held. `record` is empty and has room for
  // BarrierRecordBytes: nothing is taken of the heap. Returns its number.
  static size_t BarrierRecordBytes(size_t payload_bytes);
  uint64_t AppendBarrierHeld(std::string_view payload, size_t reserved_payload_bytes,
                             std::string& record);
  // Into log 0, in no order with writes. False: it refuses.
  bool AppendEvent(std::string_view payload);

  // Applies a write that was written down, as it was applied then, into `table`: under its timestamp,
  // above which the lane's next ones are then, at its time, and with what was over having the effect that
  // it had. Nothing is made free for it by its time: kOutOfMemory. kTableGone.
  // kBadRecord: it does not fit the table's columns.
  OpStatus Replay(const commitlog::RecordedWrite& write, TableId table) {
    return Replay(write, table, DestinationOf(write.partition_key));
  }
  OpStatus Replay(const commitlog::RecordedWrite& write, TableId table, const Destination& to);
  // After its kOutOfMemory: the same again, with room made by what is over at `now_nanos`, at which or
  // behind which all records are that are still to come, and by evictions.
  OpStatus ReplayWithRoom(const commitlog::RecordedWrite& write, TableId table,
                          const Destination& to, uint64_t now_nanos);
  // Drops the partitions of a table of which `goes(key)`. Not written down. O(partitions).
  OpStatus DropPartitions(TableId table, absl::FunctionRef<bool(std::string_view)> goes);

  // --- Eviction ----------------------------------------------------------------------------------
  // When a write finds no memory, partitions of the tables that take part may go, whichever is
  // written to.

  // This table, which is empty, takes part; who writes to it is told what goes of it.
  void EnableEviction(TableId table, const storage::EvictionOptions& options);
  // From now on tables may take part as ChooseEvicted says. Before there are other threads.
  void EvictTablesOfUsers() { evicts_tables_of_users_ = true; }
  bool evicts_tables_of_users() const { return evicts_tables_of_users_; }
  // Which of these tables take part from now on. Each was chosen once before it was used, and those
  // that are rebuilt or returned to are like those before; one that is gone is passed by.
  struct EvictionChoice {
    TableId table;
    bool takes_part = false;
  };
  void ChooseEvicted(std::span<const EvictionChoice> choices);
  // Partitions that were evicted for memory.
  uint64_t evictions() const;
  // Its partitions that are begun from now on are partial: see Table::NotePastUnknown.
  void NotePastUnknown(TableId table);
  // Counts the uses of its partitions for each first component too; `owner` outlives the engine.
  void CountUsageFor(TableId table, UsageOwner& owner);
  // Hands what was counted so far to the owner.
  void FlushUsage(TableId table);
  // The state of a partition now, for PutCommand::unless_since.
  uint64_t ChangeMark(TableId table, std::string_view partition_key);

  // --- Views -------------------------------------------------------------------------------------

  // What a view holds of a lane; see Unpin. Plain data.
  struct RowPin {
    Lane* lane = nullptr;
    storage::ViewPin* pin = nullptr;
  };
  // Reads the newest `limit` rows of a range into a sink that may keep pointing to them; see
  // Table::View. The pin, if there is one, is given to Unpin before the engine ends. kTableGone.
  OpStatus View(TableId table, std::string_view partition_key, const ClusteringRange& range,
                uint64_t limit, uint64_t now_nanos, ViewSink& sink, RowPin& pin);
  // Any thread, and never waits: a lane that is taken gives the block back when it next reclaims or
  // is viewed.
  static void Unpin(const RowPin& pin);

  // --- Scans -------------------------------------------------------------------------------------

  // Partition keys of a table, in token order, at most `limit`, from `position` on, which is moved;
  // only partitions with a live row or static value, with `first_component` as their first key
  // component when given, and with tokens up to `last`, itself included, when given. Their tokens:
  // TokenOf(key). Fewer than `limit`, and more may be there all the same, while `position` is not
  // done. kTableGone: no keys, and `position` is as it was.
  OpStatus ScanPartitions(TableId table, std::optional<std::string_view> first_component,
                          size_t limit, uint64_t now_nanos, ScanPosition& position,
                          std::vector<std::string>& keys, std::optional<Token> last = std::nullopt);
  // Where a scan begins that starts at the first partition with this token or a later one, or that
  // goes on behind a partition, whether or not it is still there.
  ScanPosition PositionAt(Token token) const;
  ScanPosition PositionBehind(std::string_view partition_key) const;

  // --- To and from elsewhere ---------------------------------------------------------------------

  // Sends what is stored of the next partitions of a table, in the order of lanes and tokens, and
  // moves `position`: one slice, under one hold of one lane, of up to 128 partitions or until the
  // sink is full. Each partition is sent whole, and so as it is at one instant. kTableGone.
  OpStatus CopyOut(TableId table, uint64_t now_nanos, CopyPosition& position, StoredRowSink& sink);
  // The same for a snapshot that goes together with logs: a slice ends between two addresses, and `part` is
  // the piece that it is, with how far the lane's log had come (0 without one). `position` counts lanes and
  // addresses alone.
  OpStatus CopyPart(TableId table, uint64_t now_nanos, CopyPosition& position, StoredRowSink& sink,
                    CopiedPart& part);
  // As TableSchema::packs_item_keys; no for a table that is gone.
  bool PacksItemKeys(TableId table);
  // Puts in rows of a partition that CopyOut sent; see Table::Restore. For tables that nobody else
  // uses. kOutOfMemory: a part of them was put in.
  OpStatus Restore(TableId table, const StoredPartition& partition, std::span<const StoredRow> rows,
                   uint64_t now_nanos);
  OpStatus Restore(TableId table, const StoredPartition& partition, std::span<const HotRow> rows,
                   uint64_t now_nanos);
  // The same of what was written down: kBadRecord where it does not fit the table.
  OpStatus RestoreRecorded(TableId table, const StoredPartition& partition,
                           std::span<const StoredRow> rows, uint64_t now_nanos);
  OpStatus RestoreRecorded(TableId table, const StoredPartition& partition,
                           std::span<const HotRow> rows, uint64_t now_nanos);
  // The largest timestamp that any lane has given out; a lane gives out none at or below what it is
  // advanced to.
  WriteTimestamp LastTimestamp();
  void AdvanceTimestamps(WriteTimestamp timestamp);

  // --- Reclamation, figures ----------------------------------------------------------------------

  // A slice of reclamation, about `budget` units over all lanes, a lane at a time; returns the
  // units done, 0 when nothing waits. Passes by lanes that are taken as long as there is something
  // to do in others, and, where it may not wait, in any case: 0 then says less. `era`: that of the
  // instant, where it can end; see era(). The caller holds no lane.
  size_t Reclaim(uint64_t now_nanos, size_t budget, std::optional<uint64_t> era = std::nullopt,
                 bool may_wait = true);
  // Tells `sink` of every row of this table that goes because it was over: at the end of the
  // Reclaim that gave it back, or of the next one where a write did. Before there are other
  // threads.
  void ListenToExpiries(TableId table, ExpirySink sink);
  // No cell expires before this; nullopt: none will.
  std::optional<int64_t> NextExpirySeconds();
  // The second at which the next row or cell that lives at `now` expires, of all tables but
  // those set aside for an image; nullopt: none will. Exact for what was there when the call began and is
  // there when it ends. O(partitions, and rows of those that have TTLs); a lane is held for some 20
  // us at a time.
  std::optional<int64_t> NextExpiry(uint64_t now_nanos);

  // How far the slices of Reclaim are. `late_lanes`: those that have something to give back that was due a
  // second ago, or before.
  struct ExpiryState {
    storage::ExpiryProgress progress;
    uint32_t late_lanes = 0;
  };
  // O(tables x lanes); a lane is held for 64 tables at a time.
  ExpiryState ExpiryStateAt(uint64_t now_nanos);
  // Lanes that somebody holds, and those in which others wait for it, as they were one after the other. A
  // load for each.
  struct LaneUse {
    uint32_t lanes = 0;
    uint32_t held = 0;
    uint32_t waited_for = 0;
  };
  LaneUse GlanceAtLanes() const;

  // Makes memory ready for `bytes` more of data, and keeps it; see PagePool::Populate. Before there
  // are other threads.
  [[nodiscard]] memory::PagePool::Populated Populate(uint64_t bytes) {
    return pool_.Populate(bytes);
  }
  // Starts a thread that touches memory before writers need it. Before there are others; once.
  // ResourceExhausted: the system has no thread for it.
  [[nodiscard]] absl::Status StartMappingAhead();

  // All zero for a table that is gone.
  storage::TableStats StatsOf(TableId table);
  // Another limit from now on. Where it is below what is held: what is due goes, then partitions that
  // may be evicted, lane after lane, a small step each, until it fits; between steps the lanes are
  // free. False: more is held all the same, nothing of which may be evicted; writes are refused until
  // it fits, deletions go on. `evictions`: as Command::evictions; `era`: as of Reclaim. One call at a
  // time changes the limit, others wait. The caller holds no lane.
  bool SetMemoryLimit(uint64_t bytes, uint64_t now_nanos, EvictionLog* evictions = nullptr,
                      std::optional<uint64_t> era = std::nullopt);
  uint64_t held_bytes() const { return budget_.held_bytes(); }
  uint64_t memory_limit_bytes() const { return budget_.limit_bytes(); }
  // What one row may have; kRowBytesMax as long as nobody says less. Any thread.
  uint64_t row_bytes_max() const { return budget_.row_bytes_max(); }
  void SetRowBytesMax(uint64_t bytes) { budget_.set_row_bytes_max(bytes); }
  // Why a write that was refused just now found no memory. Where others are refused at the same
  // time for the other reason, theirs may be named.
  MemoryRefusal memory_refusal() const {
    return {memory_limit_bytes(), pool_.refuses() ? pool_.refused_bytes() : 0,
            has_image_.load(std::memory_order_relaxed)};
  }
  // Pages that are resident for rows, those that are kept for the next slab and their tables included.
  uint64_t page_bytes() const {
    const memory::PagePool::Stats stats = pool_.GetStats();
    return stats.used_bytes + stats.kept_bytes + stats.loose_bytes +
           stats.regions * memory::PagePool::kPageBytes;
  }
  // Tables take memory beside their rows. Whoever sees that there is none says so: changes of the
  // schema that may take some are refused until it is unsaid. Any thread.
  void SetRefusesTables(bool refuses) { refuses_tables_.store(refuses, std::memory_order_relaxed); }
  bool refuses_tables() const { return refuses_tables_.load(std::memory_order_relaxed); }
  // Writes have room, as far as the limit is concerned.
  bool is_within_limit() const { return budget_.held_bytes() <= budget_.grow_limit_bytes(); }
  // Some table may be evicted from.
  bool evicts() const { return evicting_table_.has_value() || evicts_tables_of_users_; }
  uint64_t refused_writes() const { return refused_writes_.load(std::memory_order_relaxed); }
  const Router& router() const { return router_; }
  // Tables by name, for front doors; the engine itself goes by TableId alone.
  Catalog& catalog() { return catalog_; }
  void Verify();

 private:
  Destination DestinationOf(std::string_view partition_key) const {
    const Router::Place place = router_.PlaceOf(TokenOf(partition_key));
    return {lanes_[place.lane].get(), place.lane, place.address};
  }
  Destination DestinationOf(const Command& command) const {
    return DestinationOf(command.partition_key);
  }
  uint64_t NextLogNumber() { return next_log_number_.fetch_add(1, std::memory_order_relaxed); }
  bool ReserveInAll(size_t bytes);  // logs; false: in none
  bool WriteDownTruncations(std::span<const TableId> tables,
                            std::optional<std::string_view> component);
  class Batch;       // see batch.cc
  class GroupAhead;  // see engine_groups.h
  // `reply`: as it was made.
  void ExecuteAt(const Destination& to, const Command& command, uint64_t now_nanos, Reply& reply,
                 const LookedAhead& ahead = {});
  template <typename Sink>
  bool ReadAt(const Destination& to, TableId table, std::string_view partition_key,
              const ReadSpec& spec, int64_t now_seconds, Sink& sink, PartitionInfo& info,
              const LookedAhead& ahead);
  // After a refusal of ExecuteAt's: the same with room made for it.
  void ExecuteWithRoom(const Destination& to, const Command& command, uint64_t now_nanos,
                       Reply& reply);
  // What tells whether a time is still of now: a table of the caller's, or the era that it has found.
  // Where the table is gone, or the era over, so may be the time, and nothing is done by it.
  struct Witness {
    std::optional<TableId> table = {};
    std::optional<uint64_t> era = {};
  };
  // After a refusal: credit that other lanes set aside, and what is due there, goes back to the
  // budget. False: there was nothing. The caller holds no lane, here and below.
  bool MakeRoom(uint64_t now_nanos, const Witness& witness);
  // The same for copies and rows of views, where something may go for them.
  void MakeRoomForCopies(uint64_t now_nanos, uint64_t room_bytes);
  void ReclaimIn(Lane& lane, uint64_t now_nanos);
  size_t ReclaimSlice(Lane& lane, int64_t now_seconds, size_t budget, ExpiryLog& expiries);
  void TellExpiries(ExpiryLog& expiries) const;
  // After another: evicts some partitions, the more the higher the `round`, in the call's own lanes
  // or, every other round, in all; where nothing is to be had in those that are free, in those that
  // are taken. False: there was nothing.
  bool EvictAfterRefusal(uint64_t now_nanos, uint32_t round, const CallAddresses& guarded,
                         EvictionLog* evictions, const Witness& witness);
  bool EvictIn(uint32_t number, uint64_t now_nanos, uint32_t doublings,
               const CallAddresses& guarded, EvictionLog* evictions, const Witness& witness);
  bool IsOfNow(Lane& lane, const Witness& witness) const;
  static bool IsRefusal(OpStatus status) {
    return status == OpStatus::kOutOfMemory || status == OpStatus::kTooLarge;
  }
  // After a refusal: calls `attempt()` again as long as it gives kOutOfMemory and room can be made.
  // What becomes of it; never kTooLarge. `table`: one of those that the call is about.
  OpStatus RetryWithRoom(OpStatus status, uint64_t now_nanos, TableId table,
                         const CallAddresses& guarded, EvictionLog* evictions,
                         absl::FunctionRef<OpStatus()> attempt);
  // Around a call's work in several lanes that are held: what it writes is not evicted, what it
  // took is paid for at the end.
  void BeginGuard(std::span<const uint32_t> lanes, const CallAddresses& guarded,
                  EvictionLog* evictions);
  void EndGuard(std::span<const uint32_t> lanes, uint64_t now_nanos);
  // Whose evictions are told; nullptr: there is none.
  storage::Table* ToldTableIn(Lane& lane);
  // `named_twice`: some partition may be.
  OpStatus PledgeAndApply(std::span<const Command> upserts, std::span<const Destination> to,
                          const CallAddresses& guarded, bool named_twice, uint64_t now_nanos,
                          std::span<Reply> replies);
  // Its first half: memory for all of them is set aside, or some of it, and kOutOfMemory.
  static OpStatus Pledge(std::span<const Command> upserts, std::span<const Destination> to,
                         bool named_twice, const WriteContext& write);
  // The id of the next table, whose shell is vacant or new. False: there is none.
  bool ChooseId(TableId& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);
  // It is in no lane. Those chosen last go back first.
  void ReturnId(TableId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);
  // Under the hold of all lanes: new tables, in the order of their ids. Throws std::bad_alloc, and
  // there are none.
  void AddToAllLanes(std::span<const TableSchema> schemas);
  // A table was dropped in all lanes: a small one is emptied, and its shell is kept in mind.
  void KeepShell(TableId dropped) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);
  // Room to keep so many more in mind.
  void ReserveShells(size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);
  // Does up to `budget` units of what is left to do in the parts of a shell, and looks at each; true
  // when it is vacant.
  bool EmptyShell(TableId shell, size_t budget) ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);
  // Chooses ids for all, or none.
  bool ChooseIds(std::span<TableRebuild> rebuilds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);
  class Copies;  // see engine_copies.h
  OpStatus CreateCopies(std::span<const TableRebuild> rebuilds)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);
  OpStatus EndCopies(Copies& copies, std::span<const TableRebuild> rebuilds, OpStatus status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);
  template <typename Row>
  OpStatus RestoreRows(TableId table, const StoredPartition& partition, std::span<const Row> rows,
                       uint64_t now_nanos, bool is_recorded);
  // Puts what columns held that were dropped before into the new table. The caller holds no lane.
  OpStatus Restore(const TableRebuild& rebuild, int64_t now_seconds,
                   absl::FunctionRef<void()> between_slices);
  // See engine_derived.cc; under the hold of all lanes. nullptr: the table is gone.
  storage::Table* FindHeld(TableId table, std::string_view partition_key,
                           storage::PartitionRef& partition);
  struct FillPosition;
  static bool FindNextToFill(storage::Table& base, FillPosition& at);
  void EmptyDerived(TableId base, RowFollower& follower, bool base_takes_part);
  OpStatus FillAll(TableId base, RowFollower& follower, uint64_t now_nanos,
                   absl::FunctionRef<void()> between_slices)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);
  OpStatus FillSlice(TableId base, RowFollower& follower, int64_t now_seconds, FillPosition& at);
  OpStatus TryToFill(TableId base, RowFollower& follower, int64_t now_seconds, FillPosition& at);
  void RenewHeld(TableId& table);
  // Runs `work` on every lane's part of a table, all of them held; kTableGone when there is none.
  OpStatus WithAllOf(TableId table, absl::FunctionRef<void(storage::Table&)> work);
  // Runs `work` holding every lane: taken in ascending order, holding none before.
  void WithAllLanes(absl::FunctionRef<void(Lane&)> work);
  // All lanes, from construction to the end of the scope.
  class AllLanes {
   public:
    explicit AllLanes(Engine& engine) : engine_(engine) { engine_.AcquireAll(); }
    ~AllLanes() { engine_.ReleaseAll(); }
    AllLanes(const AllLanes&) = delete;
    AllLanes& operator=(const AllLanes&) = delete;

   private:
    Engine& engine_;
  };
  void AcquireAll();
  void ReleaseAll();
  // See engine_image.cc.
  void PrepareImage(std::span<const TableId> tables);
  void DropSetAside(EngineImage& image);
  bool ReserveReturn(const ReturnRequest& request);
  void GoBack(ReturnRequest& request);
  // A table ends in this lane, of those that are held: one that an image is of is set aside.
  static void EndTable(Lane& lane, TableId table);
  // Behind it.
  void KeepShellUnlessSetAside(TableId ended) ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);

  const Router router_;
  const uint32_t copied_rows_per_hold_;
  const uint32_t filled_rows_per_hold_;
  Catalog catalog_;
  std::atomic<bool> refuses_tables_ = false;
  memory::MemoryBudget budget_;
  const std::shared_ptr<memory::HeapLedger> heap_ledger_;  // of budget_
  memory::PagePool pool_;
  ExpirySink expiry_sink_;  // empty: nobody listens
  std::vector<std::unique_ptr<Lane>> lanes_;
  Mutex limit_mutex_;   // one change of the limit at a time
  Mutex tables_mutex_;  // one creation or end of a table at a time
  uint16_t table_count_ ABSL_GUARDED_BY(tables_mutex_) = 0;
  // Shells of dropped tables, under the ids that they will have: those with something left in them,
  // in the order in which they were dropped, and those without.
  std::vector<TableId> dropped_ ABSL_GUARDED_BY(tables_mutex_);
  std::vector<TableId> vacant_ ABSL_GUARDED_BY(tables_mutex_);
  // Set before the table is used, by whoever creates it; evictions of it are told.
  std::optional<TableId> evicting_table_;
  // Nobody asks what is held of a table of users: it does not know what was there before.
  static constexpr storage::EvictionOptions kUsersEviction{.lives_elsewhere = true,
                                                           .filter_bytes = 0};
  bool evicts_tables_of_users_ = false;     // set before there are other threads
  std::vector<commitlog::WriteLog*> logs_;  // by shard; empty: none is kept
  uint32_t log_run_ = 0;
  std::atomic<uint64_t> next_log_number_{0};  // of batches and steps: the run << 40, and on
  std::atomic<uint32_t> next_reclaimed_lane_{0};
  std::atomic<uint64_t> refused_writes_{0};
  std::atomic<bool> has_image_{false};
  std::atomic<uint64_t> era_{0};                  // changes while every lane is held
  std::unique_ptr<memory::RegionMapper> mapper_;  // goes first: it uses the pool
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_ENGINE_H_
