#include "engine/network/answer_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/network/server.h"
#include "tests/network/line_face.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace answer_gate_test {

// Answers wait until the test lets them pass.
class FakeGate final : public network::AnswerGate {
 public:
  explicit FakeGate(uint32_t loops) : loops_(loops) {}

  uint64_t Enter(uint32_t loop) override {
    const MutexLock lock(mutex_);
    ++entries_;
    return is_open_ ? 0 : ++loops_[loop].entered;
  }
  void CloseRound(uint32_t loop) override {
    const MutexLock lock(mutex_);
    ++rounds_;
    if (passes_rounds_) loops_[loop].passed = loops_[loop].entered;
  }
  uint64_t Passed(uint32_t loop) override {
    const MutexLock lock(mutex_);
    return loops_[loop].passed;
  }
  void TellOfPassing(uint32_t loop, std::function<void()> tell) override {
    loops_[loop].tell = std::move(tell);
  }

  void Open() {
    const MutexLock lock(mutex_);
    is_open_ = true;
  }
  // From now on rounds pass when they are closed.
  void PassRounds() {
    const MutexLock lock(mutex_);
    passes_rounds_ = true;
  }
  uint64_t rounds() const {
    const MutexLock lock(mutex_);
    return rounds_;
  }
  // All who have entered so far, or all but the last `but`.
  void Pass(uint64_t but = 0) {
    for (Loop& loop : loops_) {
      {
        const MutexLock lock(mutex_);
        if (loop.entered > but) loop.passed = loop.entered - but;
      }
      loop.tell();
    }
  }
  uint64_t entries() const {
    const MutexLock lock(mutex_);
    return entries_;
  }
  void AwaitEntries(uint64_t count) const {
    while (entries() < count) std::this_thread::yield();
  }

 private:
  struct Loop {
    uint64_t entered = 0;
    uint64_t passed = 0;
    std::function<void()> tell;
  };
  mutable Mutex mutex_;
  std::vector<Loop> loops_;
  uint64_t entries_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t rounds_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_open_ ABSL_GUARDED_BY(mutex_) = false;
  bool passes_rounds_ ABSL_GUARDED_BY(mutex_) = false;
};

void ExpectNext(RawCqlClient& client, const std::string& expected) {
  EXPECT_EQ(client.ReadBytes(expected.size()), expected);
}

TEST(AnswerGate, AnswersToWritesWaitAndThoseToReadsDoNot) {
  FakeGate gate(1);
  TwoFaces server({.gate = &gate});
  RawCqlClient writer(server.one());
  RawCqlClient reader(server.one());
  ASSERT_TRUE(writer.Send("write a\n"));
  gate.AwaitEntries(1);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(reader.Send("b\n"));
    ExpectNext(reader, "one:b\n");
  }
  EXPECT_FALSE(writer.HasAnswer());
  gate.Pass();
  ExpectNext(writer, "one:a\n");
  EXPECT_EQ(gate.entries(), 1u);
}

// The gate is all that it waits for then, and it does not come.
TEST(AnswerGate, AConnectionWhoseTimeCameWhileItWaitedEndsWithTheServer) {
  FakeGate gate(1);
  TwoFaces server({.gate = &gate});
  RawCqlClient writer(server.one());
  ASSERT_TRUE(writer.Send("aside 5 x\nwrite a\n"));
  gate.AwaitEntries(1);
  // On the same loop, and later.
  RawCqlClient later(server.one());
  ASSERT_TRUE(later.Send("later 30 y\n"));
  ExpectNext(later, "one:y\n");
  EXPECT_FALSE(writer.HasAnswer());
  server.server().Stop();
}

TEST(AnswerGate, AnOpenGateHoldsNothingBack) {
  FakeGate gate(1);
  gate.Open();
  TwoFaces server({.gate = &gate});
  RawCqlClient client(server.one());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(client.Send("write a\nb\n"));
    ExpectNext(client, "one:a\none:b\n");
  }
  EXPECT_GE(gate.entries(), 10u);
}

TEST(AnswerGate, AConnectionsAnswersKeepTheirOrder) {
  FakeGate gate(1);
  TwoFaces server({.gate = &gate});
  RawCqlClient client(server.one());
  ASSERT_TRUE(client.Send("a\nwrite b\n"));
  gate.AwaitEntries(1);
  ASSERT_TRUE(client.Send("c\nwrite d\n"));
  server.face().Push("pushed\n");
  // What was asked for behind it is dealt with when it has gone.
  gate.Pass();
  ExpectNext(client, "one:a\none:b\npushed\n");
  gate.AwaitEntries(2);
  gate.Pass();
  ExpectNext(client, "one:c\none:d\n");
}

TEST(AnswerGate, ThoseGoOnWhoseNumbersHavePassed) {
  FakeGate gate(1);
  TwoFaces server({.gate = &gate});
  std::vector<RawCqlClient> clients;
  for (uint64_t i = 0; i < 4; ++i) {
    RawCqlClient& client = clients.emplace_back(server.one());
    ASSERT_TRUE(client.Send("write " + std::to_string(i) + "\n"));
    gate.AwaitEntries(i + 1);
  }
  gate.Pass(/*but=*/1);
  for (size_t i = 0; i < 3; ++i) ExpectNext(clients[i], "one:" + std::to_string(i) + "\n");
  EXPECT_FALSE(clients[3].HasAnswer());
  gate.Pass();
  ExpectNext(clients[3], "one:3\n");
}

// What one loop has to do at once is one round: the writers' requests wait while it is at another.
TEST(AnswerGate, WhoEntersOneBehindTheOtherGoesOnTogether) {
  FakeGate gate(1);
  gate.PassRounds();
  TwoFaces server({.gate = &gate});
  std::vector<RawCqlClient> clients;
  for (int i = 0; i < 20; ++i) {
    RawCqlClient& client = clients.emplace_back(server.one());
    ASSERT_TRUE(client.Send("b\n"));
    ExpectNext(client, "one:b\n");
  }
  server.face().HoldLoop([&] {
    for (RawCqlClient& client : clients) ASSERT_TRUE(client.Send("write a\n"));
  });
  for (RawCqlClient& client : clients) ExpectNext(client, "one:a\n");
  EXPECT_EQ(gate.entries(), 20u);
  EXPECT_LT(gate.rounds(), 20u);
}

// Nobody else wakes the loop.
TEST(AnswerGate, WhatWasSentMeanwhileIsAnsweredInAnotherRound) {
  FakeGate gate(1);
  gate.PassRounds();
  TwoFaces server({.limits = {.output_bytes_max = 1000}, .gate = &gate});
  RawCqlClient client(server.one());
  const std::string text(900, 'y');
  std::string sent;
  std::string expected;
  for (int i = 0; i < 20; ++i) {
    sent += "write " + text + "\n";
    expected += "one:" + text + "\n";
  }
  ASSERT_TRUE(client.Send(sent));
  ExpectNext(client, expected);
  EXPECT_GE(gate.rounds(), 10u);
}

TEST(AnswerGate, AConnectionMayCloseWhileItsAnswersWait) {
  FakeGate gate(1);
  TwoFaces server({.gate = &gate});
  RawCqlClient other(server.one());
  ASSERT_TRUE(other.Send("hello\n"));
  ExpectNext(other, "one:hello\n");
  {
    RawCqlClient gone(server.one());
    ASSERT_TRUE(gone.Send("write a\n"));
    gate.AwaitEntries(1);
  }
  RawCqlClient ends(server.one());
  ASSERT_TRUE(ends.Send("write b\nclose\n"));
  gate.AwaitEntries(2);
  gate.Pass();
  ExpectNext(ends, "one:b\n");
  EXPECT_EQ(ends.ReadAll(), "");
  server.AwaitConnections(2);  // and the one that ends, while its client has not closed it
  ASSERT_TRUE(other.Send("write c\n"));
  gate.AwaitEntries(3);
  gate.Pass();
  ExpectNext(other, "one:c\n");
}

TEST(AnswerGate, LargeAnswersAndManyTurnsPassIt) {
  FakeGate gate(2);
  TwoFaces server({.loops = 2, .limits = {.output_bytes_max = 1000}, .gate = &gate});
  std::atomic<bool> stops{false};
  std::thread passer([&] {
    while (!stops) {
      gate.Pass();
      std::this_thread::yield();
    }
  });
  {
    RawCqlClient client(server.one());
    const std::string text(3000, 'y');
    std::string sent;
    std::string expected;
    for (int i = 0; i < 200; ++i) {
      sent += "write " + text + "\nread\n";
      expected += "one:" + text + "\none:read\n";
    }
    std::thread sender([&] { EXPECT_TRUE(client.Send(sent)); });
    ExpectNext(client, expected);
    sender.join();
  }
  stops = true;
  passer.join();
}

TEST(AnswerGate, StoppingWaitsForItAMomentAndNoLonger) {
  FakeGate gate(1);
  TwoFaces server({.gate = &gate});
  RawCqlClient client(server.one());
  ASSERT_TRUE(client.Send("write a\n"));
  gate.AwaitEntries(1);
  server.server().Stop();
  EXPECT_EQ(client.ReadAll(), "") << "what may not be kept is not acknowledged";
  EXPECT_EQ(server.server().connection_count(), 0u);
}

TEST(AnswerGate, WhatPassesWhileTheServerStopsIsSent) {
  FakeGate gate(1);
  TwoFaces server({.gate = &gate});
  RawCqlClient client(server.one());
  ASSERT_TRUE(client.Send("write a\n"));
  gate.AwaitEntries(1);
  std::thread stopper([&] { server.server().Stop(); });
  gate.Pass();
  ExpectNext(client, "one:a\n");
  EXPECT_EQ(client.ReadAll(), "");
  stopper.join();
}

}  // namespace answer_gate_test
}  // namespace liststore::testing
