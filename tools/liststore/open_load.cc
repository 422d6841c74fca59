#include "tools/liststore/open_load.h"

#include <algorithm>
#include <optional>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "tools/liststore/bench_latency.h"
#include "tools/liststore/core_gaps.h"

namespace liststore {
namespace {

constexpr int64_t kSilenceNanosMax = 60'000'000'000;

}  // namespace

OpenLoad::OpenLoad(LoadTarget& target)
    : target_(target),
      poll_(target),
      requests_(target.connections() * target.places()),
      unsent_(target.connections()) {}

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
  int64_t heard_nanos = begin_nanos_;
  while (answered_ < wanted_) {
    const int64_t now = SteadyNanos();
    LS_RETURN_IF_ERROR(SendDue(static_cast<double>(now - begin_nanos_)));
    const uint64_t before = answered_;
    LS_RETURN_IF_ERROR(ReceiveReady(run));
    // With nothing under way there is nothing to hear.
    if (answered_ > before || sent_ == answered_) heard_nanos = now;
    if (now - heard_nanos > kSilenceNanosMax) {
      return absl::DeadlineExceededError("the server does not answer");
    }
  }
  run->rate = rate;
  run->achieved =
      static_cast<double>(answered_) / (static_cast<double>(SteadyNanos() - begin_nanos_) * 1e-9);
  return absl::OkStatus();
}

double OpenRateFor(double most) { return std::min(kOpenRateMax, most / 2); }

absl::Status MeasureOpenLoop(LoadTarget& target, double rate, double seconds, int rounds,
                             const WireCores& cores, OpenRun* run) {
  OpenLoad load(target);
  OpenRun warm_up;
  LS_RETURN_IF_ERROR(load.Run(rate, kLoadWarmUpShare * seconds, &warm_up));
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
}

}  // namespace liststore
