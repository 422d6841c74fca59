#include "engine/network/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/base/check.h"
#include "engine/network/session.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace server_test {

using network::Client;
using network::ClientAddress;
using network::kNever;
using network::LoopChoice;
using network::Session;
using network::SessionFactory;
using network::SessionLimits;
using network::Turn;

constexpr const char* kAnHour = "3600000";

// What the sessions of a face have seen.
struct Seen {
  std::atomic<size_t> calls{0};
  std::atomic<size_t> lines{0};
  std::atomic<size_t> answer_bytes_max{0};
};

// A request is a line, and so is its answer: what the line says after the face's name, but for
//   bytes N      N times 'x', no end of the line
//   loop         the number of the loop
//   peer         "4 4": lengths of the addresses
//   later MS T   T, MS milliseconds later; lines after it wait
//   aside MS T   the same; lines after it do not wait
//   spin         no answer: it works for ever
//   close        the connection ends
class LineSession final : public Session {
 public:
  LineSession(std::string name, uint32_t loop, Client& client, ClientAddress address,
              std::set<LineSession*>& all, Seen& seen)
      : name_(std::move(name)),
        loop_(loop),
        client_(client),
        address_(std::move(address)),
        all_(all),
        seen_(seen) {
    all_.insert(this);
  }
  ~LineSession() override { all_.erase(this); }

  Result OnBytes(std::string_view received, const Turn& turn) override {
    ++seen_.calls;
    Result result;
    AnswerAside(turn);
    while (result.waits_for == WaitsFor::kBytes) {
      const size_t end = received.find('\n');
      if (end == std::string_view::npos) break;
      if (turn.IsSpent() && result.consumed > 0) {
        result.waits_for = WaitsFor::kTurn;
        break;
      }
      result.waits_for = Answer(received.substr(0, end), turn);
      if (result.waits_for == WaitsFor::kTime) break;
      if (spins_) return {.consumed = result.consumed, .waits_for = WaitsFor::kTurn};
      received.remove_prefix(end + 1);
      result.consumed += end + 1;
      ++seen_.lines;
    }
    seen_.answer_bytes_max = std::max(seen_.answer_bytes_max.load(), turn.answers.size());
    if (!aside_.empty()) result.wakes_at = aside_.begin()->first;
    if (result.waits_for == WaitsFor::kTime) result.wakes_at = std::min(result.wakes_at, later_at_);
    return result;
  }
  void OnStop() override { stops_ = true; }
  void Push(std::string_view bytes) { client_.Push(bytes); }

 private:
  bool IsDue(network::Instant at) const { return stops_ || at <= std::chrono::steady_clock::now(); }

  void AnswerAside(const Turn& turn) {
    while (!aside_.empty() && IsDue(aside_.begin()->first)) {
      Say(aside_.begin()->second, turn);
      aside_.erase(aside_.begin());
    }
  }

  void Say(std::string_view text, const Turn& turn) {
    turn.answers.Append(name_ + ":" + std::string(text) + "\n");
  }

  WaitsFor Answer(std::string_view line, const Turn& turn) {
    const std::string text(line);
    char* rest = nullptr;
    if (text.starts_with("bytes ")) {
      turn.answers.Append(std::string(std::strtoul(text.c_str() + 6, nullptr, 10), 'x'));
    } else if (text == "loop") {
      Say(std::to_string(loop_), turn);
    } else if (text == "peer") {
      Say(std::to_string(address_.peer.size()) + " " + std::to_string(address_.local.size()), turn);
    } else if (text.starts_with("later ")) {
      const std::chrono::milliseconds delay(std::strtol(text.c_str() + 6, &rest, 10));
      if (later_at_ == kNever) later_at_ = std::chrono::steady_clock::now() + delay;
      if (!IsDue(later_at_)) return WaitsFor::kTime;
      later_at_ = kNever;
      Say(rest + 1, turn);
    } else if (text.starts_with("aside ")) {
      const std::chrono::milliseconds delay(std::strtol(text.c_str() + 6, &rest, 10));
      aside_.emplace(std::chrono::steady_clock::now() + delay, rest + 1);
    } else if (text == "spin") {
      spins_ = true;
    } else if (text == "close") {
      return WaitsFor::kEnd;
    } else {
      Say(text, turn);
    }
    return WaitsFor::kBytes;
  }

  const std::string name_;
  const uint32_t loop_;
  Client& client_;
  const ClientAddress address_;
  std::set<LineSession*>& all_;
  Seen& seen_;
  std::multimap<network::Instant, std::string> aside_;
  network::Instant later_at_ = kNever;  // of the line that is waited for
  bool spins_ = false;
  bool stops_ = false;
};

class LineFactory final : public SessionFactory {
 public:
  LineFactory(std::string name, runtime::EventLoop& loop) : name_(std::move(name)), loop_(loop) {}

  std::unique_ptr<Session> Make(Client& client, ClientAddress address) override {
    EXPECT_TRUE(loop_.IsCurrent());
    return std::make_unique<LineSession>(name_, loop_.number(), client, std::move(address),
                                         sessions_, seen_);
  }
  void Push(const std::string& bytes) {
    loop_.Post([this, bytes] {
      for (LineSession* session : sessions_) session->Push(bytes);
    });
  }
  Seen& seen() { return seen_; }

 private:
  const std::string name_;
  runtime::EventLoop& loop_;
  std::set<LineSession*> sessions_;
  Seen seen_;
};

// Two faces, "one" and "two", on the same loops.
class TwoFaces {
 public:
  explicit TwoFaces(const network::ServerOptions& options = {}) {
    auto server = network::Server::Create(options);
    LS_CHECK(server.ok(), "there are descriptors for loops");
    server_ = *std::move(server);
    one_ = Open("one", LoopChoice::kNextInTurn);
    two_ = Open("two", LoopChoice::kByPeerPort);
    server_->Start();
  }

  uint16_t one() const { return one_; }
  uint16_t two() const { return two_; }
  // Of face "one" on the first loop.
  LineFactory& face() { return *factories_[0]; }
  network::Server& server() { return *server_; }
  void AwaitConnections(size_t count) const {
    while (server_->connection_count() != count) std::this_thread::yield();
  }

 private:
  uint16_t Open(const std::string& name, LoopChoice choice) {
    std::vector<SessionFactory*> face;
    for (uint32_t loop = 0; loop < server_->loop_count(); ++loop) {
      factories_.push_back(std::make_unique<LineFactory>(name, server_->loop(loop)));
      face.push_back(factories_.back().get());
    }
    const auto port = server_->Listen("127.0.0.1", 0, face, choice);
    LS_CHECK(port.ok(), "a port is free");
    return *port;
  }

  std::vector<std::unique_ptr<LineFactory>> factories_;
  std::unique_ptr<network::Server> server_;
  uint16_t one_ = 0;
  uint16_t two_ = 0;
};

void ExpectNext(RawCqlClient& client, const std::string& expected) {
  EXPECT_EQ(client.ReadBytes(expected.size()), expected);
}

void ExpectEnd(RawCqlClient& client) { EXPECT_EQ(client.ReadAll(), ""); }

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
