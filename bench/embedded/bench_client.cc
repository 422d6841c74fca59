#include "bench/embedded/bench_client.h"

#include <span>
#include <utility>

#include "engine/base/check.h"

namespace liststore {
namespace {

constexpr size_t kReclaimUnits = 1000;

class StoreClient final : public BenchClient {
 public:
  StoreClient(ListStore& store, ListFeature feature) : store_(store), feature_(feature) {}

  uint64_t Run(const BenchBatch& batch, size_t begin, size_t end) override {
    uint64_t items = 0;
    switch (batch.kind()) {
      case BenchKind::kGet10:
      case BenchKind::kGet50:
        for (size_t i = begin; i < end; ++i) items += Get(batch, OnceAnswered(NewestValue(), i));
        break;
      case BenchKind::kMultiGet16:
        for (size_t i = begin; i < end; i += kBenchGroup) items += MultiGet(batch, i);
        break;
      case BenchKind::kAdd1:
      case BenchKind::kAdd10:
        for (size_t i = begin; i < end; ++i) items += Add(batch, i);
        break;
      case BenchKind::kMixed:
        for (size_t i = begin; i < end; ++i) {
          items += IsAddition(BenchKind::kMixed, i) ? Add(batch, i)
                                                    : Get(batch, OnceAnswered(NewestValue(), i));
        }
        break;
      case BenchKind::kRemove:
        for (size_t i = begin; i < end; ++i) items += Remove(batch, i);
        break;
    }
    return items;
  }

  // Between two batches, so that a store that is written to stays as compact as one that was
  // loaded.
  void Housekeep() override { store_.Reclaim(kReclaimUnits); }

  NewItem Newest() const override {
    const ListItems& items = last_was_group_ ? group_.back() : items_;
    if (items.empty()) return {};
    const ListItemView newest = items[0];
    return {newest.timestamp_nanos, newest.value};
  }

 private:
  // Of the last list that was read alone.
  std::string_view NewestValue() const {
    return items_.empty() ? std::string_view() : items_[0].value;
  }

  uint64_t Get(const BenchBatch& batch, size_t i) {
    Note(store_.GetListItems({feature_, batch.entity_id(i)}, {.limit = ReadLimit(batch.kind())},
                             &items_));
    last_was_group_ = false;
    return items_.size();
  }

  uint64_t MultiGet(const BenchBatch& batch, size_t i) {
    const std::span<const std::string_view> ids(batch.entity_ids(i), kBenchGroup);
    Note(store_.MultiGetListItems({feature_, ids}, {.limit = ReadLimit(batch.kind())}, &group_));
    last_was_group_ = true;
    uint64_t items = 0;
    for (const ListItems& list : group_) items += list.size();
    return items;
  }

  uint64_t Add(const BenchBatch& batch, size_t i) {
    const auto result = store_.AddListItems({feature_, batch.entity_id(i)},
                                            {batch.items(i), batch.items_per_request()});
    if (result.ok()) return result->stored;
    Note(result.status());
    return 0;
  }

  uint64_t Remove(const BenchBatch& batch, size_t i) {
    const auto removed =
        store_.RemoveListItemsWithValue({feature_, batch.entity_id(i)}, batch.items(i)->value);
    if (removed.ok()) return *removed;
    Note(removed.status());
    return 0;
  }

  ListStore& store_;
  const ListFeature feature_;
  ListItems items_;
  std::vector<ListItems> group_;
  bool last_was_group_ = false;
};

}  // namespace

std::unique_ptr<BenchClient> StoreTarget::NewClient() {
  const auto feature = store_.FindListFeature(kBenchEntityType, kBenchFeature, kBenchVersion);
  LS_CHECK(feature.ok(), "the benchmark's names are valid");
  return std::make_unique<StoreClient>(store_, *feature);
}

}  // namespace liststore
