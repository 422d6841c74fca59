// Views: reads whose rows stay where they are.
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/shard/engine.h"

namespace liststore::shard {

OpStatus Engine::View(TableId table, std::string_view partition_key, const ClusteringRange& range,
                      uint64_t limit, uint64_t now_nanos, ViewSink& sink, RowPin& pin) {
  const Router::Place place = router_.PlaceOf(TokenOf(partition_key));
  Lane& lane = *lanes_[place.lane];
  const int64_t now_seconds = WholeSeconds(now_nanos);
  OpStatus status = OpStatus::kOk;
  pin = {};
  lane.ownership.Run([&] {
    storage::Table* found = lane.FindTable(table);
    if (found == nullptr) {
      status = OpStatus::kTableGone;
      return;
    }
    ReadSpec spec;
    spec.range = range;
    spec.limit = limit;
    uint64_t rows = 0;
    pin.pin = found->View({partition_key, place.address}, spec, now_seconds, sink, rows);
  });
  pin.lane = &lane;
  return status;
}

void Engine::Unpin(const RowPin& pin) {
  if (pin.pin == nullptr) return;
  storage::PinTable& home = *pin.pin->home;
  Lane& lane = *pin.lane;
  home.Post(pin.pin);
  if (!lane.ownership.TryAcquire()) return;
  home.Drain();
  lane.ownership.Release();
}

}  // namespace liststore::shard
