// The next expiry of anything in an engine.
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/engine.h"
#include "engine/storage/partition/expiry_search.h"

namespace liststore::shard {
namespace {

// Partitions, leaves and rows looked at under one hold of a lane: some 20 us.
constexpr size_t kSearchUnitsPerHold = 2'048;

// How far a search in a lane has come.
struct LaneSearch {
  uint16_t table = 0;
  bool done = false;
  // Within the table: the last partition that was looked at, and where to go on in it.
  bool started = false;
  TableId id;
  uint64_t address = 0;
  std::string key;
  storage::ExpiryPlace place;

  void NextTable() {
    ++table;
    started = false;
    place.within = false;
  }
};

// Looks at what comes next of a table; true when it is through.
bool SearchTable(storage::Table& table, LaneSearch& at, storage::ExpirySearch& search) {
  // Another table has the place of one that was dropped: it starts over.
  if (at.started && !(table.schema().id == at.id)) at.started = at.place.within = false;
  at.id = table.schema().id;
  std::optional<std::string_view> after;
  if (at.started && !at.place.within) after = at.key;
  // Keys of the directory, which stay while the lane is held.
  std::string_view last;
  uint64_t last_address = 0;
  bool through = true;
  const uint64_t from = at.started ? at.address : 0;
  table.ScanPartitions(from, after, [&](uint64_t address, const storage::Partition& partition) {
    if (at.place.within && address == from && partition.key() < at.key) return true;
    // The one that it stood in may be gone.
    if (address != from || partition.key() != at.key) at.place.within = false;
    last = partition.key();
    last_address = address;
    through = partition.FindNextExpiry(search, at.place) && search.budget > 0;
    return through;
  });
  if (through) return true;
  at.started = true;
  at.address = last_address;
  at.key = last;
  return false;
}

void SearchLane(Lane& lane, LaneSearch& at, storage::ExpirySearch& search) {
  search.budget = kSearchUnitsPerHold;
  for (; at.table < lane.table_count(); at.NextTable()) {
    storage::Table& table = lane.table_at(at.table);
    search.Spend(1);
    // What was set aside for an image is of another time.
    const bool counts = !table.dropped() && !table.set_aside();
    if (counts && !SearchTable(table, at, search)) return;
    if (search.budget == 0) return at.NextTable();
  }
  at.done = true;
}

}  // namespace

std::optional<int64_t> Engine::NextExpiry(uint64_t now_nanos) {
  storage::ExpirySearch search{.now_seconds = WholeSeconds(now_nanos)};
  for (const auto& lane : lanes_) {
    LaneSearch at;
    while (!at.done) {
      lane->ownership.Run([&] { SearchLane(*lane, at, search); });
    }
  }
  if (search.earliest == storage::ExpirySearch::kNone) return std::nullopt;
  LS_DCHECK(search.earliest > search.now_seconds, "what has expired expires no more");
  return search.earliest;
}

}  // namespace liststore::shard
