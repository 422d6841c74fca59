#include "tools/liststore/open_load.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "tools/liststore/bench_latency.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int64_t kSilenceNanosMax = 60'000'000'000;

int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now().time_since_epoch())
      .count();
}

}  // namespace

OpenLoad::OpenLoad(OpenTarget& target)
    : target_(target),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      requests_(target.connections() * kOpenInFlight),
      unsent_(target.connections()) {
  LS_CHECK(epoll_ >= 0, "an epoll can be made");
  for (size_t i = 0; i < target.connections(); ++i) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = i;
    LS_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, target.fd(i), &event) == 0,
             "an open socket can be watched");
  }
}

OpenLoad::~OpenLoad() { close(epoll_); }

// Takes down all that is due by now, and sends it: one write for each connection.
absl::Status OpenLoad::SendDue(double elapsed) {
  size_t full = 0;  // connections in a row without a free place
  while (sent_ < wanted_ && static_cast<double>(sent_) * nanos_apart_ <= elapsed &&
         full < target_.connections()) {
    const size_t connection = next_connection_;
    next_connection_ = (next_connection_ + 1) % target_.connections();
    const bool insert = sent_ % kOpenInsertEvery == kOpenInsertEvery - 1;
    const std::optional<size_t> slot = target_.Append(connection, insert);
    if (!slot.has_value()) {
      ++full;
      continue;
    }
    full = 0;
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
  epoll_event events[64];
  const int count = epoll_wait(epoll_, events, 64, 0);
  if (count < 0 && errno != EINTR) return absl::InternalError("epoll_wait fails");
  for (int i = 0; i < count; ++i) {
    answers_.clear();
    LS_RETURN_IF_ERROR(target_.Receive(static_cast<size_t>(events[i].data.u64), &answers_));
    const auto now = static_cast<double>(NowNanos() - begin_nanos_);
    for (const size_t slot : answers_) {
      const Request& request = requests_[slot];
      const auto nanos = static_cast<uint64_t>(std::max(0.0, now - request.due));
      (request.insert ? run->insert_latency : run->select_latency).Record(nanos);
    }
    answered_ += answers_.size();
  }
  return absl::OkStatus();
}

absl::Status OpenLoad::Run(double rate, double seconds, OpenRun* run) {
  LS_CHECK(rate > 0 && seconds > 0, "a rate and a time are given");
  nanos_apart_ = 1e9 / rate;
  wanted_ = std::max<uint64_t>(1, static_cast<uint64_t>(rate * seconds));
  sent_ = 0;
  answered_ = 0;
  begin_nanos_ = NowNanos();
  int64_t heard_nanos = begin_nanos_;
  while (answered_ < wanted_) {
    const int64_t now = NowNanos();
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
      static_cast<double>(answered_) / (static_cast<double>(NowNanos() - begin_nanos_) * 1e-9);
  return absl::OkStatus();
}

double OpenRateFor(double most) { return std::min(kOpenRateMax, most / 2); }

void AddOpenRun(const OpenRun& run, JsonLine* json) {
  json->Count("open_loop_per_s", static_cast<uint64_t>(run.rate));
  json->Count("open_loop_achieved_per_s", static_cast<uint64_t>(run.achieved));
  Histogram all = run.select_latency;
  all.Merge(run.insert_latency);
  AddLatency("open_loop", all, json);
  AddLatency("open_loop_select", run.select_latency, json);
  AddLatency("open_loop_insert", run.insert_latency, json);
}

}  // namespace liststore
