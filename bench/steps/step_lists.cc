#include "bench/steps/step_lists.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/measure/workload.h"
#include "engine/base/check.h"
#include "engine/lists/list_key.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/token.h"

namespace liststore {
namespace {

// As the store's list_items.
TableSchema StepSchema() {
  TableSchema schema;
  schema.keyspace = "feature_store";
  schema.name = "list_items";
  schema.partition_key = {{"feature_key", CqlType::kText}, {"entity_id", CqlType::kText}};
  schema.clustering = {{"item_key", CqlType::kText, /*descending=*/true}};
  schema.regular = {{"value", CqlType::kBlob}};
  schema.indexes = {{"list_items_by_value", 0}};
  return schema;
}

}  // namespace

std::string StepPartitionKey(uint32_t number) {
  ListKey key;
  const absl::Status made =
      key.Assign(ListId{kBenchEntityType, kBenchFeature, kBenchVersion, EntityIdOfList(number)});
  LS_CHECK(made.ok(), "the names of the benchmark are names");
  return std::string(key.partition_key());
}

StepLists::StepLists(uint32_t lists, int64_t now_seconds) : schema_(StepSchema()) {
  const storage::AddressOf& address_of = *this;
  for (uint32_t i = 0; i < router_.lanes(); ++i) {
    lanes_.push_back(std::make_unique<StepLane>(schema_, pool_, budget_, address_of));
  }
  references_.resize(lists);
  for (uint32_t number = 0; number < lists; ++number) Load(number, now_seconds);
  // Behind all of them: a block moves while its list grows.
  for (uint32_t number = 0; number < lists; ++number) {
    const std::string key = StepPartitionKey(number);
    const shard::Router::Place place = router_.PlaceOf(TokenOf(key));
    StepLane& lane = *lanes_[place.lane];
    references_[number] = lane.table.PrefetchHint(place.address);
    LS_CHECK(lane.arena.Reserve(lane.directory.ReserveBytesForInsert()), "there is no limit");
    lane.directory.Insert(place.address, key, references_[number]);
  }
}

uint64_t StepLists::operator()(std::string_view partition_key) const {
  return router_.PlaceOf(TokenOf(partition_key)).address;
}

void StepLists::Load(uint32_t number, int64_t now_seconds) {
  const BenchItems contents(static_cast<uint64_t>(now_seconds) * 1'000'000'000, kStepItems,
                            kStepValueBytes);
  std::array<std::array<char, kStepValueBytes>, kStepItems> values;
  std::array<PackedItemKey, kStepItems> keys;
  std::array<CellUpdate, kStepItems> cells;
  std::array<RowUpdate, kStepItems> rows;
  for (uint32_t i = 0; i < kStepItems; ++i) {
    contents.WriteValue(number, i, values[i].data());
    // Any sixteen bytes do for a digest.
    PackItemKeyFromDigest(contents.TimestampOf(number, i),
                          reinterpret_cast<const uint8_t*>(values[i].data()), keys[i].data());
    cells[i].value = {values[i].data(), values[i].size()};
    rows[i].key = {{keys[i].data(), keys[i].size()}, true};
    rows[i].ttl_seconds = kBenchTtlSeconds;
    rows[i].expiry_seconds = now_seconds + kBenchTtlSeconds;
    rows[i].cells = {&cells[i], 1};
  }
  const std::string key = StepPartitionKey(number);
  const shard::Router::Place place = router_.PlaceOf(TokenOf(key));
  const WriteContext write{{now_seconds * 1'000'000}, now_seconds};
  const OpStatus stored = lanes_[place.lane]->table.Upsert({key, place.address}, rows, write);
  LS_CHECK(stored == OpStatus::kOk, "there is no limit");
}

}  // namespace liststore
