#include "bench/scale/machine_costs.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "bench/load/server_process.h"
#include "engine/base/cacheline.h"
#include "engine/base/check.h"
#include "engine/base/random.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kRepetitions = 101;

double NanosSince(Steady::time_point begin) {
  return std::chrono::duration<double, std::nano>(Steady::now() - begin).count();
}

double LowerQuartile(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 4];
}

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

std::vector<int> Cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

// Nanoseconds of one of `number` calls.
double TimeOf(size_t number, const std::function<void()>& call) {
  std::vector<double> times;
  for (size_t i = 0; i < kRepetitions; ++i) {
    const auto begin = Steady::now();
    for (size_t j = 0; j < number; ++j) call();
    times.push_back(NanosSince(begin) / static_cast<double>(number));
  }
  return LowerQuartile(times);
}

// Two threads that hand a number to each other. `wait` is called while it has not come.
class HandOver {
 public:
  // Nanoseconds of one way, the threads on these cores.
  static double Measure(int core, int other_core, const std::function<void()>& wait) {
    constexpr uint64_t kWays = 2'000;
    HandOver shared;
    std::thread other([&] {
      PinToCore(other_core);
      for (uint64_t i = 1;; i += 2) {
        if (!shared.Await(i, wait)) return;
        shared.number_.store(i + 1, std::memory_order_release);
      }
    });
    double nanos = 0;
    std::thread one([&] {
      PinToCore(core);
      std::vector<double> times;
      uint64_t number = 0;
      for (size_t i = 0; i < kRepetitions; ++i) {
        const auto begin = Steady::now();
        for (uint64_t way = 0; way < kWays; way += 2, number += 2) {
          shared.number_.store(number + 1, std::memory_order_release);
          shared.Await(number + 2, wait);
        }
        times.push_back(NanosSince(begin) / kWays);
      }
      shared.number_.store(kEnd, std::memory_order_release);
      nanos = LowerQuartile(times);
    });
    one.join();
    other.join();
    return nanos;
  }

 private:
  static constexpr uint64_t kEnd = UINT64_MAX;

  bool Await(uint64_t wanted, const std::function<void()>& wait) {
    for (;;) {
      const uint64_t number = number_.load(std::memory_order_acquire);
      if (number == wanted) return true;
      if (number == kEnd) return false;
      wait();
    }
  }

  alignas(kCacheLineBytes) std::atomic<uint64_t> number_{0};
};

// Locked instructions on lines at random that other cores change too, with work between them, as lanes are
// taken; nanoseconds of one. 0: the cores were not to be had at once.
double LockedNanos(const std::vector<int>& cores) {
  constexpr size_t kLines = 256;  // as many lanes as 16 shards have
  constexpr size_t kCalls = 20'000;
  constexpr int kWork = 32;  // multiplications, each on the result of the one before
  struct alignas(kCacheLineBytes) LockedLine {
    std::atomic<uint64_t> number{0};
  };
  struct Turn {
    Steady::time_point begin, end;
    double nanos() const { return std::chrono::duration<double, std::nano>(end - begin).count(); }
  };
  std::vector<LockedLine> lines(kLines);
  std::vector<std::vector<Turn>> turns(cores.size(), std::vector<Turn>(kRepetitions));
  std::atomic<size_t> arrived{0};
  const auto work = [&](size_t i) {
    PinToCore(cores[i]);
    Random random(i);
    uint64_t x = 1;
    for (size_t repetition = 0; repetition < kRepetitions; ++repetition) {
      arrived.fetch_add(1);
      while (arrived.load() < (repetition + 1) * cores.size()) sched_yield();
      turns[i][repetition].begin = Steady::now();
      for (size_t call = 0; call < kCalls; ++call) {
        x += lines[random.Below(kLines)].number.fetch_add(x & 1, std::memory_order_acq_rel);
        for (int j = 0; j < kWork; ++j) {
          x = x * 3 + 1;
          asm volatile("" : "+r"(x));
        }
      }
      turns[i][repetition].end = Steady::now();
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < cores.size(); ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  // Those that all did side by side: who lost its core took longer than the others.
  std::vector<double> times;
  for (size_t repetition = 0; repetition < kRepetitions; ++repetition) {
    const Turn& one = turns.front()[repetition];
    const bool side_by_side = std::ranges::all_of(turns, [&](const std::vector<Turn>& of_thread) {
      const Turn& other = of_thread[repetition];
      const Turn apart[] = {{one.begin, other.begin}, {one.end, other.end}};
      return std::abs(apart[0].nanos()) + std::abs(apart[1].nanos()) < 0.1 * one.nanos();
    });
    if (side_by_side) times.push_back(one.nanos() / kCalls);
  }
  return times.empty() ? 0 : LowerQuartile(times);
}

// What rings for a thread that sleeps on another core, and how long it takes for both.
struct Wakes {
  double caller_ns = 0;
  double woken_ns = 0;
};
Wakes MeasureWakes(int core, int other_core) {
  constexpr auto kAsleep = std::chrono::milliseconds(2);
  std::atomic<uint32_t> bell{0};
  std::atomic<int64_t> awake_at{0};
  const auto nanos_now = [] {
    return Steady::now().time_since_epoch() / std::chrono::nanoseconds(1);
  };
  std::thread sleeper([&] {
    PinToCore(other_core);
    for (uint32_t i = 0; i < kRepetitions; ++i) {
      bell.wait(i, std::memory_order_acquire);
      awake_at.store(nanos_now(), std::memory_order_release);
    }
  });
  std::vector<double> caller, woken;
  std::thread ringer([&] {
    PinToCore(core);
    for (size_t i = 0; i < kRepetitions; ++i) {
      std::this_thread::sleep_for(kAsleep);
      awake_at.store(0, std::memory_order_relaxed);
      const int64_t begin = nanos_now();
      bell.fetch_add(1, std::memory_order_seq_cst);
      bell.notify_all();
      caller.push_back(static_cast<double>(nanos_now() - begin));
      while (awake_at.load(std::memory_order_acquire) == 0) Pause();
      woken.push_back(static_cast<double>(awake_at.load(std::memory_order_relaxed) - begin));
    }
  });
  ringer.join();
  sleeper.join();
  return {LowerQuartile(caller), LowerQuartile(woken)};
}

// Memory that no cache holds.
class LargeMemory {
 public:
  static constexpr size_t kBytes = size_t{512} << 20;
  static constexpr size_t kBlockWords = 128;  // 1 KiB, as a list of some ten items
  static constexpr size_t kBlocks = kBytes / sizeof(uint64_t) / kBlockWords;

  LargeMemory() {
    void* const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    LS_CHECK(memory != MAP_FAILED, "there is memory to measure");
    madvise(memory, kBytes, MADV_HUGEPAGE);
    words_ = static_cast<uint64_t*>(memory);
    for (size_t i = 0; i < kBytes / sizeof(uint64_t); ++i) words_[i] = i;
  }
  ~LargeMemory() { munmap(words_, kBytes); }
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;

  uint64_t SumOfBlock(size_t block) const {
    uint64_t sum = 0;
    const uint64_t* const words = words_ + block * kBlockWords;
    for (size_t i = 0; i < kBlockWords; ++i) sum += words[i];
    return sum;
  }

 private:
  uint64_t* words_;
};

// GB/s of so many cores that read blocks at random, each at its own.
double GigabytesPerSecond(const LargeMemory& memory, const std::vector<int>& cores) {
  constexpr size_t kBlocksAtOnce = 50'000;
  constexpr size_t kRounds = 9;
  std::vector<double> rates;
  for (size_t round = 0; round < kRounds; ++round) {
    std::atomic<size_t> ready{0};
    std::vector<double> of_threads(cores.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < cores.size(); ++i) {
      threads.emplace_back([&, i] {
        PinToCore(cores[i]);
        Random random(round * cores.size() + i);
        uint64_t sum = 0;
        ready.fetch_add(1);
        while (ready.load() < cores.size()) Pause();
        const auto begin = Steady::now();
        for (size_t block = 0; block < kBlocksAtOnce; ++block) {
          sum += memory.SumOfBlock(random.Below(LargeMemory::kBlocks));
        }
        const double nanos = NanosSince(begin);
        asm volatile("" : : "r"(sum));
        of_threads[i] = static_cast<double>(kBlocksAtOnce * LargeMemory::kBlockWords * 8) / nanos;
      });
    }
    double rate = 0;
    for (size_t i = 0; i < cores.size(); ++i) {
      threads[i].join();
      rate += of_threads[i];
    }
    rates.push_back(-rate);  // the best quarter is the lower one
  }
  return -LowerQuartile(rates);
}

}  // namespace

void PrintMachineCosts(std::FILE* out) {
  const std::vector<int> cores = Cores();
  const auto print = [out](const char* name, double value, const char* text) {
    absl::FPrintF(out, "%-17s %9.1f  %s\n", name, value, text);
  };
  print("pause", TimeOf(10'000, Pause), "ns of a pause");
  print("yield", TimeOf(1'000, [] { sched_yield(); }), "ns of a sched_yield");
  if (cores.empty()) return;
  print("switch", HandOver::Measure(cores[0], cores[0], [] { sched_yield(); }),
        "ns from one thread to another on the same core");
  const LargeMemory memory;
  print("memory_gb", GigabytesPerSecond(memory, {cores[0]}), "GB/s of one core, blocks of 1 KiB");
  if (cores.size() < 2) {
    absl::FPrintF(out, "one core: transfer, wake and memory of two cores were not measured\n");
    return;
  }
  print("memory_gb", GigabytesPerSecond(memory, {cores[0], cores[1]}), "GB/s of two together");
  if (const double beside = LockedNanos({cores[0], cores[1]}); beside > 0) {
    // Every other line was changed by the other core.
    print("transfer", 2 * (beside - LockedNanos({cores[0]})),
          "ns of a locked instruction on a line that the other core has changed");
  } else {
    absl::FPrintF(out, "transfer was not measured: others had one of the cores all the time\n");
  }
  print("hand over", HandOver::Measure(cores[0], cores[1], Pause),
        "ns of a message to a thread that waits for it, two lines or so");
  const Wakes wakes = MeasureWakes(cores[0], cores[1]);
  print("wake", wakes.caller_ns, "ns for whoever wakes a thread");
  print("wake", wakes.woken_ns, "ns until it runs");
}

}  // namespace liststore
