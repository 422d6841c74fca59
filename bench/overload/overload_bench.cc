#include "bench/overload/overload_bench.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/load/closed_load.h"
#include "bench/load/server_process.h"
#include "bench/measure/bench_progress.h"
#include "bench/measure/growing_lists.h"
#include "bench/measure/workload.h"
#include "bench/overload/mixed_sources.h"
#include "bench/overload/offered_load.h"
#include "bench/overload/overload_report.h"
#include "bench/overload/unblocked_target.h"
#include "bench/peers/redis_client.h"
#include "bench/peers/redis_lists.h"
#include "bench/peers/redis_load_target.h"
#include "bench/peers/redis_process.h"
#include "bench/wire/cql_load_target.h"
#include "bench/wire/list_server.h"
#include "bench/wire/wire_line.h"
#include "bench/wire/wire_sources.h"
#include "engine/base/status_macros.h"
#include "liststore/clock.h"
#include "programs/client/cql_client.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

constexpr uint64_t kQuickLists = 20'000;
constexpr double kQuickSeconds = 0.3;
// Until a server has seen that it is asked for too much, and its queues are what they stay.
constexpr double kFirstSeconds = 0.5;
constexpr double kQuickFirstSeconds = 0.3;
constexpr double kClosedSeconds = 1;
constexpr size_t kLoadInFlight = 4;  // of Redis' lists, of each connection
// Requests under way while it is found out what can be sustained, of a connection and of all.
constexpr size_t kClosedInFlightMax = 64;
constexpr size_t kClosedInFlightOfAll = 512;
// Requests of a connection that may be under way while they are offered, of all connections
// together: more wait for a second. A stream of CQL is a positive number of 16 bits.
constexpr size_t kOfferedInFlightMax = 32'000;
constexpr size_t kOfferedInFlightOfAll = 1'000'000;

absl::StatusOr<BenchOverloadOptions> Resolve(BenchOverloadOptions options) {
  const auto check = [](const char* name, uint64_t value, uint64_t low, uint64_t high) {
    if (value >= low && value <= high) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is ", value, ", must be from ", low, " to ", high));
  };
  LS_RETURN_IF_ERROR(check("--lists", options.lists, 1'000, 100'000'000));
  LS_RETURN_IF_ERROR(check("--items", options.items_per_list, kWireRowsRead, 1'000));
  LS_RETURN_IF_ERROR(check("--value-bytes", options.value_bytes, 8, 65'487));
  LS_RETURN_IF_ERROR(check("--connections", options.connections, 1, 10'000));
  LS_RETURN_IF_ERROR(check("--queue-time-max", options.queue_time_max_ms, 0, 3'600'000));
  if (!(options.seconds > 0 && options.seconds <= 600)) {
    return absl::InvalidArgumentError("--seconds must be above 0, at most 600");
  }
  if (!(options.rate >= 0 && options.rate <= 100'000'000)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--rate is ", options.rate, ", must be from 0 to 100000000"));
  }
  if (options.quick) {
    options.lists = std::min(options.lists, kQuickLists);
    options.seconds = std::min(options.seconds, kQuickSeconds);
  }
  return options;
}

size_t OfferedInFlight(const BenchOverloadOptions& options) {
  return std::clamp<size_t>(kOfferedInFlightOfAll / options.connections, 1, kOfferedInFlightMax);
}

size_t ClosedInFlight(const BenchOverloadOptions& options) {
  return std::clamp<size_t>(kClosedInFlightOfAll / options.connections, 1, kClosedInFlightMax);
}

// A server of one protocol, its clients and its lists.
class Served {
 public:
  explicit Served(const BenchOverloadOptions& options)
      : options_(options),
        progress_(1 + std::size(kOverloadShares) + 1),
        items_(SystemClock::Instance().NowNanos(), options.items_per_list,
               static_cast<size_t>(options.value_bytes)),
        lists_(items_, options.lists, options.items_per_list) {}
  virtual ~Served() = default;

  absl::Status Measure(const WireCores& cores, double first_seconds, OverloadSide* side) {
    LS_RETURN_IF_ERROR(Open(cores, side));
    progress_.Say(absl::StrFormat("%s: loading %d lists of %d items", side->name, options_.lists,
                                  options_.items_per_list));
    {
      const WaitingLine waiting("loading");
      LS_RETURN_IF_ERROR(Load());
    }
    progress_.Step(absl::StrCat(side->name, ": what can be sustained"));
    ClosedRun closed;
    LS_RETURN_IF_ERROR(RunClosed(std::min(kClosedSeconds, options_.seconds), &closed));
    side->sustained = static_cast<double>(closed.replies) / closed.seconds;
    const double once = options_.rate > 0 ? options_.rate : side->sustained;
    progress_.Say(absl::StrFormat("%s: %.0f/s sustained", side->name, side->sustained));
    LS_RETURN_IF_ERROR(Offer(once, first_seconds, side));
    progress_.Clear();
    return absl::OkStatus();
  }

 protected:
  // Starts the server and connects to it.
  virtual absl::Status Open(const WireCores& cores, OverloadSide* side) = 0;
  virtual absl::Status Load() = 0;
  virtual absl::Status RunClosed(double seconds, ClosedRun* run) = 0;
  virtual absl::Status Offer(double once, double first_seconds, OverloadSide* side) = 0;

  // Reads are of lists of even numbers and inserts into those of odd ones: what a read finds is
  // known, whatever was refused.
  ListPicker Picker(uint64_t offset) const {
    return ListPicker(lists_.count(), false, options_.seed + offset, 2, offset);
  }
  absl::Status OfferTo(OfferedTarget& target, double once, double first_seconds,
                       OverloadSide* side) {
    OfferedLoad load(target);
    for (const double share : kOverloadShares) {
      OfferedRun& run = side->runs.emplace_back();
      progress_.Step(absl::StrFormat("%s: %.2f times the load", side->name, share));
      LS_RETURN_IF_ERROR(load.Run(share * once, first_seconds, options_.seconds, &run));
      progress_.Say(absl::StrFormat("%s: %.2f times: %.0f/s answered, %.0f/s refused", side->name,
                                    share, run.AnsweredPerSecond(), run.RefusedPerSecond()));
      // After the last one the load goes, and what is under way is still there.
      if (share != std::end(kOverloadShares)[-1]) LS_RETURN_IF_ERROR(load.Drain());
    }
    LS_RETURN_IF_ERROR(
        load.Run(kOverloadAfter * once, 0, options_.seconds + first_seconds, &side->after));
    return load.Drain();
  }

  const BenchOverloadOptions& options_;
  BenchProgress progress_;
  const BenchItems items_;
  GrowingLists lists_;
};

class ServedCql final : public Served {
 public:
  using Served::Served;

 private:
  absl::Status Open(const WireCores& cores, OverloadSide* side) override {
    LS_ASSIGN_OR_RETURN(
        server_,
        ListServer::Start(
            cores.server,
            PopulatedBytesFor(options_.lists, options_.items_per_list, options_.value_bytes),
            options_.connections, {"--queue-time-max", absl::StrCat(options_.queue_time_max_ms)}));
    side->name = "liststore";
    return absl::OkStatus();
  }
  absl::Status Load() override { return server_->Load(lists_); }
  absl::Status RunClosed(double seconds, ClosedRun* run) override {
    return With(ClosedInFlight(options_), [&](CqlLoadTarget& target, const CqlMix& mix) {
      const absl::Status status = ClosedLoad(target).Run(seconds, nullptr, run);
      run->replies -= std::min(run->replies, mix.refusals());
      return status;
    });
  }
  absl::Status Offer(double once, double first_seconds, OverloadSide* side) override {
    return With(OfferedInFlight(options_), [&](CqlLoadTarget& target, const CqlMix& mix) {
      UnblockedTarget<CqlClient> unblocked(target, server_->clients(), mix.refused());
      return OfferTo(unblocked, once, first_seconds, side);
    });
  }
  template <typename Run>
  absl::Status With(size_t places, Run&& run) {
    const size_t slots = server_->clients().size() * places;
    SelectSource selects(lists_, server_->select(), slots, Picker(0));
    InsertSource inserts(lists_, server_->insert(), Picker(1));
    CqlMix mix(selects, inserts, slots);
    CqlLoadTarget target(server_->clients(), places, {&mix});
    return run(target, mix);
  }

  std::unique_ptr<ListServer> server_;
};

class ServedRedis final : public Served {
 public:
  using Served::Served;

 private:
  absl::Status Open(const WireCores& cores, OverloadSide* side) override {
    LS_ASSIGN_OR_RETURN(process_, RedisProcess::Start(cores.server, options_.redis));
    side->key = "redis_";
    side->name = "Redis";
    for (uint32_t i = 0; i < options_.connections; ++i) {
      LS_ASSIGN_OR_RETURN(std::unique_ptr<RedisClient> client,
                          RedisClient::Connect(process_->port()));
      clients_.push_back(std::move(client));
    }
    return absl::OkStatus();
  }
  absl::Status Load() override {
    RedisLoadSource source(lists_);
    RedisLoadTarget target(clients_, kLoadInFlight, {&source});
    ClosedRun run;
    return ClosedLoad(target).Run(0, nullptr, &run);
  }
  absl::Status RunClosed(double seconds, ClosedRun* run) override {
    return With(ClosedInFlight(options_), [&](RedisLoadTarget& target, const RedisMix& /*mix*/) {
      return ClosedLoad(target).Run(seconds, nullptr, run);
    });
  }
  absl::Status Offer(double once, double first_seconds, OverloadSide* side) override {
    return With(OfferedInFlight(options_), [&](RedisLoadTarget& target, const RedisMix& mix) {
      UnblockedTarget<RedisClient> unblocked(target, clients_, mix.refused());
      return OfferTo(unblocked, once, first_seconds, side);
    });
  }
  template <typename Run>
  absl::Status With(size_t places, Run&& run) {
    const size_t slots = clients_.size() * places;
    RedisSelectSource selects(lists_, slots, Picker(0));
    RedisInsertSource inserts(lists_, Picker(1));
    RedisMix mix(selects, inserts, slots);
    RedisLoadTarget target(clients_, places, {&mix});
    return run(target, mix);
  }

  std::unique_ptr<RedisProcess> process_;
  RedisLoadTarget::Clients clients_;
};

absl::Status Write(const std::string& file, const std::string& text) {
  if (file.empty()) return absl::OkStatus();
  if (std::ofstream(file) << text << std::flush) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", file));
}

absl::Status Measure(const BenchOverloadOptions& options, OverloadReport* report) {
  report->options = options;
  report->machine = ReadMachineFacts();
  report->cores = ChooseWireCores();
  report->first_seconds = options.quick ? kQuickFirstSeconds : kFirstSeconds;
  PinToCore(report->cores.client);
  LS_RETURN_IF_ERROR(ServedCql(options).Measure(report->cores, report->first_seconds,
                                                &report->sides.emplace_back()));
  if (options.no_redis) return absl::OkStatus();
  OverloadSide redis;
  const absl::Status status =
      ServedRedis(options).Measure(report->cores, report->first_seconds, &redis);
  if (absl::IsNotFound(status)) {
    absl::FPrintF(stderr, "%s: without it\n", std::string(status.message()));
    return absl::OkStatus();
  }
  LS_RETURN_IF_ERROR(status);
  report->sides.push_back(std::move(redis));
  return absl::OkStatus();
}

absl::StatusOr<int> MeasureAndReport(const BenchOverloadOptions& options) {
  LS_ASSIGN_OR_RETURN(const BenchOverloadOptions resolved, Resolve(options));
  OverloadReport report;
  LS_RETURN_IF_ERROR(Measure(resolved, &report));
  PrintOverloadReport(report, stdout);
  LS_RETURN_IF_ERROR(Write(resolved.json, OverloadJson(report) + "\n"));
  LS_RETURN_IF_ERROR(Write(resolved.svg, OverloadSvg(report)));
  const std::vector<Verdict> verdicts = Judge(report.sides.front());
  return std::ranges::all_of(verdicts, &Verdict::is_reached) ? kExitSame : kExitDifferent;
}

}  // namespace

int RunBenchOverload(const BenchOverloadOptions& options) {
  const absl::StatusOr<int> status = MeasureAndReport(options);
  if (status.ok()) return *status;
  absl::FPrintF(stderr, "liststore bench: %s\n", std::string(status.status().message()));
  return kExitFailed;
}

}  // namespace liststore
