// How long requests have waited before they are read, and when that is too long for too long: what
// a connection, and a loop, know of their queues in the kernel.
#ifndef LISTSTORE_ENGINE_NETWORK_QUEUE_AGE_H_
#define LISTSTORE_ENGINE_NETWORK_QUEUE_AGE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/network/session.h"

namespace liststore::network {

// Of what arrived a moment ago, so that nobody needs to look at the clock.
inline constexpr Instant kJustNow = Instant::max();

// In the manner of CoDel (RFC 8289): a queue that is long for a moment does its work, one that does
// not get shorter again only makes everybody wait. A queue is *standing* when all that came out of
// it was older than `time_max` for a whole interval, and no longer when nothing was for as long;
// while it stands, what is older is refused. Between two looks a tenth of the interval counts at
// most: neither a process that was stopped nor one long statement makes a queue stand.
// Single-threaded, 24 bytes, O(1).
class StandingQueue {
 public:
  // The longest time that is no standing queue yet: twice the wait, since a queue that is worked
  // off needs as long as it has, and no less than what machines take from their processes.
  static constexpr std::chrono::nanoseconds Interval(std::chrono::nanoseconds time_max) {
    return std::max<std::chrono::nanoseconds>(2 * time_max, std::chrono::milliseconds(100));
  }

  // Something that has waited for `age` is dealt with at `now`. True: it is to be refused.
  bool Refuses(std::chrono::nanoseconds age, Instant now, std::chrono::nanoseconds time_max) {
    if (age <= time_max) {
      NoteShort([now] { return now; }, time_max);
      return false;
    }
    if (!stands_) {
      constexpr int kLooksMin = 10;
      const std::chrono::nanoseconds interval = Interval(time_max);
      // The first look at a long queue says nothing of the time before.
      above_for_ += above_for_.count() == 0
                        ? std::chrono::nanoseconds(1)
                        : std::min<std::chrono::nanoseconds>(now - above_at_, interval / kLooksMin);
      stands_ = above_for_ >= interval;
    }
    above_at_ = now;
    return stands_;
  }
  // Something is dealt with that has not waited, or no longer than it may. `now()` is asked for the
  // time while the queue stands.
  template <typename Now>
  void NoteShort(Now&& now, std::chrono::nanoseconds time_max) {
    if (!stands_ || now() - above_at_ >= Interval(time_max)) [[likely]] {
      stands_ = false;
      above_for_ = std::chrono::nanoseconds(0);
    }
  }
  bool stands() const { return stands_; }

 private:
  Instant above_at_{};  // when something was too old last
  std::chrono::nanoseconds above_for_{0};
  bool stands_ = false;
};

// What waits in a connection's socket. A read that gets less than it asked for has emptied the
// socket: what comes next has arrived since, and how old it is at most the loop knows. After a read
// that got all that it asked for, more waits: its length and the instant are a mark, and what is
// behind the mark arrived later. So every read knows an instant after which all of it has arrived,
// about twice as long ago as its oldest byte at most. What waits in the client's own socket is not seen.
// Owned by its connection. 40 bytes, O(1).
class QueueAge {
 public:
  // What was read last arrived after this; kJustNow: a moment ago.
  Instant arrived_after() const { return arrived_after_; }
  // The loop has said so: the socket was empty before.
  bool is_of_loop() const { return is_of_loop_; }

  // A read got `bytes` of `asked`. `loop_after()` is asked for the loop's instant, `now()` for the
  // time and `waiting()` for the bytes that the socket has still: a system call, only after a read
  // that got all.
  template <typename LoopAfter, typename Now, typename Waiting>
  void OnRead(size_t bytes, size_t asked, LoopAfter&& loop_after, Now&& now, Waiting&& waiting) {
    is_of_loop_ = is_dry_;
    if (is_dry_) {
      arrived_after_ = loop_after();
      if (bytes < asked) return;
      // What waits still is no older than what was read.
      Mark(arrived_after_ == kJustNow ? now() : arrived_after_, now, waiting);
      return;
    }
    arrived_after_ = next_after_;
    if (bytes < asked) {
      is_dry_ = true;
    } else if (bytes < marked_bytes_) {
      marked_bytes_ -= bytes;
    } else {
      Mark(marked_at_, now, waiting);
    }
  }

  // What waits in the socket does so because nobody read from it, for the client's own sake: from
  // now on its time runs, and it says nothing of the loop.
  void Restart(Instant now) {
    is_of_loop_ = false;
    arrived_after_ = now;
    if (is_dry_) return;
    next_after_ = now;
    marked_at_ = now;
    marked_bytes_ = 0;
  }

 private:
  template <typename Now, typename Waiting>
  void Mark(Instant before, Now& now, Waiting& waiting) {
    next_after_ = before;
    marked_at_ = now();
    marked_bytes_ = waiting();
    is_dry_ = marked_bytes_ == 0;
  }

  Instant arrived_after_ = kJustNow;
  // While the socket is not dry: what is read next arrived after the first of these, and what is
  // behind so many bytes after the second.
  Instant next_after_{};
  Instant marked_at_{};
  size_t marked_bytes_ = 0;
  bool is_dry_ = true;
  bool is_of_loop_ = true;
};

// What waits for the loop: sockets that are ready. A loop that has found nothing ready is not
// behind. One that goes on without such a moment sends a mark through its queue, one at a time;
// what is dealt with when the mark has come through became ready after it was sent, to the time
// between two marks. Owned by the loop's group. O(1).
class LoopQueue {
 public:
  // Reads without a moment in which nothing was ready; with fewer the loop is not behind.
  static constexpr uint32_t kBusyReads = 16;
  // Between two marks at least. A mark sets a timer of the kernel twice, some microseconds each in a
  // virtual machine: every millisecond they were 2 % of a busy loop's time.
  static constexpr std::chrono::nanoseconds MarkTime(std::chrono::nanoseconds time_max) {
    return std::max<std::chrono::nanoseconds>(time_max / 32, std::chrono::milliseconds(1));
  }

  // Of a read that is made now, of a socket that was empty before. `idles`: how often the loop has
  // found nothing ready so far. `now()` is asked where the loop is busy, and then it may call
  // `send()`: a mark is to go through the queue, and MarkCameThrough to be called.
  template <typename Now, typename Send>
  Instant ArrivedAfter(uint64_t idles, std::chrono::nanoseconds time_max, Now&& now, Send&& send) {
    if (idles != idles_) {
      idles_ = idles;
      reads_ = 0;
      standing_.NoteShort(now, time_max);
    }
    if (reads_ < kBusyReads && ++reads_ < kBusyReads) return kJustNow;
    const Instant at = now();
    // The first one: nothing that is ready now has waited since long.
    if (!is_busy(idles)) {
      busy_idles_ = idles;
      arrived_after_ = at;
    }
    if (!mark_is_under_way_ && (sent_at_ == Instant{} || at - sent_at_ >= MarkTime(time_max))) {
      send();  // the heap may refuse it
      mark_is_under_way_ = true;
      sent_at_ = at;
    }
    return arrived_after_;
  }
  void MarkCameThrough() {
    mark_is_under_way_ = false;
    arrived_after_ = std::max(arrived_after_, sent_at_);
  }
  // As StandingQueue::Refuses, but of those that are late only so many: none of those that have
  // waited for `time_max`, half in the middle, all from twice as long on. To refuse a request that
  // came singly costs a turn, as to answer it does: refused are as many as the queue needs to stay
  // where it is, or hardly any would be answered.
  bool Refuses(std::chrono::nanoseconds age, Instant now, std::chrono::nanoseconds time_max) {
    if (!standing_.Refuses(age, now, time_max)) return false;
    late_ += std::min(age - time_max, time_max);
    if (late_ < time_max) return false;
    late_ -= time_max;
    return true;
  }

 private:
  bool is_busy(uint64_t idles) const { return busy_idles_ == idles; }

  uint64_t idles_ = 0;
  uint64_t busy_idles_ = UINT64_MAX;  // of the time in which it is busy
  uint32_t reads_ = 0;
  bool mark_is_under_way_ = false;
  Instant arrived_after_{};
  Instant sent_at_{};
  StandingQueue standing_;
  // Of the late ones since one was refused.
  std::chrono::nanoseconds late_{0};
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_QUEUE_AGE_H_
