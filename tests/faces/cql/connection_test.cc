#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/faces/cql/fake_handler.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace connection_test {

constexpr uint8_t kError = 0x00, kOptions = 0x05, kSupported = 0x06, kQuery = 0x07, kResult = 0x08;

RawFrame Query(std::string_view text, int stream) {
  return {.stream = static_cast<int16_t>(stream), .opcode = kQuery, .body = QueryBody(text)};
}

TEST(Connection, ManyFramesOfOneWriteAreAllAnswered) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  constexpr int kFrames = 5000;
  std::string bytes;
  for (int i = 0; i < kFrames; ++i) bytes += Query("bytes " + std::to_string(i % 50), i).Bytes();
  ASSERT_TRUE(client.Send(bytes));
  for (int i = 0; i < kFrames; ++i) {
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->stream, i);
    EXPECT_EQ(answer->body, std::string(static_cast<size_t>(i % 50), 'x'));
  }
  EXPECT_EQ(server.handler().requests(), kFrames);
  EXPECT_GT(server.handler().largest_call(), 16u) << "they come to the handler together";
}

TEST(Connection, AFrameMayComeByteByByte) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  const std::string bytes = Query("use ks", 1).Bytes() + Query("bytes 3", 2).Bytes();
  for (const char byte : bytes) ASSERT_TRUE(client.Send({&byte, 1}));
  EXPECT_EQ(client.Read()->stream, 1);
  const auto second = client.Read();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->body, "xxx");
}

TEST(Connection, FramesAreCutWhereverReadsEnd) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  std::string bytes;
  for (int i = 0; i < 40; ++i) bytes += Query("bytes " + std::to_string(i), i).Bytes();
  for (size_t piece = 1; piece < 60; piece += 7) {
    for (size_t at = 0; at < bytes.size(); at += piece) {
      ASSERT_TRUE(client.Send(std::string_view(bytes).substr(at, piece)));
    }
    for (int i = 0; i < 40; ++i) {
      const auto answer = client.Read();
      ASSERT_TRUE(answer);
      ASSERT_EQ(answer->body.size(), static_cast<size_t>(i)) << piece;
    }
  }
}

TEST(Connection, AnswersMayComeInAnotherOrder) {
  FakeServer server;
  server.handler().AnswerInReverse();
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  std::string bytes;
  for (int i = 0; i < 200; ++i) bytes += Query("bytes " + std::to_string(i), i).Bytes();
  ASSERT_TRUE(client.Send(bytes));
  std::set<int> streams;
  for (int i = 0; i < 200; ++i) {
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body.size(), static_cast<size_t>(answer->stream));
    streams.insert(answer->stream);
  }
  EXPECT_EQ(streams.size(), 200u);
}

TEST(Connection, AFrameMayBeLargerThanTheReadBuffer) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  for (const size_t bytes : {65'000u, 65'536u, 200'000u, 5'000'000u}) {
    const std::string text(bytes, 'q');
    ASSERT_TRUE(client.Send(Query("bytes 1", 1).Bytes() + Query("void" + text, 2).Bytes() +
                            Query("bytes 3", 3).Bytes()));
    EXPECT_EQ(client.Read()->body, "x");
    EXPECT_EQ(client.Read()->opcode, kResult);
    const auto last = client.Read();
    ASSERT_TRUE(last);
    EXPECT_EQ(last->body, "xxx") << bytes;
  }
}

TEST(Connection, AnAnswerMayBeLarge) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  constexpr size_t kBytes = 30'000'000;
  const auto large = client.Query("bytes " + std::to_string(kBytes));
  ASSERT_TRUE(large);
  EXPECT_EQ(large->body.size(), kBytes);
  EXPECT_EQ(client.Query("bytes 2")->body, "xx");
}

TEST(Connection, TooLongARequestIsRefused) {
  FakeServer server({}, {.limits = {.input_bytes_max = 100'000}});
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(client.Send(Query("void" + std::string(200'000, 'q'), 9)));
  const auto error = client.Read();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->opcode, kError);
  EXPECT_EQ(error->stream, 9);
  EXPECT_FALSE(client.Read());
}

TEST(Connection, AGroupAndATurnAreAsLongAsTheNetworkSays) {
  FakeServer server({}, {.limits = {.requests_max = 4, .turn_time = std::chrono::nanoseconds(0)}});
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  std::string bytes = Query("delay 0 late", 1000).Bytes() + Query("delay 0 later", 1001).Bytes();
  for (int i = 0; i < 200; ++i) bytes += Query("bytes " + std::to_string(i), i).Bytes();
  ASSERT_TRUE(client.Send(bytes));
  std::map<int, std::string> answers;
  for (int i = 0; i < 202; ++i) {
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    answers[answer->stream] = answer->body;
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(answers[i], std::string(static_cast<size_t>(i), 'x'));
  }
  EXPECT_EQ(answers[1000], "late");
  EXPECT_EQ(answers[1001], "later");
  EXPECT_EQ(server.handler().largest_call(), 4u);
}

// The server holds a few answers for a client that does not read, then stops reading its requests.
TEST(Connection, AClientThatDoesNotReadIsNotHeard) {
  FakeServer server;
  RawCqlClient client(server.port(), "127.0.0.1", 0, /*receive_buffer_bytes=*/64 << 10);
  RawCqlClient other(server.port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(other.StartUp());
  // Sent until the sockets are full: what one side sends, the other would have to take.
  constexpr size_t kAnswerBytes = 100'000;
  // Long requests too, or there would be hundreds of thousands of answers to read in the end.
  const std::string request =
      Query("bytes " + std::to_string(kAnswerBytes) + std::string(60'000, ' '), 1).Bytes();
  const std::string block = [&] {
    std::string requests;
    for (int i = 0; i < 64; ++i) requests += request;
    return requests;
  }();
  size_t sent = 0;
  const auto send_more = [&] {
    const size_t bytes = client.SendSome(std::string_view(block).substr(sent % block.size()));
    sent += bytes;
    return bytes > 0;
  };
  size_t answered_before = 0;
  do {
    while (send_more()) {
    }
    // Full. The other connection's answer comes after whatever the loop had to do before it.
    answered_before = server.handler().requests();
    ASSERT_TRUE(other.Query("void"));
    ASSERT_TRUE(other.Query("void"));
  } while (server.handler().requests() != answered_before + 2 || send_more());
  const size_t answered = server.handler().requests();
  EXPECT_LT(answered * request.size(), sent) << "requests wait in the sockets";

  // Reading brings it back to life: nothing was lost.
  const size_t whole = sent / request.size();
  for (size_t i = 0; i < whole; ++i) {
    const auto answer = client.Read();
    ASSERT_TRUE(answer) << i;
    ASSERT_EQ(answer->body.size(), kAnswerBytes);
  }
  ASSERT_TRUE(client.Send(request.substr(sent % request.size())));
  EXPECT_EQ(client.Read()->body.size(), kAnswerBytes);
}

TEST(Connection, WhatIsNoCqlEndsOneConnectionAndHarmsNoOther) {
  FakeServer server;
  RawCqlClient good(server.port());
  ASSERT_TRUE(good.StartUp());
  const std::vector<std::string> bad = {
      "GET / HTTP/1.1\r\n\r\n",
      std::string(100'000, '\0'),
      std::string("\x84\0\0\0\x05\0\0\0\0", 9),                     // a response
      std::string("\x04\0\0\0\x05\xff\xff\xff\xff", 9),             // a negative length
      std::string("\x04\0\0\0\x01\0\0\0\x16", 9) + "what is this",  // ends in the middle
  };
  for (const std::string& bytes : bad) {
    RawCqlClient client(server.port());
    client.Send(bytes);
    client.ShutDownWrites();
    client.ReadAll();
    EXPECT_EQ(good.Query("bytes 1")->body, "x");
  }
  {
    RawCqlClient client(server.port());
    ASSERT_TRUE(client.StartUp());
    ASSERT_TRUE(client.Send(Query("bytes 9", 3).Bytes() + "rubbish instead of a frame"));
    EXPECT_EQ(client.Read()->body, "xxxxxxxxx") << "what came before is answered";
    EXPECT_EQ(client.Read()->opcode, kError);
    EXPECT_FALSE(client.Read());
  }
  server.AwaitConnections(1);
  EXPECT_EQ(good.Query("bytes 1")->body, "x");
}

TEST(Connection, AClientMayGoAtAnyMoment) {
  FakeServer server;
  RawCqlClient good(server.port());
  ASSERT_TRUE(good.StartUp());
  const std::string bytes = RawFrame{.opcode = 0x01, .body = StartupBody()}.Bytes() +
                            Query("bytes 1000000", 1).Bytes() + Query("void", 2).Bytes();
  for (size_t sent = 0; sent <= bytes.size(); sent += 5) {
    RawCqlClient client(server.port());
    client.Send(std::string_view(bytes).substr(0, sent));
  }
  server.AwaitConnections(1);
  EXPECT_EQ(good.Query("bytes 1")->body, "x");
}

TEST(Connection, RequestsBeforeTheEndOfAStreamAreAnswered) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(client.Send(Query("bytes 3000000", 1).Bytes() + Query("bytes 5", 2).Bytes()));
  client.ShutDownWrites();
  EXPECT_EQ(client.Read()->body.size(), 3'000'000u);
  EXPECT_EQ(client.Read()->body, "xxxxx");
  EXPECT_FALSE(client.Read());
}

TEST(Connection, AThousandAtOnce) {
  FakeServer server({}, {.loops = 2});
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  for (int i = 0; i < 1000; ++i) clients.push_back(std::make_unique<RawCqlClient>(server.port()));
  for (auto& client : clients) {
    ASSERT_TRUE(client->Send(RawFrame{.opcode = 0x01, .body = StartupBody()}));
  }
  for (auto& client : clients) ASSERT_TRUE(client->Read());
  for (size_t i = 0; i < clients.size(); ++i) {
    ASSERT_TRUE(clients[i]->Send(Query("bytes " + std::to_string(i), 1)));
  }
  for (size_t i = 0; i < clients.size(); ++i) {
    const auto answer = clients[i]->Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body.size(), i);
  }
  EXPECT_EQ(server.server().connection_count(), 1000u);
  clients.clear();
  server.AwaitConnections(0);
}

TEST(Connection, HeartbeatsAreAnsweredBetweenQueries) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    bytes += Query("void", 2 * i).Bytes();
    bytes += RawFrame{.stream = static_cast<int16_t>(2 * i + 1), .opcode = kOptions}.Bytes();
  }
  ASSERT_TRUE(client.Send(bytes));
  std::map<int, uint8_t> opcodes;
  for (int i = 0; i < 200; ++i) {
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    opcodes[answer->stream] = answer->opcode;
  }
  ASSERT_EQ(opcodes.size(), 200u);
  for (const auto& [stream, opcode] : opcodes) {
    EXPECT_EQ(opcode, stream % 2 == 0 ? kResult : kSupported);
  }
}

// The texts of the delayed answers are in the order in which they shall come.
TEST(Connection, AnswersThatAreDelayedComeInTheOrderOfTheirTimes) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  std::string bytes = Query("delay 40 third", 3).Bytes() + Query("delay 1 second", 2).Bytes() +
                      Query("bytes 1", 1).Bytes() + Query("delay 40 fourth", 4).Bytes();
  ASSERT_TRUE(client.Send(bytes));
  const std::vector<std::string> expected = {"x", "second", "third", "fourth"};
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->stream, static_cast<int>(i) + 1);
    EXPECT_EQ(answer->body, expected[i]);
  }
}

TEST(Connection, AnAnswerThatIsDelayedLongHoldsBackNoOther) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(client.Send(Query("delay 3600000 an hour", 1)));
  for (int i = 2; i < 200; ++i) {
    ASSERT_TRUE(client.Send(Query("delay 1 soon", i)));
    EXPECT_EQ(client.Read()->stream, i);
    const auto answer = client.Query("bytes 2", 1000);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->stream, 1000);
  }
}

TEST(Connection, DelayedAnswersGoOutBeforeTheServerStops) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(client.Send(Query("delay 3600000 an hour", 7)));
  ASSERT_TRUE(client.Query("void"));
  server.server().Stop();
  const auto answer = client.Read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->stream, 7);
  EXPECT_EQ(answer->body, "an hour");
  EXPECT_FALSE(client.Read());
}

TEST(Connection, AClientMayGoWhileAnswersAreDelayed) {
  FakeServer server;
  {
    RawCqlClient client(server.port());
    ASSERT_TRUE(client.StartUp());
    ASSERT_TRUE(client.Send(Query("delay 3600000 an hour", 7)));
    ASSERT_TRUE(client.Query("void"));
  }
  server.AwaitConnections(0);
}

TEST(Connection, MayBeClosedByTheHandler) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(client.Send(Query("delay 3600000 lost", 9).Bytes() + Query("bytes 4", 1).Bytes() +
                          Query("close", 2).Bytes() + Query("bytes 5", 3).Bytes()));
  const auto answer = client.Read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "xxxx");
  EXPECT_FALSE(client.Read()) << "what came behind is not answered";
  client.Close();
  server.AwaitConnections(0);
}

TEST(Connection, ARequestMayHaveNoAnswer) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(client.Send(Query("silence", 1)));
  const auto answer = client.Query("bytes 4", 2);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->stream, 2);
}

TEST(Connection, DelayedAnswersAreCompressedLikeTheOthers) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp({{"CQL_VERSION", "3.0.0"}, {"COMPRESSION", "lz4"}}));
  ASSERT_TRUE(client.Send(Query("delay 1 " + std::string(5000, 'y'), 5)));
  const auto answer = client.Read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->stream, 5);
  EXPECT_EQ(answer->flags & 1, 1);
  EXPECT_LT(answer->body.size(), 1000u);
}

}  // namespace connection_test
}  // namespace liststore::testing
