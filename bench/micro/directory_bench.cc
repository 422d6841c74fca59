// PartitionDirectory: look-ups alone and in prefetched groups, inserts with their slowest, scans,
// and bytes an entry. Keys are not read: a look-up that hits pays for its partition besides.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "benchmark/benchmark.h"

#include "engine/base/random.h"
#include "engine/memory/arena.h"
#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/storage/partition_directory.h"

namespace liststore {
namespace {

struct NoKey {
  std::string_view operator()(uint64_t) const { return {}; }
};
using Directory = storage::PartitionDirectory<NoKey>;

// A directory with addresses known to be in it, in an order unlike theirs.
class Filled {
 public:
  explicit Filled(size_t entries) {
    Random rng(1712);
    addresses_.reserve(entries);
    for (size_t i = 0; i < entries; ++i) Insert(rng.Next());
  }
  void Insert(uint64_t address) {
    const bool reserved = arena_.Reserve(directory_.ReserveBytesForInsert());
    if (!reserved) return;
    directory_.Insert(address, {}, 1);
    addresses_.push_back(address);
  }
  Directory& directory() { return directory_; }
  const std::vector<uint64_t>& addresses() const { return addresses_; }

 private:
  memory::MemoryBudget budget_{memory::MemoryBudget::kUnlimited};
  memory::PagePool pool_{budget_};
  memory::Arena arena_{pool_, budget_};
  Directory directory_{arena_};
  std::vector<uint64_t> addresses_;
};

// Each look-up waits for the one before.
void BM_DirectoryFind(benchmark::State& state) {
  Filled filled(static_cast<size_t>(state.range(0)));
  const std::vector<uint64_t>& addresses = filled.addresses();
  size_t next = 0;
  for (auto _ : state) {
    const storage::DirectorySlot* slot = filled.directory().Find(addresses[next], {});
    next += slot->reference;  // always 1
    if (next == addresses.size()) next = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_DirectoryFind)->ArgName("entries")->Arg(10'000)->Arg(1'000'000);

void BM_DirectoryFindGroup(benchmark::State& state) {
  constexpr size_t kGroup = 16;
  Filled filled(static_cast<size_t>(state.range(0)));
  const std::vector<uint64_t>& addresses = filled.addresses();
  size_t next = 0;
  for (auto _ : state) {
    if (next + kGroup > addresses.size()) next = 0;
    for (size_t i = 0; i < kGroup; ++i) filled.directory().PrefetchSlot(addresses[next + i]);
    uint64_t sum = 0;
    for (size_t i = 0; i < kGroup; ++i) {
      sum += filled.directory().Find(addresses[next + i], {})->reference;
    }
    next += sum;  // always kGroup
  }
  state.SetItemsProcessed(state.iterations() * kGroup);
}
BENCHMARK(BM_DirectoryFindGroup)->ArgName("entries")->Arg(10'000)->Arg(1'000'000);

// From nothing to `entries`, all doublings included.
void BM_DirectoryInsert(benchmark::State& state) {
  const auto entries = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    Filled filled(entries);
    state.counters["bytes_per_entry"] =
        static_cast<double>(filled.directory().bytes()) / static_cast<double>(entries);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(entries));
}
BENCHMARK(BM_DirectoryInsert)->ArgName("entries")->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// The slowest inserts. Each one's least time over the repetitions, so that what remains is the
// structure's and not the machine's; the clock's 25 ns are in it.
void BM_DirectoryInsertTail(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  const auto entries = static_cast<size_t>(state.range(0));
  std::vector<double> least(entries, 1e18);
  for (auto _ : state) {
    Filled filled(0);
    Random rng(1);
    auto before = Clock::now();
    for (double& ns : least) {
      filled.Insert(rng.Next());
      const auto after = Clock::now();
      ns = std::min(ns, std::chrono::duration<double, std::nano>(after - before).count());
      before = after;
    }
  }
  std::sort(least.begin(), least.end());
  state.counters["p99_ns"] = least[entries - entries / 100];
  state.counters["p999_ns"] = least[entries - entries / 1000];
  state.counters["max_ns"] = least.back();
}
BENCHMARK(BM_DirectoryInsertTail)
    ->ArgName("entries")
    ->Arg(500'000)
    ->Iterations(12)
    ->Unit(benchmark::kMillisecond);

// Steady state: one in, one out.
void BM_DirectoryInsertErase(benchmark::State& state) {
  Filled filled(static_cast<size_t>(state.range(0)));
  Random rng(2);
  size_t oldest = 0;
  std::vector<uint64_t> live = filled.addresses();
  for (auto _ : state) {
    filled.directory().Erase(live[oldest], {});
    live[oldest] = rng.Next();
    filled.Insert(live[oldest]);
    if (++oldest == live.size()) oldest = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_DirectoryInsertErase)->ArgName("entries")->Arg(1'000'000);

void BM_DirectoryScan(benchmark::State& state) {
  Filled filled(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    uint64_t sum = 0;
    filled.directory().ScanFrom(0, [&sum](const storage::DirectorySlot& slot) {
      sum += slot.reference;
      return true;
    });
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_DirectoryScan)->ArgName("entries")->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace liststore
