#include "engine/lists/list_keeper.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/byte_coding.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/durable/definitions.h"
#include "engine/durable/schema_records.h"
#include "engine/model/dialect_name.h"
#include "engine/model/token.h"

namespace liststore {
namespace {

// For all logs together, while the disk is slow.
constexpr size_t kBufferBytes = size_t{128} << 20;
constexpr size_t kSegmentBytes = size_t{32} << 20;
constexpr size_t kSegmentsBytes = size_t{256} << 20;
constexpr size_t kSegmentBytesMin = size_t{4} << 20;

// What makes the store's tables, in CQL: a server makes them by it.
struct Statement {
  std::string text;
  std::string_view table;  // empty: the keyspace
  size_t uuids = 0;        // that a server draws for it
  bool numbers = false;    // its table gets a number
};
std::array<Statement, 4> StatementsOf(const std::string& keyspace) {
  const std::string quoted = absl::StrCat("\"", keyspace, "\"");
  return {{
      {absl::StrCat("CREATE KEYSPACE ", quoted,
                    " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"),
       "", 0, false},
      {absl::StrCat("CREATE TABLE ", quoted,
                    ".list_items (feature_key text, entity_id text, item_key text, value blob, "
                    "PRIMARY KEY ((feature_key, entity_id), item_key)) "
                    "WITH CLUSTERING ORDER BY (item_key DESC)"),
       "list_items", 1, true},
      {absl::StrCat("CREATE INDEX list_items_by_value ON ", quoted,
                    ".list_items ((feature_key, entity_id), value)"),
       "list_items", 1, false},
      {absl::StrCat("CREATE TABLE ", quoted,
                    ".list_features (entity_type text, feature text, version text, "
                    "feature_ttl bigint, own_ttl boolean, ttl bigint, "
                    "PRIMARY KEY (entity_type, feature, version))"),
       "list_features", 1, true},
  }};
}

std::string NameOf(const SchemaChangeRecord& change) {
  if (!change.table.empty()) return absl::StrCat("table ", change.keyspace, ".", change.table);
  if (!change.type.empty()) return absl::StrCat("type ", change.keyspace, ".", change.type);
  return absl::StrCat("keyspace ", change.keyspace);
}

durable::DataRunOptions ToRunOptions(const Options& options, const Clock& log_clock) {
  durable::DataRunOptions run;
  run.log = durable::LogModeOf(options.commit_log);
  run.period_nanos = uint64_t{options.commit_log_period_ms} * 1'000'000;
  run.segment_bytes =
      options.commit_log_segment_bytes != 0
          ? options.commit_log_segment_bytes
          : std::clamp(kSegmentsBytes / options.shards, kSegmentBytesMin, kSegmentBytes);
  run.buffer_bytes = std::max(kBufferBytes / options.shards, durable::kLogBufferBytesMin);
  run.threads = options.commit_log == CommitLog::kPeriodic || options.background_reclaim;
  run.compression = options.snapshot_compression;
  run.clock = &log_clock;
  run.say_failure = options.on_keeping;
  run.say = options.on_keeping;
  return run;
}

// In the byte of the holding: lists may be missing that were there once.
constexpr uint8_t kPastUnknownBit = 0x80;

std::string EventOf(ListKeeper::Holding holding, bool past_unknown) {
  std::string event;
  Put(event, durable::kHoldingEvent);
  Put(event,
      static_cast<uint8_t>(static_cast<uint8_t>(holding) | (past_unknown ? kPastUnknownBit : 0)));
  return event;
}

std::string_view WordsFor(ListKeeper::Holding holding) {
  switch (holding) {
    case ListKeeper::Holding::kAll:
      return "lists that are never evicted";
    case ListKeeper::Holding::kAllButEvicted:
      return "lists that may be evicted";
    case ListKeeper::Holding::kCopies:
      break;
  }
  return "copies of lists that live elsewhere";
}

absl::Status NotKept(const absl::Status& status) {
  if (status.ok()) return status;
  return absl::UnknownError(
      absl::StrCat("it is done, and not kept so far: ", status.message(),
                   ", and this is kept then, unless the process ends before"));
}

}  // namespace

// The tables are there already; nothing else may be.
class ListKeeper::Sink final : public durable::RecoverySink {
 public:
  Sink(const std::string& directory, const std::string& keyspace, shard::Engine& engine,
       TableId items, Found& found)
      : directory_(directory),
        keyspace_(keyspace),
        known_(StatementsOf(keyspace)),
        engine_(engine),
        items_(items),
        found_(found) {}

  absl::Status OnChange(const SchemaChangeRecord& change) override {
    // Without a statement, a table has got another number.
    const bool is_known =
        change.statement.empty() || std::ranges::any_of(known_, [&](const Statement& known) {
          return known.text == change.statement;
        });
    const bool is_scylla = change.dialect.empty() || change.dialect == kScyllaDialectName;
    if (is_known && is_scylla) return absl::OkStatus();
    if (is_known) {
      return absl::FailedPreconditionError(absl::StrCat("the data directory ", directory_,
                                                        " has the ", NameOf(change), ", made like ",
                                                        change.dialect,
                                                        ", and list stores have ScyllaDB's; "
                                                        "liststore serve --data-dir opens it"));
    }
    return absl::FailedPreconditionError(
        absl::StrCat("the data directory ", directory_, " has the ", NameOf(change),
                     ", as no list store of the keyspace ", keyspace_, " makes it (",
                     change.statement, "); liststore serve --data-dir opens it"));
  }

  absl::Status OnEvent(std::string_view event) override {
    if (durable::IsEvent(event, durable::kHoldingEvent)) {
      const auto byte = event.size() == 2 ? static_cast<uint8_t>(event[1]) : UINT8_MAX;
      const auto holding = static_cast<uint8_t>(byte & ~kPastUnknownBit);
      if (holding > static_cast<uint8_t>(Holding::kCopies)) {
        return absl::DataLossError("the commit log says of its lists what nobody wrote");
      }
      found_.holding = static_cast<Holding>(holding);
      if ((byte & kPastUnknownBit) != 0 && !found_.past_unknown) {
        found_.past_unknown = true;
        engine_.NotePastUnknown(items_);  // of lists that the log begins behind it too
      }
      return absl::OkStatus();
    }
    if (!durable::IsClockEvent(event)) {
      found_.other_events.emplace_back(event);
      return absl::OkStatus();
    }
    found_.clock = durable::ClockIn(event);
    if (found_.clock) return absl::OkStatus();
    return absl::DataLossError("the commit log has a move of the clock that nobody wrote");
  }

  // A server's, between whose mark and return nothing is left that the lists do not have.
  absl::Status OnReturn(bool to_nothing) override {
    found_.clock.reset();
    found_.other_events.clear();
    if (!to_nothing) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("the data directory ", directory_,
                     " was emptied by a reset of a server, and has no tables of a list store any "
                     "more; liststore serve --data-dir opens it"));
  }

 private:
  const std::string& directory_;
  const std::string& keyspace_;
  const std::array<Statement, 4> known_;
  shard::Engine& engine_;
  const TableId items_;
  Found& found_;
};

absl::StatusOr<std::unique_ptr<ListKeeper>> ListKeeper::Open(disk::FileCalls& calls,
                                                             const Clock& log_clock,
                                                             const Options& options,
                                                             shard::Engine& engine,
                                                             const Tables& tables) {
  LS_ASSIGN_OR_RETURN(durable::DataDirectory directory,
                      durable::DataDirectory::Open(options.data_dir, calls));
  // Whether what is begun again was evicted before is not in the log.
  if (HoldingOf(options) == Holding::kAllButEvicted) {
    LS_ASSIGN_OR_RETURN(const bool is_empty, directory.IsEmpty());
    if (!is_empty) engine.NotePastUnknown(tables[0].id);
  }
  Found found;
  Sink sink(options.data_dir, options.keyspace, engine, tables[0].id, found);
  durable::RecoveryOptions recovery;
  recovery.threads = options.shards;
  recovery.say = options.on_keeping;
  absl::StatusOr<durable::Recovered> recovered =
      durable::Recover(directory, engine, sink, recovery);
  if (!recovered.ok()) return durable::WithAdvice(recovered.status(), options.data_dir);
  found.directory = *std::move(recovered);
  const Holding holding = HoldingOf(options);
  // What begins to be evicted from was all there is.
  const bool goes_together = found.holding == holding ||
                             engine.StatsOf(tables[0].id).partitions == 0 ||
                             (found.holding == Holding::kAll && holding != Holding::kCopies);
  if (!goes_together) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the data directory ", options.data_dir, " has ", ToAbsl(WordsFor(found.holding)),
        ", and the store is to hold ", ToAbsl(WordsFor(holding)),
        ": memory_policy and lists_live_elsewhere are others than they were"));
  }
  return std::unique_ptr<ListKeeper>(
      new ListKeeper(std::move(directory), std::move(found), log_clock, options, engine, tables));
}

ListKeeper::ListKeeper(durable::DataDirectory directory, Found found, const Clock& log_clock,
                       const Options& options, shard::Engine& engine, const Tables& tables)
    : manual_clock_(options.manual_clock),
      clock_(*options.clock),
      keyspace_(options.keyspace),
      engine_(engine),
      tables_(tables),
      was_empty_(found.directory.is_empty()),
      found_holding_(found.holding),
      found_past_unknown_(found.past_unknown),
      holding_(HoldingOf(options)),
      found_clock_(found.clock),
      other_events_(std::move(found.other_events)),
      history_(found.directory.history),
      run_(std::move(directory), found.directory, ToRunOptions(options, log_clock)) {
  past_unknown_ = found_past_unknown_;
  if (!was_empty_) {
    // What was evicted before is known to nobody, also where nothing is evicted from now on.
    past_unknown_ |= holding_ == Holding::kAllButEvicted ||
                     (holding_ == Holding::kAll && found_holding_ == Holding::kAllButEvicted);
  }
  if (past_unknown_) engine_.NotePastUnknown(tables_[0].id);
  if (manual_clock_ != nullptr && found_clock_ &&
      found_clock_->setting.mode != ServerClock::Mode::kReal) {
    manual_clock_->SetNanos(found_clock_->now_nanos);
  }
}

ListKeeper::~ListKeeper() { run_.Close().IgnoreError(); }

ListKeeper::Holding ListKeeper::HoldingOf(const Options& options) {
  if (options.memory_policy != MemoryPolicy::kEvict) return Holding::kAll;
  return options.lists_live_elsewhere ? Holding::kCopies : Holding::kAllButEvicted;
}

durable::ClockState ListKeeper::ClockNow() const {
  durable::ClockState state;
  if (manual_clock_ != nullptr) state.setting.mode = ServerClock::Mode::kManual;
  state.now_nanos = clock_.NowNanos();
  return state;
}

// Of a directory that is new, or whose first run ended among them.
absl::Status ListKeeper::WriteMissingChanges() {
  for (const Statement& statement : StatementsOf(keyspace_)) {
    const auto& known = history_.changes();
    if (std::ranges::any_of(known, [&](const SchemaChangeRecord& change) {
          return change.statement == statement.text;
        })) {
      continue;
    }
    SchemaChangeRecord change;
    change.statement = statement.text;
    change.dialect = kScyllaDialectName;
    change.now_nanos = clock_.NowNanos();
    change.now_micros = static_cast<int64_t>(change.now_nanos / 1000);
    change.keyspace = keyspace_;
    change.table = statement.table;
    for (size_t i = 0; i < statement.uuids; ++i) {
      change.uuids.push_back(engine_.catalog().NewUuid());
    }
    for (const NumberedTable& table : tables_) {
      if (statement.numbers && table.table == statement.table) change.numbered.push_back(table);
    }
    history_.Add(change);
    if (!has_log()) continue;
    std::string payload;
    durable::AppendChangeBarrier(change, payload);
    if (!engine_.ReserveBarrier(payload.size())) return engine_.log_refusal();
    engine_.AppendBarrier(payload, payload.size());
  }
  return absl::OkStatus();
}

absl::Status ListKeeper::Begin() {
  LS_RETURN_IF_ERROR(run_.Begin(engine_));
  LS_RETURN_IF_ERROR(WriteMissingChanges());
  const bool has_evicted = engine_.evictions() != 0 && !has_snapshot_;
  if (has_log()) {
    LS_RETURN_IF_ERROR(run_.WriteStart(engine_, tables_));
    if ((holding_ != found_holding_ || past_unknown_ != found_past_unknown_) &&
        !engine_.AppendEvent(EventOf(holding_, past_unknown_))) {
      return engine_.log_refusal();
    }
    if (holding_ != Holding::kAll) engine_.WriteDownEvictions(tables_[0].id);
  }
  // What did not fit any more went while it was read, and is still in the log. And an event stands in no order
  // with lists that other logs begin: a snapshot has it before all of them.
  const bool begins_unknown =
      holding_ == Holding::kAll && past_unknown_ && !found_past_unknown_ && !has_snapshot_;
  if (has_evicted || begins_unknown) LS_RETURN_IF_ERROR(TakeSnapshotNow().status());
  if (!has_log()) return absl::OkStatus();
  const bool was_moved = found_clock_ && found_clock_->setting.mode != ServerClock::Mode::kReal;
  if (manual_clock_ != nullptr) {
    if (!NoteClock()) return engine_.log_refusal();
  } else if (was_moved) {
    std::string event;
    durable::AppendClockEvent(ClockNow(), event);
    if (!engine_.AppendEvent(event)) return engine_.log_refusal();
  }
  return run_.logs()->Keep();
}

absl::Status ListKeeper::BeginWithContent(bool past_unknown) {
  LS_CHECK(was_empty_, "what was there is not covered up");
  past_unknown_ = past_unknown;
  LS_RETURN_IF_ERROR(WriteMissingChanges());
  absl::Status begun = TakeSnapshotNow().status();
  has_snapshot_ = begun.ok();
  if (begun.ok()) begun = Begin();
  if (!begun.ok()) run_.Undo();
  return begun;
}

absl::Status ListKeeper::Keep(std::string_view partition_key) {
  durable::LogSet* const logs = run_.logs();
  if (logs == nullptr) return absl::OkStatus();
  if (manual_clock_ != nullptr) return KeepAll();
  return NotKept(logs->Keep(engine_.router().ShardOf(TokenOf(partition_key)).value));
}

absl::Status ListKeeper::KeepAll() {
  durable::LogSet* const logs = run_.logs();
  if (logs == nullptr) return absl::OkStatus();
  NoteClock();  // where it is refused, the next one does it
  return NotKept(logs->Keep());
}

absl::Status ListKeeper::Sync() {
  durable::LogSet* const logs = run_.logs();
  if (logs == nullptr) return absl::OkStatus();
  if (!engine_.log_refusal().ok()) MendLogs();
  for (uint32_t shard = 0; shard < logs->shards(); ++shard) {
    LS_RETURN_IF_ERROR(NotKept(logs->log(shard).Sync()));
  }
  return absl::OkStatus();
}

bool ListKeeper::MendLogs() {
  durable::LogSet* const logs = run_.logs();
  if (logs == nullptr) return false;
  logs->Tick();
  if (!engine_.log_refusal().ok()) return false;
  if (holding_ != Holding::kAll) engine_.WriteDownGone(clock_.NowNanos());
  return true;
}

void ListKeeper::Tick() {
  durable::LogSet* const logs = run_.logs();
  if (logs == nullptr) return;
  logs->Tick();
  if (holding_ != Holding::kAll) engine_.WriteDownGone(clock_.NowNanos());
}

bool ListKeeper::NoteClock() {
  if (manual_clock_ == nullptr || !has_log()) return true;
  const MutexLock lock(clock_mutex_);
  const durable::ClockState state = ClockNow();
  if (noted_nanos_ == state.now_nanos) return true;
  std::string event;
  durable::AppendClockEvent(state, event);
  if (!engine_.AppendEvent(event)) return false;
  noted_nanos_ = state.now_nanos;
  return true;
}

absl::Status ListKeeper::MoveClock(uint64_t now_nanos) {
  {
    const MutexLock lock(clock_mutex_);
    if (has_log() && noted_nanos_ != now_nanos) {
      std::string event;
      durable::AppendClockEvent({{ServerClock::Mode::kManual, ServerClock::kFactorOne}, now_nanos},
                                event);
      if (!engine_.AppendEvent(event)) {
        const absl::Status refusal = engine_.log_refusal();
        return absl::UnavailableError(
            absl::StrCat("the clock was not moved: ",
                         refusal.ok() ? "the commit log has no room" : refusal.message()));
      }
      noted_nanos_ = now_nanos;
    }
    manual_clock_->SetNanos(now_nanos);
  }
  return KeepAll();
}

durable::SnapshotContent ListKeeper::Content() {
  durable::Definitions definitions = run_.NewDefinitions();
  definitions.changes = history_.changes();
  definitions.numbers.assign(tables_.begin(), tables_.end());
  definitions.events = other_events_;
  if (holding_ != Holding::kAll || past_unknown_) {
    definitions.events.push_back(EventOf(holding_, past_unknown_));
  }
  durable::AppendClockEvent(ClockNow(), definitions.events.emplace_back());
  durable::SnapshotContent content;
  content.definitions = BytesOf(definitions);
  for (const NumberedTable& table : tables_) {
    content.tables.push_back({table.id, table.keyspace, table.table});
  }
  return content;
}

absl::StatusOr<durable::SnapshotResult> ListKeeper::TakeSnapshotNow() {
  const std::vector<uint64_t> lost = engine_.LostEvictions();
  LS_ASSIGN_OR_RETURN(const durable::SnapshotResult taken,
                      run_.TakeSnapshot(engine_, clock_.NowNanos(), [this] { return Content(); }));
  engine_.ForgiveLostEvictions(lost);
  return taken;
}

absl::StatusOr<durable::SnapshotResult> ListKeeper::TakeSnapshot() {
  if (has_log()) return TakeSnapshotNow();
  const MutexLock lock(snapshot_mutex_);
  return TakeSnapshotNow();
}

}  // namespace liststore
