#include "bench/load/closed_load.h"

#include <optional>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr int kWaitMillis = 60'000;

}  // namespace

ClosedLoad::ClosedLoad(LoadTarget& target)
    : target_(target), poll_(target), sent_at_(target.connections() * target.places()) {
  LS_CHECK(target.places() > 0, "a connection has something under way");
}

absl::Status ClosedLoad::Send(size_t connection, size_t count) {
  slots_.clear();
  for (; count > 0 && !ends_; --count) {
    const std::optional<size_t> slot = target_.Append(connection, 0);
    ends_ = !slot.has_value();
    if (!ends_) slots_.push_back(*slot);
  }
  if (slots_.empty()) return absl::OkStatus();
  const Steady::time_point now = Steady::now();
  for (const size_t slot : slots_) sent_at_[slot] = now;
  under_way_ += slots_.size();
  return target_.Send(connection);
}

absl::Status ClosedLoad::Serve(size_t connection, Histogram* latency) {
  LS_RETURN_IF_ERROR(target_.Receive(connection));
  const Steady::time_point now = Steady::now();
  slots_.clear();
  LS_RETURN_IF_ERROR(target_.Take(connection, &slots_));
  LS_CHECK(slots_.size() <= under_way_, "only what is under way is answered");
  under_way_ -= slots_.size();
  replies_ += slots_.size();
  if (latency != nullptr) {
    for (const size_t slot : slots_) {
      latency->Record(static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(now - sent_at_[slot]).count()));
    }
  }
  return Send(connection, slots_.size());
}

absl::Status ClosedLoad::Run(double seconds, Histogram* latency, ClosedRun* run) {
  ends_ = false;
  replies_ = 0;
  const uint64_t idle_before = poll_.idle_nanos();
  const Steady::time_point begin = Steady::now();
  const auto elapsed = [begin] {
    return std::chrono::duration<double>(Steady::now() - begin).count();
  };
  for (size_t i = 0; i < target_.connections(); ++i) {
    LS_RETURN_IF_ERROR(Send(i, target_.places()));
  }
  const auto serve = [this, latency](size_t connection) { return Serve(connection, latency); };
  bool measured = false;
  while (under_way_ > 0) {
    LS_RETURN_IF_ERROR(poll_.Wait(kWaitMillis, serve));
    if (measured) continue;
    if (seconds > 0 && elapsed() >= seconds) ends_ = true;
    if (!ends_) continue;
    measured = true;
    *run = {replies_, elapsed(), poll_.idle_nanos() - idle_before};
  }
  if (!measured) *run = {replies_, elapsed(), poll_.idle_nanos() - idle_before};
  return absl::OkStatus();
}

}  // namespace liststore
