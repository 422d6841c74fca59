// What it costs to bring lists in: put whole, added, and restored from a saved store.
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "bench/measure/workload.h"
#include "bench/shapes/shapes.h"
#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/base/status_macros.h"
#include "liststore/list_store.h"
#include "liststore/saved_store.h"

namespace liststore {
namespace {

constexpr uint64_t kItemsAtOnce = 2'000;  // of one call, in as many lists as that makes
constexpr size_t kLoadedValueBytes = 24;
constexpr uint64_t kBytesPerItem = 160;  // made ready beforehand, for each

// Of this thread on a core: what others do on the machine meanwhile is not loading.
double CoreSeconds() {
  timespec time;
  LS_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "a thread has a clock");
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

uint64_t RowsOf(const ListStore& store) {
  uint64_t rows = 0;
  for (const TableStatsView& table : store.GetStats().tables) {
    if (table.table == "list_items") rows += table.rows;
  }
  return rows;
}

// How the items of a list come to a call.
enum class Order {
  kNewestFirst,
  kShuffled
};

// The content of some lists, as a caller has it in hand.
class Content {
 public:
  Content(uint64_t items_per_list, uint64_t lists_at_once, Order order)
      : items_per_list_(items_per_list),
        now_nanos_(SystemClock::Instance().NowNanos()),
        order_(order),
        ids_(lists_at_once),
        values_(lists_at_once * items_per_list * kLoadedValueBytes),
        items_(lists_at_once * items_per_list) {}

  // Makes those of `count` lists from `first` on; what was made before is lost.
  void Make(uint32_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const auto list = first + static_cast<uint32_t>(i);
      ids_[i] = EntityIdOfList(list);
      for (uint64_t k = 0; k < items_per_list_; ++k) {
        char* const value = &values_[(i * items_per_list_ + k) * kLoadedValueBytes];
        BenchItems::WriteValue(list, static_cast<uint32_t>(k), {value, kLoadedValueBytes});
        items_[i * items_per_list_ + k] = {now_nanos_ - (k + 1) * 1'000'000,
                                           {value, kLoadedValueBytes}};
      }
      if (order_ == Order::kShuffled) {
        for (uint64_t k = items_per_list_; k > 1; --k) {
          std::swap(items_[i * items_per_list_ + k - 1],
                    items_[i * items_per_list_ + random_.Below(k)]);
        }
      }
    }
  }
  const std::string& id(size_t i) const { return ids_[i]; }
  std::span<const NewItem> items(size_t i) const {
    return std::span(items_).subspan(i * items_per_list_, items_per_list_);
  }

 private:
  const uint64_t items_per_list_;
  const uint64_t now_nanos_;
  const Order order_;
  Random random_{1};
  std::vector<std::string> ids_;
  std::vector<char> values_;
  std::vector<NewItem> items_;
};

struct Loading {
  const char* key;
  const char* name;
  uint64_t items_per_list;
  Order order = Order::kNewestFirst;
  bool adds = false;
  bool restores = false;  // afterwards, from a file
};
constexpr Loading kLoadings[] = {
    {"put_20", "lists of 20 put", 20, Order::kNewestFirst, false, true},
    {"put_20_shuffled", "the same, items in no order", 20, Order::kShuffled},
    {"add_20", "lists of 20 added", 20, Order::kNewestFirst, true},
    {"put_150", "lists of 150 put", 150},
    {"put_2000", "lists of 2,000 put", 2'000, Order::kNewestFirst, false, true},
    {"put_2000_shuffled", "the same, items in no order", 2'000, Order::kShuffled},
    {"put_60000", "lists of 60,000 put", 60'000},
};

absl::StatusOr<std::unique_ptr<ListStore>> OpenReady(uint64_t items) {
  LS_ASSIGN_OR_RETURN(std::unique_ptr<ListStore> store, ListStore::Open(Options{}));
  LS_RETURN_IF_ERROR(store->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds));
  // First touch of a page takes longer than the items in it, and how long is the host's affair.
  LS_RETURN_IF_ERROR(store->Populate(items * kBytesPerItem));
  return store;
}

// Fills `store` with `items` and returns how many came in a second.
absl::StatusOr<double> Load(const Loading& loading, uint64_t items, ListStore& store) {
  LS_ASSIGN_OR_RETURN(const ListFeature feature,
                      store.FindListFeature(kBenchEntityType, kBenchFeature));
  const uint64_t lists = std::max<uint64_t>(items / loading.items_per_list, 1);
  const uint64_t at_once = std::max<uint64_t>(kItemsAtOnce / loading.items_per_list, 1);
  Content content(loading.items_per_list, at_once, loading.order);
  std::vector<ListPut> puts;
  double seconds = 0;
  for (uint64_t first = 0; first < lists; first += at_once) {
    const size_t count = std::min(at_once, lists - first);
    content.Make(static_cast<uint32_t>(first), count);
    puts.clear();
    for (size_t i = 0; i < count; ++i) {
      puts.push_back({{feature, content.id(i)}, content.items(i), {}});
    }
    const double begin = CoreSeconds();
    if (loading.adds) {
      for (const ListPut& put : puts) {
        LS_RETURN_IF_ERROR(store.AddListItems(put.list, put.items).status());
      }
    } else {
      for (const absl::StatusOr<bool>& kept : store.PutListsMulti(puts)) {
        LS_RETURN_IF_ERROR(kept.status());
      }
    }
    seconds += CoreSeconds() - begin;
  }
  const uint64_t stored = RowsOf(store);
  if (stored != lists * loading.items_per_list) {
    return absl::DataLossError(absl::StrCat(stored, " items are there"));
  }
  return static_cast<double>(stored) / seconds;
}

// Saves and restores; the file is in the system's cache.
absl::Status MeasureRestore(const Loading& loading, const ListStore& store, ShapeReport* report) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::string path = (folder / absl::StrCat("list_shapes_", EntityIdOfList(0))).string();
  const absl::Cleanup remove = [&] {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  };
  double begin = CoreSeconds();
  LS_ASSIGN_OR_RETURN(const SavedStoreInfo saved, SaveListStore(store, path, {.sync = false}));
  const double save_seconds = CoreSeconds() - begin;
  begin = CoreSeconds();
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<ListStore> loaded, LoadListStore(path, Options{}));
  const double load_seconds = CoreSeconds() - begin;
  if (RowsOf(*loaded) != saved.items) return absl::DataLossError("items are missing");
  const auto millions = [](uint64_t number) { return static_cast<double>(number) / 1e6; };
  const auto number = [&](const char* what, const char* name, double value, const char* unit) {
    report->Number(absl::StrCat(loading.key, "_", what), absl::StrCat("  ", name), value, unit);
  };
  number("save_mb_per_s", "saved", millions(saved.bytes) / save_seconds, "MB/s");
  number("restore_mb_per_s", "restored", millions(saved.bytes) / load_seconds, "MB/s");
  number("restore_per_s", "restored", millions(saved.items) / load_seconds, "M items/s");
  return absl::OkStatus();
}

}  // namespace

absl::Status MeasureLoading(const ShapeOptions& options, ShapeReport* report) {
  report->Begin(
      absl::StrCat(options.rows, " items of ", kLoadedValueBytes,
                   " bytes come in, in memory made ready; by the thread's time on a core"));
  for (const Loading& loading : kLoadings) {
    LS_ASSIGN_OR_RETURN(const std::unique_ptr<ListStore> store, OpenReady(options.rows));
    LS_ASSIGN_OR_RETURN(const double rate, Load(loading, options.rows, *store));
    report->Number(absl::StrCat(loading.key, "_per_s"), loading.name, rate / 1e6, "M items/s");
    if (loading.restores) LS_RETURN_IF_ERROR(MeasureRestore(loading, *store, report));
  }
  return absl::OkStatus();
}

}  // namespace liststore
