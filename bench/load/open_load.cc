#include "bench/load/open_load.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "bench/load/core_gaps.h"
#include "bench/measure/latency_json.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr int64_t kSilenceNanosMax = 60'000'000'000;

}  // namespace

OpenLoad::OpenLoad(LoadTarget& target, pid_t server)
    : target_(target),
      poll_(target),
      requests_(target.connections() * target.places()),
      unsent_(target.connections()) {
  if (server == 0) return;
  auto of_client = RunDelay::OfThisThread();
  auto of_server = RunDelay::OfBusiestThread(server);
  if (!of_client || !of_server) return;
  cores_.Watch(*std::move(of_client));
  cores_.Watch(*std::move(of_server));
}

// Takes down all that is due by now, and sends it: one write for each connection.
absl::Status OpenLoad::SendDue(double elapsed) {
  size_t full = 0;  // connections in a row without a free place
  while (sent_ < wanted_ && static_cast<double>(sent_) * nanos_apart_ <= elapsed &&
         full < target_.connections()) {
    const size_t connection = next_connection_;
    next_connection_ = (next_connection_ + 1) % target_.connections();
    if (!target_.HasPlace(connection)) {
      ++full;
      continue;
    }
    full = 0;
    const bool insert = sent_ % kOpenInsertEvery == kOpenInsertEvery - 1;
    const std::optional<size_t> slot = target_.Append(connection, insert ? 1 : 0);
    LS_CHECK(slot.has_value(), "sources of an open loop do not end");
    LS_DCHECK(*slot < requests_.size(), "a slot is one of those there are");
    requests_[*slot] = {static_cast<double>(sent_) * nanos_apart_, insert};
    unsent_[connection] = true;
    ++sent_;
  }
  for (size_t i = 0; i < unsent_.size(); ++i) {
    if (!unsent_[i]) continue;
    unsent_[i] = false;
    LS_RETURN_IF_ERROR(target_.Send(i));
  }
  return absl::OkStatus();
}

absl::Status OpenLoad::ReceiveReady(OpenRun* run) {
  return poll_.Wait(0, [this, run](size_t connection) {
    LS_RETURN_IF_ERROR(target_.Receive(connection));
    const auto now = static_cast<double>(SteadyNanos() - begin_nanos_);
    answers_.clear();
    LS_RETURN_IF_ERROR(target_.Take(connection, &answers_));
    for (const size_t slot : answers_) {
      const Request& request = requests_[slot];
      const auto nanos = static_cast<uint64_t>(std::max(0.0, now - request.due));
      cores_.Record(static_cast<int64_t>(request.due), nanos);
      (request.insert ? run->insert_latency : run->select_latency).Record(nanos);
    }
    answered_ += answers_.size();
    return absl::OkStatus();
  });
}

absl::Status OpenLoad::Run(double rate, double seconds, OpenRun* run) {
  LS_CHECK(rate > 0 && seconds > 0, "a rate and a time are given");
  nanos_apart_ = 1e9 / rate;
  wanted_ = std::max<uint64_t>(1, static_cast<uint64_t>(rate * seconds));
  sent_ = 0;
  answered_ = 0;
  begin_nanos_ = SteadyNanos();
  cores_.Begin();
  int64_t heard_nanos = begin_nanos_;
  while (answered_ < wanted_) {
    const int64_t now = SteadyNanos();
    cores_.LookNowAndThen(now - begin_nanos_);
    LS_RETURN_IF_ERROR(SendDue(static_cast<double>(now - begin_nanos_)));
    const uint64_t before = answered_;
    LS_RETURN_IF_ERROR(ReceiveReady(run));
    // With nothing under way there is nothing to hear.
    if (answered_ > before || sent_ == answered_) heard_nanos = now;
    if (now - heard_nanos > kSilenceNanosMax) {
      return absl::DeadlineExceededError("the server does not answer");
    }
  }
  run->quiet_latency.Merge(cores_.Finish(SteadyNanos() - begin_nanos_));
  run->rate = rate;
  run->achieved =
      static_cast<double>(answered_) / (static_cast<double>(SteadyNanos() - begin_nanos_) * 1e-9);
  return absl::OkStatus();
}

double OpenRun::QuietShare() const {
  const uint64_t all = select_latency.Count() + insert_latency.Count();
  return all == 0 ? 0 : static_cast<double>(quiet_latency.Count()) / static_cast<double>(all);
}

double OpenRateFor(double most) { return std::min(kOpenRateMax, most / 2); }

absl::Status MeasureOpenLoop(LoadTarget& target, pid_t server, double rate, double seconds,
                             int rounds, const WireCores& cores, OpenRun* run) {
  OpenRun warm_up;
  LS_RETURN_IF_ERROR(OpenLoad(target).Run(rate, kLoadWarmUpShare * seconds, &warm_up));
  OpenLoad load(target, server);
  for (int round = 0; round < rounds; ++round) {
    LS_RETURN_IF_ERROR(load.Run(rate, seconds, run));
    run->machine_waits.Merge(WaitsForCores(WatchCores(cores, seconds), rate, seconds));
  }
  return absl::OkStatus();
}

void AddOpenRun(const OpenRun& run, JsonLine* json) {
  json->Count("open_loop_per_s", static_cast<uint64_t>(run.rate));
  json->Count("open_loop_achieved_per_s", static_cast<uint64_t>(run.achieved));
  Histogram all = run.select_latency;
  all.Merge(run.insert_latency);
  AddLatency("open_loop", all, json);
  AddLatency("open_loop_select", run.select_latency, json);
  AddLatency("open_loop_insert", run.insert_latency, json);
  AddLatency("open_loop_machine", run.machine_waits, json);
  if (run.quiet_latency.Count() == 0) return;
  AddLatency("open_loop_quiet", run.quiet_latency, json);
  json->Add("open_loop_quiet_share", run.QuietShare());
}

}  // namespace liststore
