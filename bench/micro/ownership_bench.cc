// What it costs to own a lane, beside the alternatives. Prints tables; the figures of
// docs/decisions/0003-lane-ownership.md come from here.
//
//   ownership_bench [cell milliseconds = 200] [repetitions = 3]
//
// One operation picks a lane and a random row of a 256 MiB table, follows it to another row, and
// sums 480 bytes there: two dependent misses, as a read of a small list. Schemes are interleaved
// within a repetition; the figures are medians over repetitions. Latency is what the caller sees:
// time from one completion to its next, so a stall is charged to the operation that suffered it.
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "engine/base/cacheline.h"
#include "engine/base/histogram.h"
#include "engine/base/random.h"
#include "engine/runtime/lane_ownership.h"

namespace liststore {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Callers and polling threads are spread over the cores by hand: left alone, the scheduler keeps
// two new threads on one core for longer than a cell lasts.
void PinToCore(size_t index) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(index % std::max(1u, std::thread::hardware_concurrency()), &cores);
  pthread_setaffinity_np(pthread_self(), sizeof(cores), &cores);
}

// How much of the machine other processes used since construction, in cores: the noise of a cell.
class OtherLoad {
 public:
  OtherLoad() : busy_(BusySeconds()), own_(OwnSeconds()), start_(SteadyClock::now()) {}
  double Cores() const {
    const std::chrono::duration<double> elapsed = SteadyClock::now() - start_;
    const double others = (BusySeconds() - busy_) - (OwnSeconds() - own_);
    return std::max(0.0, others / elapsed.count());
  }

 private:
  static double BusySeconds() {
    unsigned long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0,
                       steal = 0;
    if (std::FILE* const stat = std::fopen("/proc/stat", "r")) {
      if (std::fscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
                      &idle, &wait, &irq, &soft, &steal) != 8) {
        steal = 0;
      }
      std::fclose(stat);
    }
    const auto ticks = user + nice + system + irq + soft + steal;
    return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  static double OwnSeconds() {
    return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
  }
  const double busy_;
  const double own_;
  const SteadyClock::time_point start_;
};

// Rows of 512 bytes; the first word of each leads to another.
class Table {
 public:
  static constexpr size_t kRowBytes = 512;
  static constexpr size_t kBytes = size_t{256} << 20;
  static constexpr size_t kRows = kBytes / kRowBytes;

  Table() {
    void* const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    madvise(memory, kBytes, MADV_HUGEPAGE);
    rows_ = static_cast<uint64_t*>(memory);
    Random random(1712);
    for (size_t i = 0; i < kBytes / sizeof(uint64_t); ++i) rows_[i] = random.Next();
  }
  ~Table() { munmap(rows_, kBytes); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  uint64_t Read(uint64_t random) const {
    const uint64_t* const first = Row(random % kRows);
    const uint64_t* const second = Row((first[0] ^ random) % kRows);
    uint64_t sum = 0;
    for (size_t i = 1; i <= 60; ++i) sum += second[i];  // 480 bytes
    return sum;
  }

 private:
  const uint64_t* Row(size_t row) const { return rows_ + row * (kRowBytes / sizeof(uint64_t)); }
  uint64_t* rows_;
};

// What a lane holds beside its owner: plain memory that every operation writes.
struct alignas(kCacheLineBytes) LaneState {
  uint64_t operations = 0;
  uint64_t sum = 0;
};

struct NoProtection {
  static constexpr const char* kName = "no protection";
  explicit NoProtection(size_t) {}
  template <typename F>
  void Run(size_t, F&& work) {
    work();
  }
};

class LaneScheme {
 public:
  static constexpr const char* kName = "lane ownership";
  explicit LaneScheme(size_t lanes) : lanes_(lanes) {}
  template <typename F>
  void Run(size_t lane, F&& work) {
    lanes_[lane].Run(work);
  }

 private:
  std::vector<runtime::LaneOwnership> lanes_;
};

class MutexScheme {
 public:
  static constexpr const char* kName = "std::mutex";
  explicit MutexScheme(size_t lanes) : lanes_(lanes) {}
  template <typename F>
  void Run(size_t lane, F&& work) {
    std::lock_guard<std::mutex> lock(lanes_[lane].mutex);
    work();
  }

 private:
  struct alignas(kCacheLineBytes) Lane {
    std::mutex mutex;
  };
  std::vector<Lane> lanes_;
};

// Every operation goes to a thread that owns the lane forever: two threads, as two cores have,
// each polling the boxes of its lanes.
class MailboxScheme {
 public:
  static constexpr const char* kName = "mailbox only";
  explicit MailboxScheme(size_t lanes) : boxes_(lanes) {
    const size_t threads = std::min<size_t>(lanes, 2);
    for (size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i, threads] { Poll(i, threads); });
    }
  }
  ~MailboxScheme() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }
  template <typename F>
  void Run(size_t lane, F&& work) {
    struct Mail : Node {
      std::remove_reference_t<F>* work;
    };
    Mail mail;
    mail.work = &work;
    mail.run = [](Node* node) { (*static_cast<Mail*>(node)->work)(); };
    std::atomic<Node*>& box = boxes_[lane].newest;
    mail.next = box.load(std::memory_order_relaxed);
    while (!box.compare_exchange_weak(mail.next, &mail, std::memory_order_release,
                                      std::memory_order_relaxed)) {
    }
    for (int i = 0; !mail.done.load(std::memory_order_acquire); ++i) Wait(i);
  }

 private:
  struct Node {
    Node* next = nullptr;
    void (*run)(Node*) = nullptr;
    std::atomic<bool> done{false};
  };
  struct alignas(kCacheLineBytes) Box {
    std::atomic<Node*> newest{nullptr};
  };
  static void Wait(int looks) {
    if (looks < 200) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      sched_yield();
    }
  }
  void Poll(size_t first, size_t step) {
    PinToCore(first);
    for (int idle = 0; !stop_.load(std::memory_order_relaxed); ++idle) {
      for (size_t i = first; i < boxes_.size(); i += step) {
        if (boxes_[i].newest.load(std::memory_order_relaxed) == nullptr) continue;
        Node* node = boxes_[i].newest.exchange(nullptr, std::memory_order_acquire);
        while (node != nullptr) {
          Node* const next = node->next;
          node->run(node);
          node->done.store(true, std::memory_order_release);
          node = next;
        }
        idle = 0;
      }
      Wait(idle);
    }
  }
  std::vector<Box> boxes_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

struct Figures {
  double million_per_second;
  uint64_t p50, p99, p999, max;
};

struct Cell {
  const char* name;
  size_t callers;
  size_t lanes;
};

constexpr Cell kCells[] = {
    {"1 caller, 2 lanes", 1, 2},    {"1 caller, 32 lanes", 1, 32},   {"2 callers, 2 lanes", 2, 2},
    {"2 callers, 32 lanes", 2, 32}, {"2 callers, 1 hot lane", 2, 1}, {"4 callers, 2 lanes", 4, 2},
    {"4 callers, 32 lanes", 4, 32}, {"4 callers, 1 hot lane", 4, 1},
};

template <typename Scheme>
Figures Measure(const Table& table, const Cell& cell, std::chrono::milliseconds duration) {
  Scheme scheme(cell.lanes);
  std::vector<LaneState> states(cell.lanes);
  std::vector<Histogram> latencies(cell.callers);
  std::vector<uint64_t> operations(cell.callers);
  std::atomic<bool> stop{false};
  const auto caller = [&](size_t id) {
    PinToCore(id);
    Random random(id + 1);
    auto before = SteadyClock::now();
    while (!stop.load(std::memory_order_relaxed)) {
      const uint64_t row = random.Next();
      const size_t lane = (row >> 48) % cell.lanes;
      LaneState& state = states[lane];
      scheme.Run(lane, [&] {
        state.sum += table.Read(row);
        ++state.operations;
      });
      const auto after = SteadyClock::now();
      latencies[id].Record(static_cast<uint64_t>((after - before).count()));
      before = after;
      ++operations[id];
    }
  };
  const auto start = SteadyClock::now();
  std::vector<std::thread> threads;
  for (size_t id = 0; id < cell.callers; ++id) threads.emplace_back(caller, id);
  std::this_thread::sleep_for(duration);
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double, std::micro> elapsed = SteadyClock::now() - start;
  uint64_t total = 0;
  for (size_t id = 1; id < cell.callers; ++id) latencies[0].Merge(latencies[id]);
  for (const uint64_t count : operations) total += count;
  return {static_cast<double>(total) / elapsed.count(), latencies[0].Percentile(50),
          latencies[0].Percentile(99), latencies[0].Percentile(99.9), latencies[0].Max()};
}

template <typename T, typename Get>
T Median(const std::vector<Figures>& runs, Get get) {
  std::vector<T> values;
  for (const Figures& run : runs) values.push_back(get(run));
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void PrintCell(const char* scheme, const std::vector<Figures>& runs) {
  std::printf("  %-16s %6.2f M/s   p50 %6lu   p99 %7lu   p99.9 %8lu   max %9lu ns\n", scheme,
              Median<double>(runs, [](const Figures& f) { return f.million_per_second; }),
              Median<uint64_t>(runs, [](const Figures& f) { return f.p50; }),
              Median<uint64_t>(runs, [](const Figures& f) { return f.p99; }),
              Median<uint64_t>(runs, [](const Figures& f) { return f.p999; }),
              Median<uint64_t>(runs, [](const Figures& f) { return f.max; }));
}

constexpr double kQuietCores = 0.1;

// Returns when other processes have left the machine alone for a moment, or after `patience`.
void AwaitQuiet(std::chrono::seconds patience) {
  const auto deadline = SteadyClock::now() + patience;
  for (;;) {
    const OtherLoad load;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (load.Cores() <= kQuietCores || SteadyClock::now() >= deadline) return;
  }
}

// One repetition of a cell under all schemes. Measured again while other processes disturb it; the
// quietest attempt counts.
struct Repetition {
  static constexpr int kAttemptsMax = 10;

  Repetition(const Table& table, const Cell& cell, std::chrono::milliseconds duration) {
    for (int attempt = 0; attempt < kAttemptsMax && others > kQuietCores; ++attempt) {
      AwaitQuiet(std::chrono::seconds(5));
      const OtherLoad load;
      const std::array<Figures, 4> measured = {Measure<NoProtection>(table, cell, duration),
                                               Measure<LaneScheme>(table, cell, duration),
                                               Measure<MutexScheme>(table, cell, duration),
                                               Measure<MailboxScheme>(table, cell, duration)};
      const double cores = load.Cores();
      if (cores < others) {
        others = cores;
        figures = measured;
      }
    }
  }

  double others = std::numeric_limits<double>::infinity();
  std::array<Figures, 4> figures{};
};

void ContendedTable(std::chrono::milliseconds duration, int repetitions) {
  const Table table;
  for (const Cell& cell : kCells) {
    std::array<std::vector<Figures>, 4> runs;
    double others_max = 0;
    for (int i = 0; i < repetitions; ++i) {
      const Repetition repetition(table, cell, duration);
      others_max = std::max(others_max, repetition.others);
      for (size_t j = 0; j < runs.size(); ++j) runs[j].push_back(repetition.figures[j]);
    }
    std::printf("%s (other processes: at most %.2f cores)\n", cell.name, others_max);
    PrintCell(NoProtection::kName, runs[0]);
    PrintCell(LaneScheme::kName, runs[1]);
    PrintCell(MutexScheme::kName, runs[2]);
    PrintCell(MailboxScheme::kName, runs[3]);
    std::fflush(stdout);
  }
}

// Nanoseconds an operation, one caller, cached lanes: kLinks dependent multiplications of work,
// without a loop, whose exit would be mispredicted by one scheme and not by another.
template <typename Scheme, int kLinks>
double UncontendedNanoseconds() {
  constexpr int kOperations = 500'000;
  Scheme scheme(32);
  uint64_t x = 1;
  const auto start = SteadyClock::now();
  for (int i = 0; i < kOperations; ++i) {
    scheme.Run(static_cast<size_t>(i) % 32, [&] {
#if defined(__x86_64__)
      asm volatile(".rept %c1\n\timul %0, %0\n\t.endr" : "+r"(x) : "i"(kLinks));
#else
      for (int j = 0; j < kLinks; ++j) asm volatile("mul %0, %0, %0" : "+r"(x));
#endif
    });
  }
  const std::chrono::duration<double, std::nano> elapsed = SteadyClock::now() - start;
  return elapsed.count() / kOperations;
}

template <int kLinks>
void PrintUncontended(int repetitions) {
  AwaitQuiet(std::chrono::seconds(20));
  std::array<std::vector<double>, 3> ns;
  for (int i = 0; i < repetitions; ++i) {
    ns[0].push_back(UncontendedNanoseconds<NoProtection, kLinks>());
    ns[1].push_back(UncontendedNanoseconds<LaneScheme, kLinks>());
    ns[2].push_back(UncontendedNanoseconds<MutexScheme, kLinks>());
  }
  for (auto& values : ns) std::sort(values.begin(), values.end());
  const auto median = [&](size_t i) { return ns[i][ns[i].size() / 2]; };
  std::printf("  work %6.1f: lane %+5.1f, mutex %+5.1f\n", median(0), median(1) - median(0),
              median(2) - median(0));
}

// glibc's mutex skips its locked instruction in a process of one thread, so another one must exist.
void UncontendedTable(int repetitions) {
  std::atomic<bool> stop{false};
  std::thread other([&] { stop.wait(false); });
  std::printf("uncontended, ns over the work\n");
  PrintUncontended<1>(repetitions);
  PrintUncontended<60>(repetitions);
  PrintUncontended<240>(repetitions);
  stop.store(true);
  stop.notify_all();
  other.join();
}

}  // namespace
}  // namespace liststore

int main(int argc, char** argv) {
  const int milliseconds = argc > 1 ? std::atoi(argv[1]) : 200;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 3;
  if (milliseconds <= 0 || repetitions <= 0) {
    std::fprintf(stderr, "usage: ownership_bench [cell milliseconds] [repetitions]\n");
    return 2;
  }
  std::printf("cores=%u cell=%d ms repetitions=%d compiler=%s\n",
              std::thread::hardware_concurrency(), milliseconds, repetitions, __VERSION__);
  liststore::UncontendedTable(4 * repetitions + 1);
  liststore::ContendedTable(std::chrono::milliseconds(milliseconds), repetitions);
  return 0;
}
