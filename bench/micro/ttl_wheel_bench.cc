// TtlWheel: scheduling, and a run of the clock over everything scheduled, moves to finer levels
// included.
#include <cstdint>

#include "benchmark/benchmark.h"

#include "engine/base/random.h"
#include "engine/memory/arena.h"
#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/storage/ttl_wheel.h"

namespace liststore {
namespace {

constexpr int64_t kNow = 1'724'949'845;

struct Wheel {
  memory::MemoryBudget budget{memory::MemoryBudget::kUnlimited};
  memory::PagePool pool{budget};
  memory::Arena arena{pool, budget};
  storage::TtlWheel wheel{arena};

  // Entries spread evenly over `span_seconds` from now on.
  void Fill(int64_t entries, int64_t span_seconds) {
    Random rng(1712);
    wheel.Advance(kNow, 1, [](const storage::TtlWheel::Entry&) {});
    for (int64_t i = 0; i < entries; ++i) {
      const auto when = static_cast<uint32_t>(kNow + rng.Between(1, span_seconds));
      wheel.Schedule({static_cast<uint64_t>(i), when, 0});
    }
  }
};

void BM_WheelSchedule(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    {
      Wheel w;
      state.ResumeTiming();
      w.Fill(state.range(0), state.range(1));
      state.PauseTiming();
      state.counters["bytes_per_entry"] =
          static_cast<double>(w.wheel.bytes()) / static_cast<double>(state.range(0));
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_WheelSchedule)
    ->ArgNames({"entries", "span_seconds"})
    ->Args({1'000'000, 30 * 86'400})
    ->Args({1'000'000, 1})
    ->Args({30'000, 30 * 86'400})
    ->Unit(benchmark::kMillisecond);

// The clock goes on by `step_seconds`, until all are handed out in slices of 64 units.
void BM_WheelAdvance(benchmark::State& state) {
  const int64_t step = state.range(2);
  int64_t units = 0;
  for (auto _ : state) {
    state.PauseTiming();
    {
      Wheel w;
      w.Fill(state.range(0), state.range(1));
      uint64_t sum = 0;
      state.ResumeTiming();
      for (int64_t now = kNow; !w.wheel.empty(); now += step) {
        while (w.wheel.HasDue(now)) {
          units += static_cast<int64_t>(w.wheel.Advance(
              now, 64, [&sum](const storage::TtlWheel::Entry& entry) { sum += entry.address; }));
        }
      }
      state.PauseTiming();
      benchmark::DoNotOptimize(sum);
    }
    state.ResumeTiming();
  }
  state.counters["units_per_entry"] =
      static_cast<double>(units) / static_cast<double>(state.iterations() * state.range(0));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_WheelAdvance)
    ->ArgNames({"entries", "span_seconds", "step_seconds"})
    ->Args({1'000'000, 30 * 86'400, 1})
    ->Args({1'000'000, 30 * 86'400, 60 * 86'400})
    ->Args({1'000'000, 1, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace liststore
