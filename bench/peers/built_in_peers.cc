#include "bench/peers/built_in_peers.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/embedded/peer_client.h"
#include "bench/measure/workload.h"
#include "bench/peers/bare_store.h"
#include "bench/peers/plain_store.h"

namespace liststore {
namespace {

class PlainClient final : public PeerClient<PlainClient> {
 public:
  explicit PlainClient(PlainStore& store) : store_(store) {}

  void Housekeep() override {}  // it frees as it goes
  NewItem Newest() const override {
    if (items_.size == 0) return {};
    const PlainItem& newest = items_.items[0];
    return {std::stoull(newest.key.substr(0, 19)), newest.value};
  }

  std::string_view NewestValue() const {
    return items_.size == 0 ? std::string_view() : items_.items[0].value;
  }

  uint64_t Get(const BenchBatch& batch, size_t i) {
    store_.Get(batch.list_key(i), 0, ReadLimit(batch.kind()), &items_);
    return items_.size;
  }
  uint64_t Add(const BenchBatch& batch, size_t i) {
    return store_.Add(batch.list_key(i), {batch.items(i), batch.items_per_request()});
  }
  uint64_t Remove(const BenchBatch& batch, size_t i) {
    return store_.RemoveWithValue(batch.list_key(i), batch.items(i)->value);
  }

 private:
  PlainStore& store_;
  PlainItems items_;
};

class PlainTarget final : public BenchTarget {
 public:
  explicit PlainTarget(size_t lists_max)
      : store_(SystemClock::Instance(), kBenchTtlSeconds, lists_max) {}
  std::unique_ptr<BenchClient> NewClient() override {
    return std::make_unique<PlainClient>(store_);
  }

 private:
  PlainStore store_;
};

class BareClient final : public PeerClient<BareClient> {
 public:
  explicit BareClient(BareStore& store) : store_(store) {}

  void Housekeep() override {}  // blocks are used again, nothing is given back
  NewItem Newest() const override {
    const BareItems& items = last_was_group_ ? group_.back() : items_;
    if (items.size() == 0) return {};
    return {items.timestamp_nanos(0), items.value(0)};
  }

  std::string_view NewestValue() const {
    return items_.size() == 0 ? std::string_view() : items_.value(0);
  }

  uint64_t Get(const BenchBatch& batch, size_t i) {
    store_.Get(batch.list_key(i), ReadLimit(batch.kind()), &items_);
    last_was_group_ = false;
    return items_.size();
  }
  uint64_t MultiGet(const BenchBatch& batch, size_t i) {
    store_.MultiGet({batch.list_keys(i), kBenchGroup}, ReadLimit(batch.kind()), &group_);
    last_was_group_ = true;
    uint64_t items = 0;
    for (const BareItems& list : group_) items += list.size();
    return items;
  }
  uint64_t Add(const BenchBatch& batch, size_t i) {
    return store_.Add(batch.list_key(i), {batch.items(i), batch.items_per_request()});
  }
  uint64_t Remove(const BenchBatch& batch, size_t i) {
    return store_.RemoveWithValue(batch.list_key(i), batch.items(i)->value);
  }
  // By key: looking through lists of 100,000 rows after each addition would take a day.
  uint64_t TakeOut(const BenchBatch& batch) override {
    uint64_t items = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      items += store_.RemoveItem(batch.list_key(i), *batch.items(i));
    }
    return items;
  }

 private:
  BareStore& store_;
  BareItems items_;
  std::vector<BareItems> group_;
  bool last_was_group_ = false;
};

class BareTarget final : public BenchTarget {
 public:
  explicit BareTarget(const BenchEmbeddedOptions& options)
      : store_(options.lists, options.items_per_list, options.value_bytes) {}
  std::unique_ptr<BenchClient> NewClient() override { return std::make_unique<BareClient>(store_); }
  // Lists that ten items are added to outgrow their blocks: fresh pages would be what is measured.
  absl::Status PopulateAhead() override {
    store_.Populate(store_.populated_bytes() / 2);
    return absl::OkStatus();
  }

 private:
  BareStore store_;
};

constexpr BenchPeer kBuiltInPeers[] = {
    {"plain", "the plain structure", true,
     [](const BenchEmbeddedOptions&) -> absl::StatusOr<std::unique_ptr<BenchTarget>> {
       return NewPlainTarget(0);
     }},
    {"bare", "the bare reference", false,
     [](const BenchEmbeddedOptions& options) -> absl::StatusOr<std::unique_ptr<BenchTarget>> {
       return std::make_unique<BareTarget>(options);
     }},
};

}  // namespace

std::unique_ptr<BenchTarget> NewPlainTarget(size_t lists_max) {
  return std::make_unique<PlainTarget>(lists_max);
}

std::span<const BenchPeer> BuiltInPeers() { return kBuiltInPeers; }

}  // namespace liststore
