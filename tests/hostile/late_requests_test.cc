// Requests that a client sends faster than they are dealt with, and what becomes of those that have
// waited too long.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <thread>

#include "tests/faces/cql/fake_handler.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace late_requests_test {

using std::chrono::milliseconds;

constexpr uint8_t kError = 0x00, kOptions = 0x05, kSupported = 0x06, kQuery = 0x07, kResult = 0x08;
constexpr int32_t kOverloaded = 0x1001;
constexpr size_t kMiB = size_t{1} << 20;

// Goes on by as much with every look, so that all that a server does takes its time.
class SteppingClock {
 public:
  network::Instant Now() { return network::Instant(milliseconds(millis_ += step_)); }
  void SetStep(int millis) { step_ = millis; }
  void Advance(std::chrono::nanoseconds by) {
    millis_ += std::chrono::duration_cast<milliseconds>(by).count();
  }

 private:
  std::atomic<int64_t> millis_ = 1'000'000'000;
  std::atomic<int> step_ = 0;
};

class LateRequests : public ::testing::Test {
 protected:
  static constexpr int kOptionsEvery = 50;

  void Start(std::chrono::nanoseconds queue_time_max) {
    network::ServerOptions options;
    options.limits.queue_time_max = queue_time_max;
    // The clock flies here: nobody is to be taken for one who reads nothing.
    options.limits.unread_time = std::chrono::hours(100'000);
    options.limits.handshake_time = std::chrono::hours(100'000);
    options.now = [this] { return clock_.Now(); };
    server_ = std::make_unique<FakeServer>(cql_face::CqlFaceOptions(), options);
    client_.emplace(server_->port());
    ASSERT_TRUE(client_->StartUp());
  }
  void TearDown() override { server_.reset(); }

  // Of some 1,000 bytes, and now and then an OPTIONS.
  static RawFrame Request(int number) {
    const auto stream = static_cast<int16_t>(number % 10'000);
    if (number % kOptionsEvery == 0) return {.stream = stream, .opcode = kOptions};
    return {.stream = stream, .opcode = kQuery, .body = QueryBody("void" + std::string(1000, ' '))};
  }

  struct Answers {
    int sent = 0;
    int served = 0;
    int refused = 0;
    int served_before = 0;  // the first refused one
    std::string refusal;    // the first
  };
  // Requests that gather while the loop is busy with another, and what they are answered with.
  Answers Gather() {
    Answers answers;
    EXPECT_TRUE(client_->Send({.opcode = kQuery, .body = QueryBody("wait")}));
    server_->handler().AwaitWaiting();
    std::string bytes;
    while (bytes.size() < 8 * kMiB) bytes += Request(answers.sent++).Bytes();
    size_t sent = client_->SendSome(bytes);
    server_->handler().Release();
    const auto released = client_->Read();
    EXPECT_TRUE(released && released->opcode == kResult);
    for (int i = 0; i < answers.sent; ++i) {
      // What the sockets did not take goes when there is room, before it could be missed.
      sent += client_->SendSome(std::string_view(bytes).substr(sent));
      const auto answer = client_->Read();
      if (!answer) {
        ADD_FAILURE() << "the connection has ended";
        return answers;
      }
      Note(*answer, answers);
    }
    EXPECT_EQ(sent, bytes.size());
    return answers;
  }
  static void Note(const RawFrame& answer, Answers& answers) {
    const bool asked_options = answer.stream % kOptionsEvery == 0;
    EXPECT_EQ(answer.opcode == kSupported, asked_options) << answer.stream;
    if (answer.opcode == kResult) ++answers.served;
    if (answer.opcode != kError) return;
    EXPECT_EQ(ErrorCodeOf(answer), kOverloaded);
    if (answers.refused++ > 0) return;
    answers.refusal = ErrorMessageOf(answer);
    answers.served_before = answers.served;
  }

  network::ClientCounters& counters() { return server_->server().counters(); }

  SteppingClock clock_;
  std::unique_ptr<FakeServer> server_;
  std::optional<RawCqlClient> client_;
};

// Without a mark in the socket that the loop could pass it is not known that anything waits. Some
// hundred full reads leave one, unless the system brings what the client has sent no faster than
// the loop reads it: then there was no queue, and they gather once more.
TEST_F(LateRequests, AreRefusedWhileTheQueueStands) {
  Start(milliseconds(5));
  clock_.SetStep(10);
  constexpr int kGatheringsMax = 100;
  Answers answers;
  size_t served = 0;
  for (int i = 0; i < kGatheringsMax && answers.refused == 0 && !HasFailure(); ++i) {
    answers = Gather();
    served += static_cast<size_t>(answers.served) + 1;
  }
  EXPECT_GT(answers.refused, 0);
  // An interval of 100 ms is ten looks, and each read is one at least.
  EXPECT_GT(answers.served_before, 10 * 60 * 9 / 10);
  EXPECT_TRUE(std::regex_match(answers.refusal,
                               std::regex("Requests wait too long: this one [0-9]+ ms, more than "
                                          "the 5 ms of queue_time_max; send fewer at the same "
                                          "time, or this one later")))
      << answers.refusal;
  EXPECT_EQ(counters().refused_late, static_cast<uint64_t>(answers.refused));
  EXPECT_EQ(counters().refused_requests, 0u);
  EXPECT_EQ(server_->handler().requests(), served) << "what is refused was not executed";
  // As soon as nothing waits, nothing is refused. The loop learns it in the first moment in which
  // nothing is ready; until then it takes its last mark, of a time that stands still, for old.
  clock_.SetStep(0);
  constexpr int kInARow = 100, kTriesMax = 1'000'000;
  int in_a_row = 0;
  for (int tries = 0; in_a_row < kInARow && tries < kTriesMax; ++tries) {
    const auto answer = client_->Query("void");
    ASSERT_TRUE(answer);
    in_a_row = answer->opcode == kResult ? in_a_row + 1 : 0;
  }
  EXPECT_EQ(in_a_row, kInARow);
}

TEST_F(LateRequests, AreServedInABurstThatIsShorter) {
  Start(std::chrono::hours(1));
  clock_.SetStep(10);
  const Answers answers = Gather();
  EXPECT_EQ(answers.refused, 0);
  EXPECT_EQ(counters().refused_late, 0u);
}

TEST_F(LateRequests, AreServedHoweverLateWithoutALimit) {
  Start(std::chrono::nanoseconds::max());
  clock_.SetStep(100'000);
  const Answers answers = Gather();
  EXPECT_EQ(answers.refused, 0);
}

// They wait since their client takes nothing of the answers before them: nobody else's business.
TEST_F(LateRequests, AreServedWhenItIsTheirClientThatIsSlow) {
  constexpr int kRequests = 20;
  constexpr size_t kAnswerBytes = 12 * kMiB;
  Start(std::chrono::seconds(60));
  client_.emplace(server_->port(), "127.0.0.1", 0, /*receive_buffer_bytes=*/64 << 10);
  ASSERT_TRUE(client_->StartUp());
  // The system gives more room to a socket that was emptied fast: all that follows is to wait there.
  EXPECT_EQ(Gather().refused, 0);
  clock_.SetStep(1000);
  const std::string text = "bytes " + std::to_string(kAnswerBytes) + std::string(40'000, ' ');
  std::string bytes;
  for (int i = 0; i < kRequests; ++i) {
    bytes += RawFrame{.opcode = kQuery, .body = QueryBody(text)}.Bytes();
  }
  size_t sent = client_->SendSome(bytes);
  for (int i = 0; i < kRequests; ++i) {
    // The answer does not fit into the sockets. The request may not have fitted either so far.
    while (server_->server().budget().held_bytes() < kMiB && counters().refused_late == 0) {
      sent += client_->SendSome(std::string_view(bytes).substr(sent));
      std::this_thread::yield();
    }
    clock_.Advance(std::chrono::hours(1));
    const auto answer = client_->Read();
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->opcode, kResult) << ErrorMessageOf(*answer);
    sent += client_->SendSome(std::string_view(bytes).substr(sent));
  }
  EXPECT_EQ(counters().refused_late, 0u);
}

}  // namespace late_requests_test
}  // namespace liststore::testing
