// Additions of one item to a store without a data directory, and with one in each mode of its commit log: of one
// thread, and of several that share synchronisations. The directories are made below TMPDIR, or /tmp.
//
//   kept_lists_bench --benchmark_enable_random_interleaving --benchmark_repetitions=5
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"

#include "engine/base/check.h"
#include "engine/base/random.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

constexpr size_t kLists = 20'000;
constexpr int kPlain = -1;

std::string NewFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "liststore-XXXXXX").string();
  LS_CHECK(mkdtemp(name.data()) != nullptr, "a folder can be made");
  return name;
}

// A store of one mode, as long as somebody measures it.
struct Store {
  explicit Store(int mode) {
    Options options;
    options.memory_limit_bytes = uint64_t{1} << 30;
    options.shards = 2;
    if (mode != kPlain) {
      folder = NewFolder();
      options.data_dir = folder;
      options.commit_log = static_cast<CommitLog>(mode);
    }
    auto opened = ListStore::Open(options);
    LS_CHECK(opened.ok(), "a store can be opened");
    lists = *std::move(opened);
    LS_CHECK(lists->CreateListFeature("user", "history", 86'400).ok(), "it takes a feature");
    for (size_t i = 0; i < kLists; ++i) ids.push_back("entity-" + std::to_string(i));
  }
  ~Store() {
    lists.reset();
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }

  std::string folder;
  std::unique_ptr<ListStore> lists;
  std::vector<std::string> ids;
};

std::unique_ptr<Store> shared_store;

void BM_Add(benchmark::State& state) {
  if (state.thread_index() == 0)
    shared_store = std::make_unique<Store>(static_cast<int>(state.range(0)));
  Random random(static_cast<uint64_t>(state.thread_index()) + 1);
  const std::string value = "story-4711";
  uint64_t nanos = SystemClock::Instance().NowNanos() + static_cast<uint64_t>(state.thread_index());
  for (auto _ : state) {
    const NewItem item{nanos, value};
    nanos += 16;
    const ListId list{"user", "history", "", shared_store->ids[random.Below(kLists)]};
    LS_CHECK(shared_store->lists->AddListItems(list, {&item, 1}).ok(), "it is added");
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) shared_store.reset();
}
BENCHMARK(BM_Add)
    ->ArgName("mode")
    ->Arg(kPlain)
    ->DenseRange(static_cast<int>(CommitLog::kOff), static_cast<int>(CommitLog::kSync))
    ->Threads(1)
    ->Threads(8)
    ->UseRealTime();

}  // namespace
}  // namespace liststore
