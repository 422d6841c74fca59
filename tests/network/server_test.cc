#include "engine/network/server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/network/line_face.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace server_test {

void ExpectNext(RawCqlClient& client, const std::string& expected) {
  EXPECT_EQ(client.ReadBytes(expected.size()), expected);
}

void ExpectEnd(RawCqlClient& client) { EXPECT_EQ(client.ReadAll(), ""); }

TEST(ServerInAProcess, LeavesItsLimitOnOpenFiles) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_GT(before.rlim_cur, 200u);
  rlimit lower = before;
  --lower.rlim_cur;  // so that there is something to raise
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  {
    const TwoFaces faces;
    rlimit after{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
    EXPECT_EQ(after.rlim_cur, lower.rlim_cur);
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(Server, EachPortHasItsFace) {
  TwoFaces server({.loops = 2});
  RawCqlClient one(server.one());
  RawCqlClient two(server.two());
  ASSERT_TRUE(one.Send("hello\npeer\n") && two.Send("hello\n"));
  ExpectNext(one, "one:hello\none:4 4\n");
  ExpectNext(two, "two:hello\n");
  EXPECT_EQ(server.server().connection_count(), 2u);
}

TEST(Server, ThePortSaysWhichLoopTakesAConnection) {
  TwoFaces server({.loops = 3});
  std::vector<RawCqlClient> clients;
  for (size_t i = 0; i < 6; ++i) {
    RawCqlClient& client = clients.emplace_back(server.one());
    ASSERT_TRUE(client.Send("loop\n"));
    ExpectNext(client, "one:" + std::to_string(i % 3) + "\n");
  }
  for (int i = 0; i < 6; ++i) {
    RawCqlClient& client = clients.emplace_back(server.two());
    ASSERT_TRUE(client.Send("loop\n"));
    ExpectNext(client, "two:" + std::to_string(client.source_port() % 3) + "\n");
  }
}

TEST(Server, BytesMayArriveOneAtATime) {
  TwoFaces server;
  RawCqlClient client(server.one());
  for (const char byte : std::string("hello\nbytes 3\nworld\n")) {
    ASSERT_TRUE(client.Send({&byte, 1}));
  }
  ExpectNext(client, "one:hello\nxxxone:world\n");
}

TEST(Server, ARequestMayBeLongerThanTheReadBuffer) {
  TwoFaces server;
  RawCqlClient client(server.one());
  for (const size_t bytes : {65'534u, 65'535u, 65'536u, 300'000u}) {
    const std::string line(bytes, 'q');
    ASSERT_TRUE(client.Send("a\n" + line + "\nb\n"));
    ExpectNext(client, "one:a\none:" + line + "\none:b\n");
  }
}

TEST(Server, ARequestAboveTheLimitEndsItsConnectionAndNoOther) {
  TwoFaces server({.limits = {.input_bytes_max = 100'000}});
  RawCqlClient other(server.two());
  RawCqlClient client(server.one());
  ASSERT_TRUE(client.Send("a\n" + std::string(100'000, 'q') + "\n")) << "this much it may have";
  ExpectNext(client, "one:a\none:" + std::string(100'000, 'q') + "\n");
  client.Send(std::string(1'000'000, 'q'));
  client.ReadAll();
  server.AwaitConnections(1);
  ASSERT_TRUE(other.Send("b\n"));
  ExpectNext(other, "two:b\n");
}

TEST(Server, AnswersThatAreDelayedComeInOrder) {
  TwoFaces server;
  RawCqlClient client(server.one());
  ASSERT_TRUE(client.Send("later 20 a\nb\nlater 1 c\nlater 0 d\n"));
  ExpectNext(client, "one:a\none:b\none:c\none:d\n");
  ASSERT_TRUE(client.Send("aside 20 third\naside 1 second\nfirst\naside 20 fourth\n"));
  ExpectNext(client, "one:first\none:second\none:third\none:fourth\n");
}

TEST(Server, AnAnswerThatIsDelayedLongHoldsBackNobodyElse) {
  TwoFaces server;
  RawCqlClient waiting(server.one());
  RawCqlClient client(server.one());
  ASSERT_TRUE(waiting.Send("first\nlater " + std::string(kAnHour) + " x\n"));
  ExpectNext(waiting, "one:first\n");
  ASSERT_TRUE(client.Send("aside " + std::string(kAnHour) + " x\n"));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(client.Send("aside 1 soon\n"));
    ExpectNext(client, "one:soon\n");
  }
}

TEST(Server, WhatIsDelayedIsAnsweredWhenTheServerStops) {
  TwoFaces server({.loops = 2});
  RawCqlClient later(server.one());
  RawCqlClient aside(server.one());
  RawCqlClient idle(server.two());
  ASSERT_TRUE(later.Send("later " + std::string(kAnHour) + " a\nb\nlater 1 c\n"));
  ASSERT_TRUE(aside.Send("aside " + std::string(kAnHour) + " a\nb\n"));
  ASSERT_TRUE(idle.Send("half a line"));
  server.server().Stop();
  ExpectNext(later, "one:a\none:b\none:c\n");
  ExpectEnd(later);
  ExpectNext(aside, "one:b\none:a\n");
  ExpectEnd(aside);
  ExpectEnd(idle);
  EXPECT_EQ(server.server().connection_count(), 0u);
}

TEST(Server, StoppingWaitsNeitherForClientsThatDoNotReadNorForEndlessWork) {
  TwoFaces server({.limits = {.turn_time = std::chrono::nanoseconds(0)}});
  RawCqlClient slow(server.one());
  RawCqlClient busy(server.one());
  ASSERT_TRUE(slow.Send("bytes 50000000\n") && busy.Send("spin\n"));
  while (server.face().seen().calls < 100) std::this_thread::yield();
  server.server().Stop();
  server.server().Stop();
  EXPECT_EQ(server.server().connection_count(), 0u);
}

// A session stops when its turn is spent, and nothing is read while its answers wait.
TEST(Server, AClientThatDoesNotReadIsNotHeardAndLosesNothing) {
  constexpr size_t kOutput = 64 << 10;
  constexpr size_t kAnswer = 100'000;
  TwoFaces server({.limits = {.output_bytes_max = kOutput}});
  RawCqlClient client(server.one(), "127.0.0.1", 0, /*receive_buffer_bytes=*/64 << 10);
  RawCqlClient other(server.one());
  const std::string line = "bytes " + std::to_string(kAnswer) + std::string(60'000, ' ') + "\n";
  const Seen& seen = server.face().seen();
  size_t sent = 0;
  const auto send_more = [&] {
    const size_t bytes = client.SendSome(std::string_view(line).substr(sent % line.size()));
    sent += bytes;
    return bytes > 0;
  };
  size_t answered_before = 0;
  do {
    while (send_more()) {
    }
    // Full. The other client's answer comes after whatever the loop had to do before it.
    answered_before = seen.lines;
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(other.Send("ping\n"));
      ExpectNext(other, "one:ping\n");
    }
  } while (seen.lines != answered_before + 2 || send_more());
  EXPECT_LT(seen.lines * line.size(), sent) << "lines wait in the sockets";
  EXPECT_LE(seen.answer_bytes_max, kOutput + kAnswer);

  const std::string answer(kAnswer, 'x');
  for (size_t i = 0; i < sent / line.size(); ++i) ExpectNext(client, answer);
  ASSERT_TRUE(client.Send(line.substr(sent % line.size()) + "end\n"));
  ExpectNext(client, answer + "one:end\n");
}

TEST(Server, ASessionThatWorksLongLeavesOthersTheirTurns) {
  TwoFaces server({.limits = {.turn_time = std::chrono::nanoseconds(0)}});
  RawCqlClient busy(server.one());
  RawCqlClient client(server.one());
  ASSERT_TRUE(busy.Send("a\nspin\n"));
  ExpectNext(busy, "one:a\n");
  const Seen& seen = server.face().seen();
  std::string lines;
  std::string answers;
  for (int i = 0; i < 100; ++i) {
    lines += std::to_string(i) + "\n";
    answers += "one:" + std::to_string(i) + "\n";
  }
  const size_t calls_before = seen.calls;
  ASSERT_TRUE(client.Send(lines));
  ExpectNext(client, answers);
  EXPECT_GE(seen.calls, calls_before + 150) << "a turn for each line, and as many for the other";
}

TEST(Server, AClientThatSendsNoMoreGetsItsAnswers) {
  TwoFaces server;
  for (const std::string last : {"later 5 b\n", "b\n", "b\nhalf a line"}) {
    RawCqlClient client(server.one());
    ASSERT_TRUE(client.Send("bytes 3000000\na\n" + last));
    client.ShutDownWrites();
    ExpectNext(client, std::string(3'000'000, 'x') + "one:a\none:b\n");
    ExpectEnd(client);
  }
  RawCqlClient client(server.one());
  client.ShutDownWrites();
  ExpectEnd(client);
  server.AwaitConnections(0);
}

TEST(Server, ASessionMayEndItsConnection) {
  TwoFaces server;
  RawCqlClient client(server.one());
  ASSERT_TRUE(client.Send("aside 3600000 lost\nbytes 5000000\na\nclose\nnot answered\n"));
  ExpectNext(client, std::string(5'000'000, 'x') + "one:a\n");
  ExpectEnd(client);
  client.Close();
  server.AwaitConnections(0);
}

TEST(Server, AClientMayGoAtAnyMoment) {
  TwoFaces server({.limits = {.turn_time = std::chrono::nanoseconds(0)}});
  for (const char* const lines :
       {"", "a", "a\n", "bytes 5000000\n", "aside 3600000 x\n", "spin\n", "later 5 x\nclose\n"}) {
    RawCqlClient client(server.two());
    ASSERT_TRUE(client.Send(lines));
  }
  RawCqlClient client(server.two());
  ASSERT_TRUE(client.Send("a\n"));
  ExpectNext(client, "two:a\n");
  client.Close();
}

TEST(Server, WhatIsPushedComesAfterWhatIsAnswered) {
  TwoFaces server;
  RawCqlClient client(server.one());
  RawCqlClient other(server.two());
  ASSERT_TRUE(client.Send("a\nbytes 20000000\n"));
  ExpectNext(client, "one:a\n");
  for (int i = 0; i < 10; ++i) server.face().Push("news\n");
  ASSERT_TRUE(other.Send("a\n"));
  ExpectNext(other, "two:a\n");
  ExpectNext(client, std::string(20'000'000, 'x'));
  for (int i = 0; i < 10; ++i) ExpectNext(client, "news\n");
}

TEST(Server, AClientThatLeavesTooMuchUnreadIsDisconnected) {
  TwoFaces server({.limits = {.pushed_bytes_max = 1000}});
  RawCqlClient client(server.one(), "127.0.0.1", 0, /*receive_buffer_bytes=*/64 << 10);
  ASSERT_TRUE(client.Send("bytes 50000000\n"));
  ASSERT_TRUE(client.ReadBytes(1)) << "the rest waits";
  for (int i = 0; i < 11; ++i) server.face().Push(std::string(100, 'n'));
  server.AwaitConnections(0);
}

}  // namespace server_test
}  // namespace liststore::testing
