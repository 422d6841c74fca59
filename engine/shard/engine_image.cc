// Engine: images of tables, and the way back to them. Both copy in slices what they need, while others
// read and write; what they decide by may have changed when that is done, and so they look again, under
// a hold of all lanes, copy what is missing, and so on, until one look finds nothing missing: under
// that hold the image is taken, or the tables are replaced. What was copied once is not copied again,
// so that there are no more rounds than tables, and of them rarely more than two.
#include "engine/shard/engine_image.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/engine.h"
#include "engine/shard/engine_copies.h"

namespace liststore::shard {
namespace {

// One attempt, and one after everything that is due has been given back.
constexpr int kAttempts = 2;
// Where something may go for it, further ones, each with twice the room of the one before: from a
// sixteenth of what rows may take up to a half.
constexpr int kAttemptsWithEvictions = 6;
constexpr uint64_t kRoomPart = 16;

}  // namespace

// Tables that are made to be filled, and that nobody else knows. The caller holds tables_mutex_.
class Engine::FrozenTables {
 public:
  explicit FrozenTables(Engine& engine) : engine_(engine) {}

  // kTooManyTables. Throws std::bad_alloc, and it is not there.
  OpStatus Make(TableSchema schema, TableId& id) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    made_.reserve(made_.size() + 1);
    engine_.ReserveShells(made_.size() + 1);
    if (!engine_.ChooseId(id)) return OpStatus::kTooManyTables;
    schema.id = id;
    try {
      const AllLanes hold(engine_);
      engine_.AddToAllLanes({&schema, 1});
      for (const auto& lane : engine_.lanes_) lane->table(id).Freeze();
    } catch (const std::bad_alloc&) {
      engine_.ReturnId(id);
      throw;
    }
    made_.push_back(id);
    return OpStatus::kOk;
  }

  // None of them is to be.
  void DropAll() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const TableId id : made_) {
      engine_.WithAllLanes([&](Lane& lane) { lane.table(id).Drop(); });
      engine_.KeepShell(id);
    }
    made_.clear();
  }

 private:
  Engine& engine_;
  std::vector<TableId> made_;
};

uint64_t Engine::RoomOfAttempt(int doublings) const {
  return (budget_.grow_limit_bytes() / kRoomPart) << doublings;
}

bool Engine::AnyPart(TableId table, absl::FunctionRef<bool(storage::Table&)> is_so) {
  return std::ranges::any_of(
      lanes_, [&](const std::unique_ptr<Lane>& lane) { return is_so(lane->table(table)); });
}

// What an attempt before has left, and then what is not read.
void Engine::MakeRoomForCopies(uint64_t now_nanos, uint64_t room_bytes) {
  constexpr size_t kUnits = 1'000;
  // Writes beside it make work for it as long as they come.
  constexpr int kReclaimsMax = 10'000;
  const CallAddresses nothing;
  for (int i = 0; i < kReclaimsMax && Reclaim(now_nanos, kUnits) != 0; ++i) {
  }
  while (budget_.held_bytes() + room_bytes > budget_.grow_limit_bytes() &&
         EvictAfterRefusal(now_nanos, /*round=*/1, nothing, nullptr, {})) {
  }
}

// --- Taking an image -----------------------------------------------------------------------------

// One attempt.
class Engine::ImageTaker {
 public:
  ImageTaker(Engine& engine, std::span<const TableId> tables, int64_t now_seconds,
             const EngineImage& before)
      : engine_(engine),
        tables_(tables),
        now_seconds_(now_seconds),
        before_(before),
        made_(engine),
        ways_(tables.size()),
        fresh_(tables.size()) {}

  // `image` is empty.
  OpStatus Run(absl::FunctionRef<uint64_t()> clock, absl::FunctionRef<void()> between_slices,
               EngineImage& image) {
    image.tables.reserve(tables_.size());
    image.last_timestamps.reserve(engine_.lanes_.size());
    OpStatus status = OpStatus::kOk;
    do {
      {
        const AllLanes hold(engine_);
        if (status == OpStatus::kOk) status = CopiesStatus();
        const bool complete = status == OpStatus::kOk && PlanAll();
        if (complete) Finish(clock, image);
        if (complete || status != OpStatus::kOk) EndCopies();
        if (complete) return status;
      }
      if (status == OpStatus::kOk) status = CopyMissing(between_slices);
    } while (status == OpStatus::kOk || !rounds_.empty());
    made_.DropAll();
    return status;
  }

 private:
  enum class Way : uint8_t {
    kNothing,  // there is nothing in it
    kAsBefore,
    kCopy
  };
  struct Round {
    std::vector<TableRebuild> rebuilds;
    std::unique_ptr<Copies> copies;
  };

  // Decides about every table; false: some that need a copy have none yet.
  bool PlanAll() {
    bool complete = true;
    for (size_t i = 0; i < tables_.size(); ++i) {
      // What was copied once has its copy, even if there is nothing in it any more.
      ways_[i] = fresh_[i] ? Way::kCopy : WayOf(tables_[i]);
      complete &= ways_[i] != Way::kCopy || fresh_[i].has_value();
    }
    return complete;
  }
  Way WayOf(TableId table) {
    const TableImage* before = BeforeOf(table);
    const auto changed = [](const storage::Table& part) { return part.changed(); };
    if (before != nullptr && !engine_.AnyPart(table, changed)) return Way::kAsBefore;
    const auto filled = [](storage::Table& part) { return !part.IsBlank(); };
    return engine_.AnyPart(table, filled) ? Way::kCopy : Way::kNothing;
  }
  const TableImage* BeforeOf(TableId table) const {
    const auto at = std::ranges::find(before_.tables, table, &TableImage::table);
    return at == before_.tables.end() ? nullptr : &*at;
  }

  // What is written to these tables from here on goes into their copies, too.
  OpStatus CopyMissing(absl::FunctionRef<void()> between_slices) try {
    Round& round = rounds_.emplace_back();
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (ways_[i] != Way::kCopy || fresh_[i].has_value()) continue;
      TableSchema schema;
      engine_.lanes_[0]->ownership.Run(
          [&] { schema = engine_.lanes_[0]->table(tables_[i]).schema(); });
      TableId id;
      const OpStatus status = made_.Make(schema, id);
      if (status != OpStatus::kOk) return status;
      schema.id = id;
      ColumnMap same = ColumnMap::Same(schema);
      round.rebuilds.push_back({tables_[i], std::move(schema), std::move(same)});
      fresh_[i] = id;
    }
    round.copies = std::make_unique<Copies>(engine_, round.rebuilds, now_seconds_);
    return round.copies->CopyAll(Copies::RoomBytes(engine_), between_slices);
  } catch (const std::bad_alloc&) {
    return OpStatus::kOutOfMemory;
  }

  // Under the hold, these three.
  OpStatus CopiesStatus() const {
    for (const Round& round : rounds_) {
      const OpStatus status = round.copies->status();
      if (status != OpStatus::kOk) return status;
    }
    return OpStatus::kOk;
  }
  void EndCopies() {
    for (Round& round : rounds_) {
      if (round.copies != nullptr) round.copies->End();
    }
    rounds_.clear();
  }
  void Finish(absl::FunctionRef<uint64_t()> clock, EngineImage& image) {
    image.taken_nanos = clock();
    for (size_t i = 0; i < tables_.size(); ++i) {
      TableImage& taken = image.tables.emplace_back(TableImage{tables_[i], std::nullopt});
      if (ways_[i] == Way::kCopy) taken.copy = fresh_[i];
      if (ways_[i] == Way::kAsBefore) taken.copy = BeforeOf(tables_[i])->copy;
      for (const auto& lane : engine_.lanes_) {
        lane->table(tables_[i]).NoteUnchanged();
        // Nothing more is written to it.
        if (fresh_[i]) lane->table(*fresh_[i]).ReleaseCredit();
      }
    }
    for (const auto& lane : engine_.lanes_) {
      image.last_timestamps.push_back(lane->last_timestamp());
    }
  }

  Engine& engine_;
  const std::span<const TableId> tables_;
  const int64_t now_seconds_;
  const EngineImage& before_;
  FrozenTables made_;
  std::vector<Way> ways_;
  std::vector<std::optional<TableId>> fresh_;  // the copies
  std::deque<Round> rounds_;                   // empty: ended
};

OpStatus Engine::TakeImage(std::span<const TableId> tables, absl::FunctionRef<uint64_t()> clock,
                           EngineImage& image, absl::FunctionRef<void()> between_slices) {
  const MutexLock lock(tables_mutex_);
  const uint64_t now_nanos = clock();
  EngineImage taken;
  OpStatus status = OpStatus::kOutOfMemory;
  const int attempts = evicts() ? kAttemptsWithEvictions : kAttempts;
  for (int i = 0; i < attempts && status == OpStatus::kOutOfMemory; ++i) {
    if (i > 0) MakeRoom(now_nanos, {});
    if (i > 1) MakeRoomForCopies(now_nanos, RoomOfAttempt(i - kAttempts));
    status =
        ImageTaker(*this, tables, WholeSeconds(now_nanos), image).Run(clock, between_slices, taken);
  }
  if (status != OpStatus::kOk) return status;
  std::erase_if(image.tables, [&](const TableImage& old) {
    return std::ranges::any_of(taken.tables,
                               [&](const TableImage& kept) { return kept.copy == old.copy; });
  });
  DropCopies(image);
  image = std::move(taken);
  return OpStatus::kOk;
}

void Engine::DropImage(EngineImage& image) {
  const MutexLock lock(tables_mutex_);
  DropCopies(image);
  image = {};
}

void Engine::DropCopies(const EngineImage& image) {
  for (const TableImage& table : image.tables) {
    if (!table.copy) continue;
    WithAllLanes([&](Lane& lane) { lane.table(*table.copy).Drop(); });
    KeepShell(*table.copy);
  }
}

// --- Going back ----------------------------------------------------------------------------------

// One attempt.
class Engine::Returner {
 public:
  // `is_short`: memory is known to be.
  Returner(Engine& engine, ReturnRequest& request, bool is_short)
      : engine_(engine),
        request_(request),
        is_short_(is_short),
        made_(engine),
        fresh_(request.tables.size()),
        filled_(request.tables.size(), std::vector<bool>(engine.lanes_.size())) {}

  OpStatus Run(absl::FunctionRef<void()> between_slices) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const size_t tables = request_.tables.size();
    ended_.reserve(tables + request_.ends.size());
    needed_.reserve(tables);
    missing_.reserve(tables * engine_.lanes_.size());
    OpStatus status = OpStatus::kOk;
    while (status == OpStatus::kOk) {
      {
        const AllLanes hold(engine_);
        if (PlanAll()) {
          Commit();
          break;
        }
      }
      status = FillMissing(between_slices);
    }
    if (status != OpStatus::kOk) made_.DropAll();
    for (const TableId ended : ended_) engine_.KeepShell(ended);
    return status;
  }

 private:
  struct Part {
    size_t table;
    size_t lane;
  };

  // Finds the tables that are to be made, and what is to be in them that is not there yet; false:
  // there is some.
  bool PlanAll() {
    needed_.clear();
    missing_.clear();
    bool complete = true;
    for (size_t i = 0; i < request_.tables.size(); ++i) {
      const TableReturn& table = request_.tables[i];
      LS_DCHECK(table.stands || !table.stays, "what stays is there");
      const auto changed = [](const storage::Table& part) { return part.changed(); };
      const bool needed =
          fresh_[i].has_value() || !table.stays || engine_.AnyPart(table.schema.id, changed);
      needed_.push_back(needed);
      complete &= !needed || fresh_[i].has_value();
      for (size_t lane = 0; needed && table.copy && lane < filled_[i].size(); ++lane) {
        if (filled_[i][lane] || StaysIn(*engine_.lanes_[lane], table)) continue;
        missing_.push_back({i, lane});
      }
    }
    return complete && missing_.empty();
  }

  OpStatus FillMissing(absl::FunctionRef<void()> between_slices) try {
    for (size_t i = 0; i < fresh_.size(); ++i) {
      if (!needed_[i] || fresh_[i].has_value()) continue;
      TableId id;
      // What is in it is of the time afterwards, which may be an earlier one.
      const OpStatus status = made_.Make(request_.tables[i].schema, id);
      if (status != OpStatus::kOk) return status;
      fresh_[i] = id;
      if (!engine_.evicts_tables_of_users_) continue;
      engine_.WithAllLanes(
          [id](Lane& lane) { lane.table(id).EnableEviction(kUsersEviction, lane.eviction()); });
    }
    CopyPause pause(engine_.copied_rows_per_hold_, between_slices);
    for (const Part& part : missing_) {
      const OpStatus status = Fill(part, pause);
      if (status != OpStatus::kOk) return status;
      filled_[part.table][part.lane] = true;
    }
    return OpStatus::kOk;
  } catch (const std::bad_alloc&) {
    return OpStatus::kOutOfMemory;
  }

  // Nobody writes to either.
  OpStatus Fill(const Part& part, CopyPause& pause) {
    const TableReturn& table = request_.tables[part.table];
    Lane& lane = *engine_.lanes_[part.lane];
    const ColumnMap same = ColumnMap::Same(table.schema);
    std::optional<storage::TableMirror> mirror;
    OpStatus status = OpStatus::kOk;
    for (bool done = false; !done;) {
      size_t spent = 0;
      lane.ownership.Acquire();
      {
        const runtime::LaneOwnership::Hold hold(lane.ownership);
        storage::Table& into = lane.table(*fresh_[part.table]);
        if (!mirror) mirror.emplace(lane.table(*table.copy), into, same);
        try {
          spent =
              mirror->CopySlice(WholeSeconds(request_.now_nanos), engine_.copied_rows_per_hold_);
        } catch (const std::bad_alloc&) {
          mirror->NoteRefused();
        }
        status = mirror->status();
        done = mirror->done() || status != OpStatus::kOk;
        if (done) mirror.reset();
        // What is set aside for writes to come is wanted by the next part.
        if (done && is_short_) into.ReleaseCredit();
      }
      pause.Spend(spent);
    }
    return status;
  }

  // The lane's part of a table is as it was, and is not replaced.
  static bool StaysIn(Lane& lane, const TableReturn& table) {
    return table.stays && !lane.table(table.schema.id).changed();
  }

  // Nothing fails from here on.
  void Commit() {
    engine_.catalog_.NoteIdsAhead();
    for (size_t i = 0; i < fresh_.size(); ++i) {
      if (fresh_[i]) Place(request_.tables[i], *fresh_[i]);
    }
    for (const TableId id : request_.ends) End(id);
    for (size_t i = 0; i < engine_.lanes_.size(); ++i) {
      engine_.lanes_[i]->ReturnToTimestamp(
          request_.last_timestamps.empty() ? WriteTimestamp{0} : request_.last_timestamps[i]);
    }
    if (!request_.set_clock()) return;
    // Whoever has read the clock before has also found the tables before: none of it is carried
    // out.
    engine_.era_.fetch_add(1, std::memory_order_release);
    for (TableReturn& table : request_.tables) {
      const TableId next{table.schema.id.value, table.schema.id.generation + 1};
      for (const auto& lane : engine_.lanes_) lane->table(table.schema.id).set_id(next);
      table.schema.id = next;
    }
  }

  void Place(TableReturn& table, TableId fresh) {
    for (const auto& lane : engine_.lanes_) {
      lane->table(fresh).Thaw();
      if (StaysIn(*lane, table)) continue;
      lane->table(fresh).NoteUnchanged();
      if (table.stands) lane->Swap(table.schema.id, fresh);
    }
    if (table.stands) {
      End(fresh);
    } else {
      table.schema.id = fresh;
    }
  }

  void End(TableId id) {
    for (const auto& lane : engine_.lanes_) lane->table(id).Drop();
    ended_.push_back(id);
  }

  Engine& engine_;
  ReturnRequest& request_;
  const bool is_short_;
  FrozenTables made_;
  std::vector<std::optional<TableId>> fresh_;  // of what is made, under what id
  std::vector<std::vector<bool>> filled_;      // of each table, in which lanes
  std::vector<bool> needed_;
  std::vector<Part> missing_;
  std::vector<TableId> ended_;
};

OpStatus Engine::ReturnTo(ReturnRequest& request, absl::FunctionRef<void()> between_slices) {
  const MutexLock lock(tables_mutex_);
  LS_CHECK(!evicting_table_, "a list store that evicts does not go back");
  LS_CHECK(request.last_timestamps.empty() || request.last_timestamps.size() == lanes_.size(),
           "an image goes back to where it was taken");
  OpStatus status = OpStatus::kOutOfMemory;
  const int attempts = evicts() ? kAttemptsWithEvictions : kAttempts;
  for (int i = 0; i < attempts && status == OpStatus::kOutOfMemory; ++i) {
    if (i > 0) MakeRoom(request.now_nanos, {});
    if (i > 1) MakeRoomForCopies(request.now_nanos, RoomOfAttempt(i - kAttempts));
    status = Returner(*this, request, /*is_short=*/i > 0).Run(between_slices);
  }
  return status;
}

}  // namespace liststore::shard
