// What is known of how long requests have waited, and when that is too long.
#include "engine/network/queue_age.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace queue_age_test {

using network::Instant;
using network::kJustNow;
using network::LoopQueue;
using network::QueueAge;
using network::StandingQueue;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int kFull = 1000;  // bytes that a read asks for

Instant At(int millis) { return Instant(milliseconds(1'000'000 + millis)); }
std::string Text(Instant at) {
  if (at == kJustNow) return "just now";
  return std::to_string(std::chrono::duration_cast<milliseconds>(at - At(0)).count());
}

// --- A connection's socket -----------------------------------------------------------------------

struct Read {
  int at;
  int bytes;
  int waiting;  // behind it; -1: must not be asked
  const char* arrived_after;
  bool is_of_loop = false;
};
// What the loop says of an empty socket.
struct Reads {
  const char* rule;
  Instant loop;
  std::vector<Read> reads;
};

TEST(QueueAge, FollowsFromTheReads) {
  const Reads kTable[] = {
      {"a socket that each read empties: the loop knows, and nobody is asked",
       kJustNow,
       {{1, 10, -1, "just now", true}, {2, 999, -1, "just now", true}}},
      {"a loop that is behind says since when", At(-40), {{1, 10, -1, "-40", true}}},
      {"full, and nothing behind it: empty as well",
       kJustNow,
       {{1, kFull, 0, "just now", true}, {9, 10, -1, "just now", true}}},
      {"what waits behind the first full read came at most as early",
       At(-3),
       {{1, kFull, 1500, "-3", true}, {2, kFull, -1, "-3"}, {3, kFull, 4000, "-3"}}},
      {"what is behind a mark came after it; one that a read goes over counts from the next on",
       kJustNow,
       {{10, kFull, 1500, "just now", true},
        {20, kFull, -1, "10"},
        {30, kFull, 2000, "10"},
        {40, kFull, -1, "10"},
        {50, kFull, 3000, "10"},
        {60, kFull, -1, "30"},
        {70, kFull, -1, "30"},
        {80, kFull, 1, "30"},
        {90, kFull, 500, "50"}}},
      {"a read that empties it is as old as what it read, and the next one new",
       kJustNow,
       {{10, kFull, 1500, "just now", true},
        {20, kFull, -1, "10"},
        {30, 500, -1, "10"},
        {90, 500, -1, "just now", true}}},
  };
  for (const Reads& row : kTable) {
    SCOPED_TRACE(row.rule);
    QueueAge age;
    for (const Read& read : row.reads) {
      SCOPED_TRACE(read.at);
      age.OnRead(
          static_cast<size_t>(read.bytes), kFull, [&] { return row.loop; },
          [&] { return At(read.at); },
          [&] {
            EXPECT_GE(read.waiting, 0) << "nobody asks";
            return static_cast<size_t>(read.waiting);
          });
      EXPECT_EQ(Text(age.arrived_after()), read.arrived_after);
      EXPECT_EQ(age.is_of_loop(), read.is_of_loop);
    }
  }
}

TEST(QueueAge, BeginsAnewForAClientThatDidNotTakeItsAnswers) {
  QueueAge age;
  const auto read = [&](int at, size_t bytes, size_t waiting) {
    age.OnRead(
        bytes, kFull, [] { return kJustNow; }, [at] { return At(at); },
        [waiting] { return waiting; });
    return Text(age.arrived_after());
  };
  EXPECT_EQ(read(1, kFull, 5000), "just now");
  EXPECT_EQ(read(2, kFull, 4000), "1");
  age.Restart(At(900));
  EXPECT_EQ(Text(age.arrived_after()), "900") << "what was read and not dealt with as well";
  EXPECT_FALSE(age.is_of_loop()) << "the loop has not been as fast as that";
  EXPECT_EQ(read(901, kFull, 3000), "900");
  EXPECT_EQ(read(902, kFull, 2000), "900");
  EXPECT_EQ(read(903, 10, 0), "900");
  EXPECT_EQ(read(904, 10, 0), "just now");
  age.Restart(At(950));
  EXPECT_FALSE(age.is_of_loop());
  EXPECT_EQ(read(951, 10, 0), "just now");
  EXPECT_TRUE(age.is_of_loop());
}

// A byte stream whose arrivals are known: no byte is older than its read says.
TEST(QueueAge, IsABoundOfWhatWasRead) {
  const uint64_t seed = TestSeed();
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    QueueAge age;
    std::vector<int> arrived;  // when, by byte
    size_t taken = 0;
    Instant dry = At(0);  // when the socket was empty last, as a loop knows it that is not behind
    const uint64_t per_step = 1 + random.Below(2 * kFull);
    for (int now = 1; now < 300; ++now) {
      const uint64_t more = random.Below(2 * per_step);
      for (uint64_t i = 0; i < more; ++i) arrived.push_back(now);
      const size_t bytes = std::min<size_t>(kFull, arrived.size() - taken);
      if (bytes == 0) {
        dry = At(now);
        continue;
      }
      const int oldest = arrived[taken];
      taken += bytes;
      const size_t waiting = arrived.size() - taken;
      age.OnRead(
          bytes, kFull, [&] { return dry; }, [&] { return At(now); }, [&] { return waiting; });
      const Instant after = age.arrived_after();
      ASSERT_LE(after, At(oldest)) << "step " << now;
      ASSERT_GE(after, dry) << "step " << now << ": all of it has come since";
      if (waiting == 0) dry = At(now);
    }
  }
}

// --- A loop --------------------------------------------------------------------------------------

class Loop {
 public:
  // A read of a socket that was empty; returns after when what it reads has become ready.
  std::string ReadAt(int millis) {
    return Text(queue.ArrivedAfter(
        idles, milliseconds(200), [millis] { return At(millis); }, [this] { ++marks; }));
  }
  void BeBusyAt(int millis) {
    for (uint32_t i = 1; i < LoopQueue::kBusyReads; ++i) EXPECT_EQ(ReadAt(millis), "just now");
  }

  LoopQueue queue;
  uint64_t idles = 0;
  int marks = 0;
};

TEST(LoopQueue, IsNotBehindWhileItFindsNothingReadyNowAndThen) {
  Loop loop;
  for (int i = 0; i < 1000; ++i) {
    if (i % 10 == 0) ++loop.idles;
    EXPECT_EQ(loop.ReadAt(i), "just now");
  }
  EXPECT_EQ(loop.marks, 0);
}

TEST(LoopQueue, SendsAMarkThroughAQueueThatHasNoEnd) {
  Loop loop;
  loop.BeBusyAt(0);
  EXPECT_EQ(loop.ReadAt(10), "10") << "nothing was ready for long";
  EXPECT_EQ(loop.marks, 1);
  EXPECT_EQ(loop.ReadAt(20), "10");
  EXPECT_EQ(loop.ReadAt(30), "10");
  EXPECT_EQ(loop.marks, 1) << "one at a time";
  loop.queue.MarkCameThrough();
  EXPECT_EQ(loop.ReadAt(40), "10");
  EXPECT_EQ(loop.marks, 2);
  EXPECT_EQ(loop.ReadAt(50), "10");
  loop.queue.MarkCameThrough();
  EXPECT_EQ(loop.ReadAt(50), "40");
  // It finds nothing ready: all has been dealt with.
  ++loop.idles;
  loop.BeBusyAt(60);
  EXPECT_EQ(loop.ReadAt(70), "70");
}

TEST(LoopQueue, SendsAMarkAMillisecondAtMost) {
  Loop loop;
  loop.BeBusyAt(0);
  for (int read = 0; read < 10; ++read) {
    loop.ReadAt(5);
    loop.queue.MarkCameThrough();
  }
  EXPECT_EQ(loop.marks, 1);
  loop.ReadAt(6);
  EXPECT_EQ(loop.marks, 2);
}

TEST(LoopQueue, RefusesAsManyAsTheQueueIsTooLong) {
  constexpr milliseconds kMax(100);
  struct Row {
    int age;  // milliseconds
    int refused_of_100;
  };
  for (const Row& row : {Row{100, 0}, Row{101, 1}, Row{110, 10}, Row{150, 50}, Row{175, 75},
                         Row{200, 100}, Row{1000, 100}}) {
    SCOPED_TRACE(row.age);
    LoopQueue queue;
    int at = 0;
    for (; at <= 200; ++at)
      EXPECT_FALSE(at < 200 && queue.Refuses(milliseconds(120), At(at), kMax));
    int refused = 0;
    for (int i = 0; i < 1000; ++i) {
      if (queue.Refuses(milliseconds(row.age), At(++at), kMax)) ++refused;
    }
    EXPECT_NEAR(refused, 10 * row.refused_of_100, 1);
  }
}

// --- What is refused -----------------------------------------------------------------------------

constexpr nanoseconds kMax = milliseconds(200);

struct Look {
  int from, to, step;  // milliseconds; `to` included
  int age;             // milliseconds; -1: it has not waited
  bool refuses;        // at each of them
};

TEST(StandingQueue, RefusesWhatIsLateWhileTheQueueStands) {
  ASSERT_EQ(StandingQueue::Interval(kMax), milliseconds(400));
  struct Rule {
    const char* rule;
    std::vector<Look> looks;
  };
  const Rule kTable[] = {
      {"what is as old as it may be is never refused", {{0, 5000, 10, 200, false}}},
      {"a queue that is long for the interval stands, and no sooner",
       {{0, 390, 10, 201, false}, {400, 2000, 10, 201, true}}},
      {"one short wait in between begins it again",
       {{0, 390, 10, 900, false},
        {395, 395, 1, 200, false},
        {400, 790, 10, 900, false},
        {795, 795, 1, -1, false},
        {800, 1190, 10, 900, false}}},
      {"while it stands, what is not late is not refused",
       {{0, 390, 10, 300, false},
        {400, 500, 10, 300, true},
        {501, 501, 1, 200, false},
        {502, 502, 1, -1, false},
        {503, 600, 10, 201, true}}},
      {"it does not stand when nothing was late for the interval",
       {{0, 390, 10, 300, false},
        {400, 500, 10, 300, true},
        {510, 900, 10, 100, false},
        {901, 1290, 10, 300, false}}},
      {"nor when nothing came, and then something that has not waited",
       {{0, 390, 10, 300, false},
        {400, 500, 10, 300, true},
        {9000, 9000, 1, -1, false},
        {9001, 9390, 10, 300, false}}},
      {"a process that was stopped for ten intervals, and one statement that took as long, count "
       "for a tenth of one",
       {{0, 0, 1, 4000, false}, {4000, 4000, 1, 4000, false}, {4001, 4300, 10, 3000, false}}},
      {"looks that are far apart need ten, and the queue stands still between them",
       {{0, 9000, 1000, 900, false}, {10'000, 20'000, 1000, 900, true}}},
  };
  for (const Rule& row : kTable) {
    SCOPED_TRACE(row.rule);
    StandingQueue queue;
    for (const Look& look : row.looks) {
      for (int at = look.from; at <= look.to; at += look.step) {
        SCOPED_TRACE(at);
        if (look.age < 0) {
          queue.NoteShort([&] { return At(at); }, kMax);
        } else {
          EXPECT_EQ(queue.Refuses(milliseconds(look.age), At(at), kMax), look.refuses);
        }
      }
    }
  }
}

TEST(StandingQueue, TakesTheTimeThatMachinesTakeAnyway) {
  EXPECT_EQ(StandingQueue::Interval(milliseconds(5)), milliseconds(100));
  EXPECT_EQ(StandingQueue::Interval(milliseconds(50)), milliseconds(100));
  EXPECT_EQ(StandingQueue::Interval(milliseconds(500)), milliseconds(1000));
}

}  // namespace queue_age_test
}  // namespace liststore::testing
