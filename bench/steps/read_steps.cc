// Where a read's time goes between a copy of rows and the store: the same read with one step more each
// time. bench/read_steps counts the instructions of each besides.
#include <time.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "bench/measure/median.h"
#include "bench/measure/workload.h"
#include "bench/peers/bare_store.h"
#include "bench/steps/hardware_counters.h"
#include "bench/steps/step_lists.h"
#include "bench/steps/step_reads.h"
#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/base/status_macros.h"
#include "liststore/clock.h"
#include "liststore/list_store.h"
#include "programs/console/command_line.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

// What this thread has had of a core: others use the machine too.
std::chrono::nanoseconds CoreTime() {
  timespec time = {};
  LS_CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "a thread has a clock");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

constexpr size_t kBatch = 1'024;  // requests between two readings of the clock; a multiple of 16

struct Requests {
  std::vector<std::string> keys;
  std::vector<StepRequest> all;
};

// The requests of a batch, in lists at random; what they point to lies in caches.
void Draw(Random& random, uint32_t lists, Requests& requests) {
  requests.keys.resize(kBatch);
  requests.all.resize(kBatch);
  for (size_t i = 0; i < kBatch; ++i) {
    const auto number = static_cast<uint32_t>(random.Below(lists));
    requests.keys[i] = StepPartitionKey(number);
    const std::string_view key = requests.keys[i];
    // The last component ends with a zero byte.
    requests.all[i] = {number, key,
                       key.substr(key.size() - 1 - kBenchEntityIdBytes, kBenchEntityIdBytes)};
  }
}

// A step, alone and in groups of 16, on one batch.
struct StepLine {
  const char* key;
  const char* name;
  std::function<void(const std::vector<StepRequest>&)> alone;
  std::function<void(const std::vector<StepRequest>&)> group;
};

// Calls read(request) for each, the next one chosen when the answer before it is there, as far as the
// processor can tell: else it would begin reads before others have ended.
template <typename Read>
void OneByOne(const std::vector<StepRequest>& requests, const Read& read) {
  size_t nothing = 0;
  asm volatile("" : "+r"(nothing));  // which the compiler does not know
  size_t answer = 0;
  for (size_t i = 0; i < requests.size(); ++i) answer = read(requests[i + (answer & nothing)]);
}

template <Step kStep>
StepLine LineOf(const char* key, const char* name, StepLists& lists, int64_t now_seconds) {
  const auto reads = std::make_shared<StepReads<kStep>>(lists, now_seconds);
  return {key, name,
          [reads](const std::vector<StepRequest>& requests) {
            OneByOne(requests, [&](const StepRequest& request) { return reads->Alone(request); });
          },
          [reads](const std::vector<StepRequest>& requests) {
            for (size_t i = 0; i < requests.size(); i += kBenchGroup) {
              reads->Group({&requests[i], kBenchGroup});
            }
          }};
}

StepLine LineOfStore(const ListStore& store, const ListFeature& feature) {
  const auto items = std::make_shared<std::vector<ListItems>>(kBenchGroup);
  const auto alone = [&store, feature, items](const std::vector<StepRequest>& requests) {
    ListItems& result = items->front();
    OneByOne(requests, [&](const StepRequest& request) {
      const absl::Status got =
          store.GetListItems({feature, request.entity_id}, {.limit = kStepLimit}, &result);
      LS_CHECK(got.ok() && result.size() == kStepLimit, "the list is there");
      return static_cast<uint8_t>(result[0].timestamp_nanos);
    });
  };
  const auto group = [&store, feature, items](const std::vector<StepRequest>& requests) {
    std::array<std::string_view, kBenchGroup> ids;
    for (size_t i = 0; i < requests.size(); i += kBenchGroup) {
      for (size_t k = 0; k < kBenchGroup; ++k) ids[k] = requests[i + k].entity_id;
      const absl::Status got =
          store.MultiGetListItems({feature, ids}, {.limit = kStepLimit}, items.get());
      LS_CHECK(got.ok() && items->back().size() == kStepLimit, "the lists are there");
    }
  };
  return {"store", "names, engine, status: the store", alone, group};
}

// What all of it is beside: see bench/peers/bare_store.h. Its reads wait for fewer lines.
StepLine LineOfBare(const BareStore& bare) {
  const auto items = std::make_shared<std::vector<BareItems>>(kBenchGroup);
  const auto alone = [&bare, items](const std::vector<StepRequest>& requests) {
    OneByOne(requests, [&](const StepRequest& request) {
      bare.Get(request.key, kStepLimit, &items->front());
      return static_cast<uint8_t>(items->front().timestamp_nanos(0));
    });
  };
  const auto group = [&bare, items](const std::vector<StepRequest>& requests) {
    std::array<std::string_view, kBenchGroup> keys;
    for (size_t i = 0; i < requests.size(); i += kBenchGroup) {
      for (size_t k = 0; k < kBenchGroup; ++k) keys[k] = requests[i + k].key;
      bare.MultiGet(keys, kStepLimit, items.get());
    }
  };
  return {"bare", "the peer `bare`", alone, group};
}

template <typename Add>
absl::Status AddToEach(uint32_t lists, const Add& add) {
  const BenchItems contents(SystemClock::Instance().NowNanos(), kStepItems, kStepValueBytes);
  std::vector<std::string> values(kStepItems, std::string(kStepValueBytes, '\0'));
  std::vector<NewItem> items(kStepItems);
  for (uint32_t list = 0; list < lists; ++list) {
    for (uint32_t i = 0; i < kStepItems; ++i) {
      contents.WriteValue(list, i, values[i].data());
      items[i] = {contents.TimestampOf(list, i), values[i]};
    }
    LS_RETURN_IF_ERROR(add(list, items));
  }
  return absl::OkStatus();
}

struct StepOptions {
  uint32_t lists = 200'000;     // far more than caches hold
  uint32_t cached_lists = 128;  // which the second-level cache holds
  double seconds = 0.3;         // of each measurement
  int rounds = 5;               // in turn; medians
  std::string only;             // counting: this step alone,
  bool group = false;           // in groups,
  uint64_t batches = 0;         // so many batches of cached lists, and nothing is printed
};

struct Cost {
  std::vector<double> nanos, instructions, cycles;  // a list, of each round
};

// Of one way of one step, in lists below `lists`.
void Measure(const std::function<void(const std::vector<StepRequest>&)>& run, uint32_t lists,
             double seconds, const HardwareCounters& counters, Random& random, Requests& requests,
             Cost& cost) {
  std::chrono::nanoseconds time{};
  uint64_t calls = 0, instructions = 0, cycles = 0;
  const auto end = Steady::now() + std::chrono::duration<double>(seconds);
  do {
    Draw(random, lists, requests);
    const uint64_t instructions_before = counters.instructions();
    const uint64_t cycles_before = counters.cycles();
    const std::chrono::nanoseconds begin = CoreTime();
    run(requests.all);
    time += CoreTime() - begin;
    cycles += counters.cycles() - cycles_before;
    instructions += counters.instructions() - instructions_before;
    calls += kBatch;
  } while (Steady::now() < end);
  const auto of = static_cast<double>(calls);
  cost.nanos.push_back(static_cast<double>(time.count()) / of);
  cost.instructions.push_back(static_cast<double>(instructions) / of);
  cost.cycles.push_back(static_cast<double>(cycles) / of);
}

int CountOnly(const StepOptions& options, const std::vector<StepLine>& lines) {
  for (const StepLine& line : lines) {
    if (line.key != options.only) continue;
    Random random(47);
    Requests requests;
    Draw(random, options.cached_lists, requests);
    for (uint64_t i = 0; i < options.batches; ++i) {
      (options.group ? line.group : line.alone)(requests.all);
    }
    return kExitSame;
  }
  absl::FPrintF(stderr, "read_steps: there is no step %s\n", options.only);
  return kExitFailed;
}

void MeasureAll(const StepOptions& options, const std::vector<StepLine>& lines) {
  const HardwareCounters counters;
  Random random(47);
  Requests requests;
  // Of each step: alone and in groups, cached and not.
  std::vector<std::array<Cost, 4>> costs(lines.size());
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t s = 0; s < lines.size(); ++s) {
      for (size_t way = 0; way < 4; ++way) {
        Measure(way < 2 ? lines[s].alone : lines[s].group,
                way % 2 == 0 ? options.cached_lists : options.lists, options.seconds, counters,
                random, requests, costs[s][way]);
      }
    }
  }
  constexpr const char* kWays[] = {"alone_cached", "alone_memory", "group_cached", "group_memory"};
  for (size_t s = 0; s < lines.size(); ++s) {
    absl::PrintF("{\"step\":\"%s\",\"name\":\"%s\"", lines[s].key, lines[s].name);
    for (size_t way = 0; way < 4; ++way) {
      absl::PrintF(",\"%s_ns\":%.1f", kWays[way], Median(costs[s][way].nanos));
      if (!counters.supported()) continue;
      absl::PrintF(",\"%s_instructions\":%.0f,\"%s_cycles\":%.0f", kWays[way],
                   Median(costs[s][way].instructions), kWays[way], Median(costs[s][way].cycles));
    }
    absl::PrintF("}\n");
  }
}

absl::Status Run(const StepOptions& options, int* exit_code) {
  const bool counts = !options.only.empty();
  const uint32_t lists = counts ? options.cached_lists : options.lists;
  const auto now_seconds = static_cast<int64_t>(SystemClock::Instance().NowNanos() / 1'000'000'000);
  StepLists step_lists(lists, now_seconds);
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<ListStore> store, ListStore::Open(Options()));
  LS_RETURN_IF_ERROR(store->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds));
  LS_RETURN_IF_ERROR(
      store->CreateListFeatureVersion(kBenchEntityType, kBenchFeature, kBenchVersion));
  LS_ASSIGN_OR_RETURN(const ListFeature feature,
                      store->FindListFeature(kBenchEntityType, kBenchFeature, kBenchVersion));
  BareStore bare(lists, kStepItems, kStepValueBytes);
  LS_RETURN_IF_ERROR(AddToEach(lists, [&](uint32_t list, const std::vector<NewItem>& items) {
    bare.Add(StepPartitionKey(list), items);
    return store->AddListItems({feature, EntityIdOfList(list)}, items).status();
  }));
  while (store->Reclaim() > 0) {
  }

  const auto line = [&]<Step kStep>(const char* key, const char* name) {
    return LineOf<kStep>(key, name, step_lists, now_seconds);
  };
  const std::vector<StepLine> lines = {
      line.operator()<Step::kBlock>("block", "ten rows of a block, copied"),
      line.operator()<Step::kToken>("token", "the token of the key"),
      line.operator()<Step::kDirectory>("directory", "the directory of the key's lane"),
      line.operator()<Step::kKey>("key", "the whole key compared"),
      line.operator()<Step::kLane>("lane", "the lane taken and let go"),
      line.operator()<Step::kExpiry>("expiry", "the earliest expiry"),
      line.operator()<Step::kBound>("bound", "limit, bound, how rows lie"),
      line.operator()<Step::kText>("text", "instead of the copy: keys as text, lengths"),
      line.operator()<Step::kSink>("sink", "a sink, and a result"),
      line.operator()<Step::kTable>("table", "the storage's table"),
      LineOfStore(*store, feature),
      LineOfBare(bare),
  };
  if (counts) {
    *exit_code = CountOnly(options, lines);
  } else {
    MeasureAll(options, lines);
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  StepOptions options;
  CommandLine line("Measures a read step by step, from a copy of rows to the store", "read_steps");
  const Subcommand program = line.program();
  program.Footer(
      R"(One line of JSON a step: nanoseconds a list, and instructions and cycles where the kernel lets them be
counted; alone and in groups of 16, of lists in caches and of lists at random in memory. bench/read_steps
makes a table of it, and counts instructions by callgrind where the kernel does not.

Exit status: 0; 2 something could not be measured.)");
  program.Number("--lists", &options.lists, "Lists in memory").Within(1'000u, 10'000'000u);
  program.Option("--seconds", &options.seconds, "Length of one measurement")
      .Within(0.001, 3'600.0)
      .Value("S")
      .ShowDefault();
  program
      .Option("--only", &options.only, "Run this step alone, on lists in caches, and print nothing")
      .Value("STEP");
  program.Flag("--group", &options.group, "With --only: in groups of 16");
  program.Number("--batches", &options.batches, "With --only: so many times 1,024 lists")
      .Within(uint64_t{0}, uint64_t{1'000'000});
  program.Runs([&] {
    int exit_code = kExitSame;
    const absl::Status status = Run(options, &exit_code);
    if (status.ok()) return exit_code;
    absl::FPrintF(stderr, "read_steps: %s\n", std::string(status.message()));
    return static_cast<int>(kExitFailed);
  });
  return line.Run(argc, argv);
}

}  // namespace
}  // namespace liststore

int main(int argc, char** argv) { return liststore::Main(argc, argv); }
