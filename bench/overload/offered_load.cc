#include "bench/overload/offered_load.h"

#include <algorithm>

#include "bench/load/core_gaps.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr int64_t kLateNanos = 1'000'000;
constexpr int64_t kDrainSilenceNanos = 60'000'000'000;

}  // namespace

OfferedLoad::OfferedLoad(OfferedTarget& target)
    : target_(target),
      poll_(target),
      due_at_(target.connections() * target.places()),
      is_full_(target.connections()) {}

absl::Status OfferedLoad::SendUnsent() {
  size_t kept = 0;
  for (const size_t connection : unsent_) {
    LS_RETURN_IF_ERROR(target_.Send(connection));
    if (target_.HasUnsent(connection)) {
      unsent_[kept++] = connection;
    } else {
      is_full_[connection] = 0;
    }
  }
  unsent_.resize(kept);
  return absl::OkStatus();
}

absl::Status OfferedLoad::SendDue(int64_t now, uint64_t due, OfferedRun* run) {
  for (size_t tried = 0; sent_ < due && tried < target_.connections(); ++tried) {
    const size_t connection = next_connection_;
    next_connection_ = (next_connection_ + 1) % target_.connections();
    if (is_full_[connection] != 0) continue;
    size_t appended = 0;
    for (; appended < kBurst && sent_ < due && target_.HasPlace(connection); ++appended) {
      const std::optional<size_t> slot = target_.Append(connection, 0);
      LS_CHECK(slot.has_value(), "the source of an offered load does not end");
      const int64_t at = begin_ + static_cast<int64_t>(static_cast<double>(sent_) * nanos_apart_);
      due_at_[*slot] = at;
      ++sent_;
      if (now < counted_from_) continue;
      ++run->sent;
      if (now - at > kLateNanos) ++run->sent_late;
    }
    if (appended == 0) continue;
    under_way_ += appended;
    LS_RETURN_IF_ERROR(target_.Send(connection));
    if (target_.HasUnsent(connection)) {
      is_full_[connection] = 1;
      unsent_.push_back(connection);
    }
  }
  return absl::OkStatus();
}

absl::Status OfferedLoad::ReceiveReady(OfferedRun* run) {
  return poll_.Wait(0, [this, run](size_t connection) {
    LS_RETURN_IF_ERROR(target_.Receive(connection));
    const int64_t now = SteadyNanos();
    answers_.clear();
    LS_RETURN_IF_ERROR(target_.Take(connection, &answers_));
    LS_CHECK(answers_.size() <= under_way_, "only what is under way is answered");
    under_way_ -= answers_.size();
    if (run == nullptr) return absl::OkStatus();
    const bool counts = now >= counted_from_;
    for (const size_t slot : answers_) {
      const auto nanos = static_cast<uint64_t>(std::max<int64_t>(0, now - due_at_[slot]));
      if (target_.WasRefused(slot)) {
        run->last_refusal_seconds = static_cast<double>(now - begin_) * 1e-9;
        if (!counts) continue;
        ++run->refused;
        run->refusal_latency.Record(nanos);
      } else {
        run->longest_nanos = std::max(run->longest_nanos, nanos);
        if (!counts) continue;
        ++run->answered;
        run->latency.Record(nanos);
      }
    }
    return absl::OkStatus();
  });
}

absl::Status OfferedLoad::Run(double rate, double first_seconds, double seconds, OfferedRun* run) {
  LS_CHECK(rate > 0 && seconds > 0 && first_seconds >= 0, "a rate and a time are given");
  nanos_apart_ = 1e9 / rate;
  sent_ = 0;
  begin_ = SteadyNanos();
  counted_from_ = begin_ + static_cast<int64_t>(first_seconds * 1e9);
  const int64_t end = counted_from_ + static_cast<int64_t>(seconds * 1e9);
  const auto due_by = [this](int64_t at) {
    return static_cast<uint64_t>(static_cast<double>(at - begin_) / nanos_apart_);
  };
  int64_t now = begin_;
  while (now < end) {
    const uint64_t due = due_by(now) + 1;
    LS_RETURN_IF_ERROR(SendUnsent());
    LS_RETURN_IF_ERROR(SendDue(now, due, run));
    LS_RETURN_IF_ERROR(ReceiveReady(run));
    now = SteadyNanos();
  }
  run->rate = rate;
  run->seconds = static_cast<double>(now - counted_from_) * 1e-9;
  // The last look may have been long ago: this thread had no core.
  run->unsent = due_by(end) - std::min(due_by(end), sent_);
  return absl::OkStatus();
}

absl::Status OfferedLoad::Drain() {
  int64_t heard = SteadyNanos();
  while (under_way_ > 0) {
    const uint64_t before = under_way_;
    LS_RETURN_IF_ERROR(SendUnsent());
    LS_RETURN_IF_ERROR(ReceiveReady(nullptr));
    const int64_t now = SteadyNanos();
    if (under_way_ < before) heard = now;
    if (now - heard > kDrainSilenceNanos) {
      return absl::DeadlineExceededError("the server does not answer");
    }
  }
  return absl::OkStatus();
}

}  // namespace liststore
