// What a connection is held to: its memory, its times, and how long its requests may wait.
#include <algorithm>
#include <chrono>

#include "engine/network/connection.h"

namespace liststore::network {
namespace {

// Until a client is heard again whose bytes had no room.
constexpr std::chrono::milliseconds kRoomTime(50);
// For so long a client waits for room; then who holds most ends.
constexpr std::chrono::seconds kRoomTimeMax(2);

}  // namespace

// --- What is held, and for how long --------------------------------------------------------------

void Connection::Settle() {
  size_t held = leftover_.capacity() + rest_.capacity() + session_bytes_;
  if (tls_ != nullptr) held += tls_->held_bytes();
  if (!account_->IsOutdated(held)) return;
  share_.budget.Set(*account_, held);
  if (share_.budget.IsOver()) share_.make_room();
}

void Connection::WaitForRoom() {
  if (room_missed_at_ == kNever) room_missed_at_ = share_.now;
  SetTimer(std::min(timer_at_, std::chrono::steady_clock::now() + kRoomTime));
}

void Connection::CheckTimes() {
  if (closed_ || drains_) return;
  const SessionLimits& limits = share_.limits;
  const auto over = [&](Instant since, std::chrono::nanoseconds time) {
    return share_.now - since > time;
  };
  if (!IsEstablished() && over(begun_at_, limits.handshake_time)) {
    ++share_.counters.ended_in_handshake;
    return Close();
  }
  // Nothing is read meanwhile: that its side has ended is seen here alone. It may want its answer all the
  // same.
  const bool has_hung_up = session_waits_for_ == Session::WaitsFor::kTime && HasHungUp();
  if (!has_hung_up) {
    hung_up_at_ = kNever;
  } else if (hung_up_at_ == kNever) {
    hung_up_at_ = share_.now;
  } else if (over(hung_up_at_, limits.unread_time)) {
    ++share_.counters.ended_not_reading;
    return Close();
  }
  if (gate_number_ != 0) return;  // we keep it waiting
  if (!rest_.empty()) {
    if (!over(taken_at_, limits.unread_time)) return;
    ++share_.counters.ended_not_reading;
    return Close();
  }
  if (room_missed_at_ != kNever && over(room_missed_at_, kRoomTimeMax)) {
    if (share_.budget.IsTight()) share_.make_room();
    return;
  }
  if (limits.idle_time.count() == 0 || !MayRead() || owes_answers_ ||
      !over(heard_at_, limits.idle_time)) {
    return;
  }
  ++share_.counters.ended_idle;
  Close();
}

void Connection::EndIfCondemned() {
  if (closed_ || !account_->is_condemned()) return;
  ++share_.counters.ended_for_memory;
  Close();
}

// --- How long it has waited ----------------------------------------------------------------------

void Connection::NoteAge(size_t bytes, size_t asked) {
  if (share_.limits.queue_time_max == std::chrono::nanoseconds::max()) return;
  age_.OnRead(
      bytes, asked,
      [this] {
        const auto send_mark = [this] {
          share_.loop.RunBehindReady([queue = &share_.queue] { queue->MarkCameThrough(); });
        };
        return share_.queue.ArrivedAfter(share_.loop.idles(), share_.limits.queue_time_max,
                                         share_.clock, send_mark);
      },
      share_.clock, [this] { return BytesInSocket(); });
}

void Connection::RestartAge() {
  if (share_.limits.queue_time_max == std::chrono::nanoseconds::max()) return;
  age_.Restart(share_.clock());
}

std::chrono::nanoseconds Connection::RefusedFor() {
  constexpr std::chrono::nanoseconds kNotRefused(0);
  const std::chrono::nanoseconds time_max = share_.limits.queue_time_max;
  // The socket was empty: the loop alone can be behind.
  if (age_.is_of_loop()) standing_.NoteShort(share_.clock, time_max);
  if (age_.arrived_after() == kJustNow) return kNotRefused;
  const Instant now = share_.clock();
  const std::chrono::nanoseconds age = now - age_.arrived_after();
  const bool refuses = age_.is_of_loop() ? share_.queue.Refuses(age, now, time_max)
                                         : standing_.Refuses(age, now, time_max);
  return refuses ? age : kNotRefused;
}

}  // namespace liststore::network
