#include "bench/embedded/embedded_bench.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/embedded/bench_client.h"
#include "bench/embedded/bench_lines.h"
#include "bench/embedded/embedded_report.h"
#include "bench/embedded/peer.h"
#include "bench/embedded/situations.h"
#include "bench/measure/bench_progress.h"
#include "bench/measure/elapsed.h"
#include "bench/measure/median.h"
#include "bench/measure/workload.h"
#include "engine/base/status_macros.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr uint64_t kListsMin = 16;  // a group of reads
constexpr uint64_t kItemsMax = 10'000'000'000;
constexpr uint64_t kQuickStoreLists = 50'000;
constexpr double kQuickSeconds = 0.2;
constexpr uint64_t kRowsThatExpire = 1'000'000;
constexpr uint64_t kMemoryLimitBytes = 256 << 20;
constexpr uint64_t kQuickMemoryLimitBytes = 16 << 20;
// Of the time of a throughput measurement.
constexpr double kLatencyShare = 0.3;

// Growth of resident memory since `before`. What the allocator keeps of what others have freed is
// given back first: it would hide growth.
uint64_t ResidentGrowth(uint64_t before) {
  const uint64_t now = ResidentBytes();
  return now - std::min(now, before);
}
uint64_t ResidentBaseline() {
  ::malloc_trim(0);
  return ResidentBytes();
}

// `options` as they are used, or why they cannot be.
absl::StatusOr<BenchEmbeddedOptions> Resolve(BenchEmbeddedOptions options) {
  const auto check = [](const char* name, uint64_t value, uint64_t low, uint64_t high) {
    if (value >= low && value <= high) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is ", value, ", must be from ", low, " to ", high));
  };
  LS_RETURN_IF_ERROR(check("--lists", options.lists, kListsMin, 1'000'000'000));
  LS_RETURN_IF_ERROR(check("--items", options.items_per_list, 1, 100'000));
  // A batch of removals finds as many as it wants.
  LS_RETURN_IF_ERROR(
      check("--lists times --items", options.lists * options.items_per_list, 1'000, kItemsMax));
  LS_RETURN_IF_ERROR(check("--value-bytes", options.value_bytes, 8, 65'487));
  LS_RETURN_IF_ERROR(check("--threads", options.threads, 1, 256));
  LS_RETURN_IF_ERROR(check("--rounds", static_cast<uint64_t>(options.rounds), 1, 1'000));
  if (!(options.seconds > 0 && options.seconds <= 3'600)) {
    return absl::InvalidArgumentError("--seconds must be above 0, at most 3600");
  }
  if (options.quick) {
    options.lists = std::min(options.lists, kQuickStoreLists);
    options.seconds = std::min(options.seconds, kQuickSeconds);
    options.rounds = 1;
  }
  return options;
}

constexpr BenchKind kThreadsKinds[] = {BenchKind::kGet10, BenchKind::kAdd1, BenchKind::kMixed};
constexpr size_t kSituations = 3;

class EmbeddedBench {
 public:
  // `peer`: nullptr for none.
  EmbeddedBench(const BenchEmbeddedOptions& options, const BenchPeer* peer)
      : peer_(peer),
        progress_(StepsOf(options, peer != nullptr)),
        items_(SystemClock::Instance().NowNanos(), options.items_per_list,
               static_cast<size_t>(options.value_bytes)) {
    report_.options = options;
    if (peer != nullptr) report_.peer_title = std::string(peer->title);
    report_.machine = ReadMachineFacts();
  }

  absl::Status Run() {
    const auto begin = Steady::now();
    LS_RETURN_IF_ERROR(LoadStore());
    if (peer_ != nullptr) LS_RETURN_IF_ERROR(LoadPeer());
    Progress("changing every list once");
    {
      const WaitingLine waiting("changing");
      LS_RETURN_IF_ERROR(ChurnLists(*store_subject_, report_.options.threads));
      if (peer_ != nullptr) LS_RETURN_IF_ERROR(ChurnLists(*peer_subject_, PeerThreads()));
    }
    LS_RETURN_IF_ERROR(MeasureLines());
    while (store_->Reclaim() != 0) {
    }
    report_.memory.held_bytes_after = store_->GetStats().held_bytes;
    peer_subject_.reset();
    peer_target_.reset();
    if (!report_.options.lines_only) {
      if (report_.options.threads > 1) LS_RETURN_IF_ERROR(MeasureThreads());
      LS_RETURN_IF_ERROR(MeasureSituations());
    }
    report_.elapsed_seconds = SecondsSince(begin);
    return absl::OkStatus();
  }
  const BenchReport& report() const { return report_; }

 private:
  void Progress(const std::string& text) { progress_.Say(text); }
  // Measurements; what is loaded and what happens at the end are some more.
  static size_t StepsOf(const BenchEmbeddedOptions& options, bool has_peer) {
    const auto rounds = static_cast<size_t>(options.rounds);
    const size_t sides = has_peer ? 2 : 1;
    const size_t lines = (options.lines_only ? 1 : 2) * kBenchKinds * rounds * sides;
    if (options.lines_only) return lines;
    return lines + kSituations + (options.threads > 1 ? std::size(kThreadsKinds) * rounds : 0);
  }
  double seconds() const { return report_.options.seconds; }

  // Lists grow in rounds, so that blocks are outgrown and left behind as in a store that has lived.
  absl::Status LoadStore() {
    const BenchEmbeddedOptions& options = report_.options;
    Progress(
        absl::StrFormat("loading %d lists of %d items", options.lists, options.items_per_list));
    LS_ASSIGN_OR_RETURN(store_, ListStore::Open(Options{}));
    LS_RETURN_IF_ERROR(
        store_->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds));
    LS_RETURN_IF_ERROR(
        store_->CreateListFeatureVersion(kBenchEntityType, kBenchFeature, kBenchVersion));
    store_target_ = std::make_unique<StoreTarget>(*store_);
    store_subject_ = std::make_unique<BenchSubject>(*store_target_, items_, options.lists,
                                                    static_cast<uint32_t>(options.items_per_list));
    const uint64_t before = ResidentBaseline();
    const auto begin = Steady::now();
    {
      const WaitingLine waiting("loading");
      LS_RETURN_IF_ERROR(LoadLists(*store_subject_, options.threads));
    }
    BenchMemory& memory = report_.memory;
    memory.load_seconds = SecondsSince(begin);
    memory.items = options.lists * options.items_per_list;
    memory.resident_loaded = ResidentGrowth(before);
    const auto compact_begin = Steady::now();
    while (store_->Reclaim() != 0) {
    }
    memory.compact_seconds = SecondsSince(compact_begin);
    memory.resident_compacted = ResidentGrowth(before);
    const Stats stats = store_->GetStats();
    memory.live_bytes = stats.live_bytes;
    memory.held_bytes = stats.held_bytes;
    const absl::Status populated = store_target_->PopulateAhead();
    if (populated.ok()) return populated;
    return absl::ResourceExhaustedError(
        absl::StrCat(populated.message(),
                     ". Half as much as the lists take is populated for what is added to them: "
                     "fewer --lists or --items, or shorter --value-bytes, want less"));
  }

  uint32_t PeerThreads() const { return peer_->any_thread ? report_.options.threads : 1; }

  absl::Status LoadPeer() {
    const BenchEmbeddedOptions& options = report_.options;
    Progress("loading " + report_.peer_title);
    const uint64_t before = ResidentBaseline();
    const auto begin = Steady::now();
    LS_ASSIGN_OR_RETURN(peer_target_, peer_->open(options));
    peer_subject_ = std::make_unique<BenchSubject>(*peer_target_, items_, options.lists,
                                                   static_cast<uint32_t>(options.items_per_list));
    {
      const WaitingLine waiting("loading");
      LS_RETURN_IF_ERROR(LoadLists(*peer_subject_, PeerThreads()));
    }
    report_.memory.load_seconds_peer = SecondsSince(begin);
    report_.memory.resident_peer = ResidentGrowth(before);
    return peer_target_->PopulateAhead();
  }

  absl::Status MeasureLines() {
    for (const bool zipf : {false, true}) {
      if (zipf && report_.options.lines_only) break;
      for (size_t kind = 0; kind < kBenchKinds; ++kind) {
        report_.lines.push_back({static_cast<BenchKind>(kind), zipf, {}, {}});
        BenchLine& line = report_.lines.back();
        LS_RETURN_IF_ERROR(MeasureLine(line));
        Progress(absl::StrFormat("%-15s %-9s %12.0f/s%s", kBenchNames[kind],
                                 zipf ? "Zipf 0.99" : "uniform", Median(line.ours.rates),
                                 peer_ == nullptr
                                     ? ""
                                     : absl::StrFormat(", %s %10.0f/s: %.2fx", report_.options.peer,
                                                       Median(line.peer.rates), line.Ratio())));
      }
    }
    return absl::OkStatus();
  }

  // Both sides in turn, so that what else the machine does concerns both; each sees the same lists.
  absl::Status MeasureLine(BenchLine& line) {
    for (int round = 0; round < report_.options.rounds; ++round) {
      const uint64_t seed = report_.options.seed + 1'000 * static_cast<uint64_t>(round);
      const std::string what =
          absl::StrFormat("%s, %s, round %d of %d", kBenchNames[static_cast<size_t>(line.kind)],
                          line.zipf ? "Zipf 0.99" : "uniform", round + 1, report_.options.rounds);
      progress_.Step(what);
      LS_RETURN_IF_ERROR(MeasureRound(*store_subject_, line, seed, &line.ours));
      if (peer_ == nullptr) continue;
      progress_.Step(absl::StrCat(what, ", ", report_.options.peer));
      LS_RETURN_IF_ERROR(MeasureRound(*peer_subject_, line, seed, &line.peer));
    }
    return absl::OkStatus();
  }

  absl::Status MeasureRound(BenchSubject& subject, const BenchLine& line, uint64_t seed,
                            BenchFigures* figures) {
    BenchRunner runner(subject);
    ListPicker picker(report_.options.lists, line.zipf, seed);
    LS_ASSIGN_OR_RETURN(const BenchRate rate, runner.Throughput(line.kind, picker, seconds()));
    figures->rates.push_back(rate.by_wall);
    figures->core_rates.push_back(rate.by_core);
    return runner.Latencies(line.kind, picker, kLatencyShare * seconds(), &figures->latency);
  }

  absl::Status MeasureThreads() {
    const uint32_t threads = report_.options.threads;
    for (const BenchKind kind : kThreadsKinds) {
      BenchThreadsLine line{kind, {}, {}};
      for (int round = 0; round < report_.options.rounds; ++round) {
        const uint64_t seed = report_.options.seed + 1'000 * static_cast<uint64_t>(round) + 500;
        progress_.Step(absl::StrFormat("%s, %d threads, round %d of %d",
                                       kBenchNames[static_cast<size_t>(kind)], threads, round + 1,
                                       report_.options.rounds));
        LS_ASSIGN_OR_RETURN(const double one,
                            ThroughputOfThreads(*store_subject_, kind, 1, seed, seconds()));
        LS_ASSIGN_OR_RETURN(const double many,
                            ThroughputOfThreads(*store_subject_, kind, threads, seed, seconds()));
        line.one.push_back(one);
        line.many.push_back(many);
      }
      Progress(absl::StrFormat("%-15s %d threads %12.0f/s: %.2f times one",
                               kBenchNames[static_cast<size_t>(kind)], threads, Median(line.many),
                               line.Ratio()));
      report_.threads.push_back(std::move(line));
    }
    return absl::OkStatus();
  }

  absl::Status MeasureSituations() {
    const BenchEmbeddedOptions& options = report_.options;
    const uint64_t lists = options.lists;
    const double quiet_seconds = 3 * std::min(seconds(), 1.0);
    Progress(absl::StrFormat("deleting a feature of %d lists", lists));
    progress_.Step("a feature is deleted");
    ::malloc_trim(0);
    LS_RETURN_IF_ERROR(store_->Populate(0));  // what is deleted is to be given back
    while (store_->Reclaim() != 0) {
    }
    LS_ASSIGN_OR_RETURN(report_.deletion, MeasureDeletion(*store_, lists, quiet_seconds));
    store_.reset();
    ::malloc_trim(0);
    const uint64_t rows = std::min(kRowsThatExpire, report_.memory.items);
    Progress(absl::StrFormat("%d rows expire in one second", rows));
    progress_.Step("rows expire");
    LS_ASSIGN_OR_RETURN(
        report_.expiry,
        MeasureExpiry(rows, static_cast<uint32_t>(options.items_per_list), quiet_seconds));
    Progress("at the memory limit");
    progress_.Step("at the memory limit");
    ::malloc_trim(0);
    LS_ASSIGN_OR_RETURN(
        report_.limit,
        MeasureMemoryLimit(options.quick ? kQuickMemoryLimitBytes : kMemoryLimitBytes,
                           std::max<uint32_t>(options.threads, 1), 5 * seconds(), options.seed));
    progress_.Clear();
    return absl::OkStatus();
  }

  BenchReport report_;
  const BenchPeer* const peer_;
  BenchProgress progress_;
  const BenchItems items_;
  std::unique_ptr<ListStore> store_;
  std::unique_ptr<StoreTarget> store_target_;
  std::unique_ptr<BenchSubject> store_subject_;
  std::unique_ptr<BenchTarget> peer_target_;
  std::unique_ptr<BenchSubject> peer_subject_;
};

}  // namespace

int RunBenchEmbedded(const BenchEmbeddedOptions& options, std::span<const BenchPeer> peers) {
  const auto resolved = Resolve(options);
  absl::StatusOr<const BenchPeer*> peer = nullptr;
  if (!options.peer.empty()) peer = FindPeer(peers, options.peer);
  for (const absl::Status& status : {resolved.status(), peer.status()}) {
    if (status.ok()) continue;
    absl::FPrintF(stderr, "liststore bench: %s\n", std::string(status.message()));
    return kExitFailed;
  }
  EmbeddedBench bench(*resolved, *peer);
  const absl::Status status = bench.Run();
  if (!status.ok()) {
    absl::FPrintF(stderr, "liststore bench: %s\n", status.ToString());
    return kExitFailed;
  }
  if (resolved->json) {
    PrintBenchReportJson(bench.report(), stdout);
  } else {
    PrintBenchReport(bench.report(), stdout);
  }
  return kExitSame;
}

}  // namespace liststore
