#include "bench/target/target_bench.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/embedded/bench_client.h"
#include "bench/embedded/bench_lines.h"
#include "bench/load/core_gaps.h"
#include "bench/load/open_load.h"
#include "bench/load/server_process.h"
#include "bench/measure/bench_progress.h"
#include "bench/measure/growing_lists.h"
#include "bench/measure/machine.h"
#include "bench/measure/workload.h"
#include "bench/target/embedded_load.h"
#include "bench/target/target_report.h"
#include "bench/wire/cql_load_target.h"
#include "bench/wire/list_server.h"
#include "bench/wire/wire_sources.h"
#include "engine/base/status_macros.h"
#include "liststore/clock.h"
#include "liststore/list_store.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

constexpr uint64_t kQuickLists = 20'000;
constexpr double kQuickSeconds = 0.3;
// The items that are loaded take 70 to 100 bytes; what is added, and a server's own, fit beside.
constexpr uint64_t kBytesOfItem = 150;

absl::StatusOr<BenchTargetOptions> Resolve(BenchTargetOptions options) {
  const auto check = [](const char* name, uint64_t value, uint64_t low, uint64_t high) {
    if (value >= low && value <= high) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is ", value, ", must be from ", low, " to ", high));
  };
  LS_RETURN_IF_ERROR(check("--lists", options.lists, 1'000, 100'000'000));
  LS_RETURN_IF_ERROR(check("--items", options.items_per_list, kTargetItemsRead, 1'000));
  LS_RETURN_IF_ERROR(check("--value-bytes", options.value_bytes, 8, 65'487));
  LS_RETURN_IF_ERROR(check("--threads", options.threads, 1, 256));
  LS_RETURN_IF_ERROR(check("--connections", options.connections, 1, 1'000));
  if (!(options.seconds > 0 && options.seconds <= 3'600)) {
    return absl::InvalidArgumentError("--seconds must be above 0, at most 3600");
  }
  if (!(options.rate >= 1'000 && options.rate <= 100'000'000)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--rate is ", options.rate, ", must be from 1000 to 100000000"));
  }
  if (!(options.p99_max_ms > 0 && options.p99_max_ms <= 60'000)) {
    return absl::InvalidArgumentError("--p99-max must be above 0, at most 60000 milliseconds");
  }
  if (options.quick) {
    options.lists = std::min(options.lists, kQuickLists);
    options.seconds = std::min(options.seconds, kQuickSeconds);
  }
  const uint64_t bytes =
      options.lists * options.items_per_list * (kBytesOfItem + options.value_bytes);
  LS_RETURN_IF_ERROR(CheckServerRoom(
      bytes, absl::StrCat(options.lists, " lists of ", options.items_per_list, " values of ",
                          options.value_bytes, " bytes want ", bytes, " bytes:")));
  return options;
}

class TargetBench {
 public:
  explicit TargetBench(const BenchTargetOptions& options)
      : progress_(options.only.empty() ? 2 : 1),
        items_(SystemClock::Instance().NowNanos(), options.items_per_list,
               static_cast<size_t>(options.value_bytes)) {
    report_.options = options;
    report_.machine = ReadMachineFacts();
    report_.cores = ChooseWireCores();
  }
  const TargetReport& report() const { return report_; }

  absl::Status Run() {
    if (report_.options.only != "wire") LS_RETURN_IF_ERROR(MeasureEmbedded());
    if (report_.options.only != "embedded") LS_RETURN_IF_ERROR(MeasureWire());
    progress_.Clear();
    return absl::OkStatus();
  }

 private:
  void Progress(const std::string& text) { progress_.Say(text); }

  absl::Status MeasureEmbedded() {
    const BenchTargetOptions& options = report_.options;
    LS_ASSIGN_OR_RETURN(const std::unique_ptr<ListStore> store, ListStore::Open(Options{}));
    LS_RETURN_IF_ERROR(store->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds));
    LS_RETURN_IF_ERROR(
        store->CreateListFeatureVersion(kBenchEntityType, kBenchFeature, kBenchVersion));
    Progress(absl::StrFormat("embedded: loading %d lists of %d items", options.lists,
                             options.items_per_list));
    StoreTarget target(*store);
    BenchSubject subject(target, items_, options.lists,
                         static_cast<uint32_t>(options.items_per_list));
    {
      const WaitingLine waiting("loading");
      LS_RETURN_IF_ERROR(LoadLists(subject, options.threads));
    }
    while (store->Reclaim() != 0) {
    }
    LS_RETURN_IF_ERROR(target.PopulateAhead());
    EmbeddedLoad load(*store, items_,
                      {.lists = options.lists,
                       .items_per_list = static_cast<uint32_t>(options.items_per_list),
                       .threads = options.threads,
                       .seed = options.seed});
    Progress(absl::StrFormat("embedded: %.0f operations a second for %g s", options.rate,
                             options.seconds));
    progress_.Step("embedded");
    TargetSide& side = report_.sides.emplace_back();
    side.key = "embedded";
    side.name =
        absl::StrFormat("embedded, %d thread%s", options.threads, options.threads == 1 ? "" : "s");
    OpenRun warm_up;
    LS_RETURN_IF_ERROR(load.Run(options.rate, kLoadWarmUpShare * options.seconds, &warm_up));
    LS_RETURN_IF_ERROR(load.Run(options.rate, options.seconds, &side.run));
    side.verified = load.verified();
    side.run.machine_waits =
        WaitsForCores(WatchCores(report_.cores, options.seconds), options.rate, options.seconds);
    return absl::OkStatus();
  }

  absl::Status MeasureWire() {
    const BenchTargetOptions& options = report_.options;
    PinToCore(report_.cores.client);
    LS_ASSIGN_OR_RETURN(const std::unique_ptr<ListServer> server,
                        ListServer::Start(report_.cores.server,
                                          PopulatedBytesFor(options.lists, options.items_per_list,
                                                            options.value_bytes),
                                          options.connections, {}));
    GrowingLists lists(items_, options.lists, options.items_per_list);
    Progress(absl::StrFormat("over the wire: loading %d lists of %d items", options.lists,
                             options.items_per_list));
    {
      const WaitingLine waiting("loading");
      LS_RETURN_IF_ERROR(server->Load(lists));
    }
    SelectSource selects(lists, server->select(), server->clients().size() * kOpenInFlight,
                         ListPicker(lists.count(), false, options.seed + 1, 2, 0));
    InsertSource inserts(lists, server->insert(),
                         ListPicker(lists.count(), false, options.seed + 2, 2, 1));
    CqlLoadTarget target(server->clients(), kOpenInFlight, {&selects, &inserts});
    Progress(absl::StrFormat("over the wire: %.0f operations a second for %g s", options.rate,
                             options.seconds));
    progress_.Step("over the wire");
    TargetSide& side = report_.sides.emplace_back();
    side.key = "wire";
    side.name = absl::StrFormat("over the wire, server on core %d, client on core %d",
                                report_.cores.server, report_.cores.client);
    LS_RETURN_IF_ERROR(MeasureOpenLoop(target, server->pid(), options.rate, options.seconds, 1,
                                       report_.cores, &side.run));
    side.verified = selects.verified();
    return absl::OkStatus();
  }

  TargetReport report_;
  BenchProgress progress_;
  const BenchItems items_;
};

absl::StatusOr<int> MeasureAndReport(const BenchTargetOptions& options) {
  LS_ASSIGN_OR_RETURN(const BenchTargetOptions resolved, Resolve(options));
  TargetBench bench(resolved);
  LS_RETURN_IF_ERROR(bench.Run());
  if (resolved.json) {
    absl::FPrintF(stdout, "%s\n", TargetJson(bench.report()));
  } else {
    PrintTargetReport(bench.report(), stdout);
  }
  return bench.report().IsReached() ? kExitSame : kExitDifferent;
}

}  // namespace

int RunBenchTarget(const BenchTargetOptions& options) {
  const absl::StatusOr<int> status = MeasureAndReport(options);
  if (status.ok()) return *status;
  absl::FPrintF(stderr, "liststore bench: %s\n", std::string(status.status().message()));
  return kExitFailed;
}

}  // namespace liststore
