// Engine: images of tables, and the way back to them.
#include "engine/shard/engine_image.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/engine.h"

namespace liststore::shard {
namespace {

// One attempt, and one after everything that is due has been given back.
constexpr int kAttempts = 2;
// Where something may go for it, further ones, each with twice the room of the one before: from a
// sixteenth of what rows may take up to a half.
constexpr int kAttemptsWithEvictions = 6;
constexpr uint64_t kRoomPart = 16;

}  // namespace

// Tables that are made in every lane under one hold, and filled from others: all or none. Ids are
// chosen while no lane is held, the rest happens while all are.
class Engine::NewTables {
 public:
  explicit NewTables(Engine& engine) : engine_(engine) {}

  // False: no id is left. The caller holds tables_mutex_, here and for KeepShells.
  bool Choose(const TableSchema& schema, TableId& id) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!engine_.ChooseId(id)) return false;
    schemas_.push_back(schema);
    schemas_.back().id = id;
    return true;
  }

  // Under the hold. All that were chosen, in that order, in which new ids ascend.
  void CreateAll() {
    LS_DCHECK(!created_, "tables are made once");
    for (const auto& lane : engine_.lanes_) {
      for (const TableSchema& schema : schemas_) lane->CreateTable(schema);
    }
    created_ = true;
  }

  // Under the hold. kOutOfMemory: a part of it was copied.
  static OpStatus Fill(storage::Table& to, storage::Table& from, int64_t now_seconds) {
    return to.CopyFrom(from, now_seconds);
  }

  // Takes holds until `plan` says, under one, that all tables have been chosen; `work` is done
  // under the same hold. Between holds `choose` chooses those that are missing; false: no id is
  // left. When not kOk none of the tables is to be.
  template <typename Plan, typename ChooseIds, typename Work>
  OpStatus Make(Plan&& plan, ChooseIds&& choose, Work&& work) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    OpStatus status = OpStatus::kOk;
    bool again = true;
    while (again && status == OpStatus::kOk) {
      {
        const AllLanes hold(engine_);
        again = !plan();
        if (!again) status = work();
        if (status != OpStatus::kOk) DropAll();
      }
      if (again && !choose()) {
        status = OpStatus::kTooManyTables;
        const AllLanes hold(engine_);
        DropAll();
      }
    }
    if (status != OpStatus::kOk) KeepShells();
    return status;
  }

  // Under the hold: none of them is to be. Ids that are in no lane yet take their turn there, so
  // that those after them come in order.
  void DropAll() {
    if (!created_) CreateAll();
    for (const auto& lane : engine_.lanes_) {
      for (const TableSchema& schema : schemas_) lane->table(schema.id).Drop();
    }
  }

  // Behind the hold, after DropAll: the shells are used again.
  void KeepShells() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const TableSchema& schema : schemas_) engine_.KeepShell(schema.id);
  }

 private:
  Engine& engine_;
  std::vector<TableSchema> schemas_;
  bool created_ = false;
};

template <typename Predicate>
bool Engine::AnyPart(TableId table, Predicate&& is_so) {
  return std::ranges::any_of(
      lanes_, [&](const std::unique_ptr<Lane>& lane) { return is_so(lane->table(table)); });
}

// --- Taking an image -----------------------------------------------------------------------------

// One attempt, which may take several holds: which tables need a copy is known under a hold, and
// their ids are chosen without.
class Engine::ImageTaker {
 public:
  ImageTaker(Engine& engine, std::span<const TableId> tables, int64_t now_seconds,
             const EngineImage& before)
      : engine_(engine),
        tables_(tables),
        now_seconds_(now_seconds),
        before_(before),
        made_(engine),
        fresh_(tables.size()),
        schemas_(tables.size()) {}

  OpStatus Run(EngineImage& image) {
    return made_.Make([this] { return PlanAll(); }, [this] { return ChooseIds(); },
                      [&] {
                        const OpStatus status = Copy();
                        if (status == OpStatus::kOk) Finish(image);
                        return status;
                      });
  }

 private:
  enum class Way : uint8_t {
    kNothing,  // there is nothing in it
    kAsBefore,
    kCopy
  };

  // Decides about every table; false: some that need a copy have no id for it.
  bool PlanAll() {
    ways_.clear();
    bool complete = true;
    for (size_t i = 0; i < tables_.size(); ++i) {
      // What has an id once is copied, even if there is nothing in it any more.
      ways_.push_back(fresh_[i] ? Way::kCopy : WayOf(tables_[i]));
      schemas_[i] = engine_.lanes_[0]->table(tables_[i]).schema();
      complete &= ways_.back() != Way::kCopy || fresh_[i].has_value();
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

  bool ChooseIds() {
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (ways_[i] != Way::kCopy || fresh_[i].has_value()) continue;
      TableId id;
      if (!made_.Choose(schemas_[i], id)) return false;
      fresh_[i] = id;
    }
    return true;
  }

  OpStatus Copy() {
    made_.CreateAll();
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (!fresh_[i]) continue;
      for (const auto& lane : engine_.lanes_) {
        storage::Table& copy = lane->table(*fresh_[i]);
        copy.Freeze();
        const OpStatus status = NewTables::Fill(copy, lane->table(tables_[i]), now_seconds_);
        if (status != OpStatus::kOk) return status;
        copy.ReleaseCredit();  // nothing more is written to it
      }
    }
    return OpStatus::kOk;
  }

  void Finish(EngineImage& image) {
    for (size_t i = 0; i < tables_.size(); ++i) {
      TableImage& taken = image.tables.emplace_back(TableImage{tables_[i], std::nullopt});
      if (ways_[i] == Way::kCopy) taken.copy = fresh_[i];
      if (ways_[i] == Way::kAsBefore) taken.copy = BeforeOf(tables_[i])->copy;
      for (const auto& lane : engine_.lanes_) lane->table(tables_[i]).NoteUnchanged();
    }
    for (const auto& lane : engine_.lanes_) {
      image.last_timestamps.push_back(lane->last_timestamp());
    }
  }

  Engine& engine_;
  const std::span<const TableId> tables_;
  const int64_t now_seconds_;
  const EngineImage& before_;
  NewTables made_;
  std::vector<std::optional<TableId>> fresh_;
  std::vector<TableSchema> schemas_;
  std::vector<Way> ways_;
};

OpStatus Engine::TakeImage(std::span<const TableId> tables, uint64_t now_nanos,
                           EngineImage& image) {
  const MutexLock lock(tables_mutex_);
  const int64_t now_seconds = WholeSeconds(now_nanos);
  EngineImage taken;
  OpStatus status = OpStatus::kOutOfMemory;
  // What the attempt before has left, and then what is not read.
  const auto make_room = [&](int doublings) {
    constexpr size_t kUnits = 1'000;
    const CallAddresses nothing;
    const uint64_t room = (budget_.grow_limit_bytes() / kRoomPart) << doublings;
    while (Reclaim(now_nanos, kUnits) != 0) {
    }
    while (budget_.held_bytes() + room > budget_.grow_limit_bytes() &&
           EvictAfterRefusal(now_nanos, /*round=*/1, nothing, nullptr)) {
    }
  };
  const int attempts = evicts() ? kAttemptsWithEvictions : kAttempts;
  for (int i = 0; i < attempts && status == OpStatus::kOutOfMemory; ++i) {
    if (i > 0) MakeRoom(now_nanos, std::nullopt);
    if (i > 1) make_room(i - kAttempts);
    status = ImageTaker(*this, tables, now_seconds, image).Run(taken);
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

// One attempt; see ImageTaker.
class Engine::Returner {
 public:
  // `is_short`: memory is known to be.
  Returner(Engine& engine, ReturnRequest& request, bool is_short)
      : engine_(engine),
        request_(request),
        is_short_(is_short),
        made_(engine),
        fresh_(request.tables.size()) {}

  OpStatus Run() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const OpStatus made = made_.Make([this] { return PlanAll(); }, [this] { return ChooseIds(); },
                                     [this] {
                                       const OpStatus status = Fill();
                                       if (status == OpStatus::kOk) Commit();
                                       return status;
                                     });
    for (const TableId ended : ended_) engine_.KeepShell(ended);
    return made;
  }

 private:
  // Finds the tables that are to be made; false: some have no id yet.
  bool PlanAll() {
    needed_.clear();
    bool complete = true;
    for (size_t i = 0; i < request_.tables.size(); ++i) {
      const TableReturn& table = request_.tables[i];
      LS_DCHECK(table.stands || !table.stays, "what stays is there");
      const auto changed = [](const storage::Table& part) { return part.changed(); };
      const bool needed =
          fresh_[i].has_value() || !table.stays || engine_.AnyPart(table.schema.id, changed);
      needed_.push_back(needed);
      complete &= !needed || fresh_[i].has_value();
    }
    return complete;
  }

  bool ChooseIds() {
    for (size_t i = 0; i < fresh_.size(); ++i) {
      if (!needed_[i] || fresh_[i].has_value()) continue;
      TableId id;
      if (!made_.Choose(request_.tables[i].schema, id)) return false;
      fresh_[i] = id;
    }
    return true;
  }

  OpStatus Fill() {
    const int64_t now_seconds = WholeSeconds(request_.now_nanos);
    made_.CreateAll();
    for (size_t i = 0; i < fresh_.size(); ++i) {
      if (!fresh_[i]) continue;
      for (const auto& lane : engine_.lanes_) {
        if (StaysIn(*lane, request_.tables[i])) continue;
        storage::Table& part = lane->table(*fresh_[i]);
        if (engine_.evicts_tables_of_users_) {
          part.EnableEviction(kUsersEviction, lane->eviction(), /*takes_part=*/false);
        }
        if (!request_.tables[i].copy) continue;
        const OpStatus status =
            NewTables::Fill(part, lane->table(*request_.tables[i].copy), now_seconds);
        if (status != OpStatus::kOk) return status;
        // What is set aside for writes to come is wanted by the next part.
        if (is_short_) part.ReleaseCredit();
      }
    }
    return OpStatus::kOk;
  }

  // The lane's part of a table is as it was, and is not replaced.
  static bool StaysIn(Lane& lane, const TableReturn& table) {
    return table.stays && !lane.table(table.schema.id).changed();
  }

  // Nothing fails from here on.
  void Commit() {
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
  NewTables made_;
  std::vector<std::optional<TableId>> fresh_;  // of what is made, under what id
  std::vector<bool> needed_;
  std::vector<TableId> ended_;
};

OpStatus Engine::ReturnTo(ReturnRequest& request) {
  const MutexLock lock(tables_mutex_);
  LS_CHECK(!evicting_table_, "a list store that evicts does not go back");
  catalog_.NoteIdsAhead();
  LS_CHECK(request.last_timestamps.empty() || request.last_timestamps.size() == lanes_.size(),
           "an image goes back to where it was taken");
  OpStatus status = OpStatus::kOutOfMemory;
  // What the attempt before has left, and then what is not read.
  const auto make_room = [&](int doublings) {
    constexpr size_t kUnits = 1'000;
    const CallAddresses nothing;
    const uint64_t room = (budget_.grow_limit_bytes() / kRoomPart) << doublings;
    while (Reclaim(request.now_nanos, kUnits) != 0) {
    }
    while (budget_.held_bytes() + room > budget_.grow_limit_bytes() &&
           EvictAfterRefusal(request.now_nanos, /*round=*/1, nothing, nullptr)) {
    }
  };
  const int attempts = evicts() ? kAttemptsWithEvictions : kAttempts;
  for (int i = 0; i < attempts && status == OpStatus::kOutOfMemory; ++i) {
    if (i > 0) MakeRoom(request.now_nanos, std::nullopt);
    if (i > 1) make_room(i - kAttempts);
    status = Returner(*this, request, /*is_short=*/i > 0).Run();
  }
  return status;
}

}  // namespace liststore::shard
