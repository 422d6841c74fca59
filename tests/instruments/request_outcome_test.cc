// What the journal tells of requests, by the outcomes that a handler leaves.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/execute/answers.h"
#include "engine/instruments/journaling_handler.h"
#include "engine/protocol/response.h"

namespace liststore::testing {
namespace request_outcome_test {

// Does with requests what it is told.
class ToldHandler final : public execute::RequestHandler {
 public:
  using Deed = std::function<void(std::span<execute::RequestView>, OutputBuffer&)>;

  execute::ConnectionOrders Handle(std::span<execute::RequestView> requests,
                                   execute::ClientState& /*client*/, OutputBuffer& out) override {
    deed(requests, out);
    return {};
  }

  Deed deed;
};

struct Told {
  std::string outcome;
  std::string error;
  uint64_t dead_rows = 0;
  uint64_t duration_nanos = 0;
};

class RequestOutcomeTest : public ::testing::Test {
 protected:
  RequestOutcomeTest() {
    request_.message = protocol::Query{"SELECT * FROM k.t", {}};
    client_.peer_address.assign("\x7f\0\0\1", 4);
  }

  void AddRequest(int16_t stream) {
    protocol::FrameHeader header;
    header.stream = stream;
    requests_.emplace_back(header, request_);
  }
  static protocol::ResponseContext Context(int16_t stream) {
    protocol::ResponseContext context;
    context.stream = stream;
    return context;
  }
  static void AnswerVoid(execute::RequestView& request, OutputBuffer& out) {
    protocol::EncodeVoid(out, Context(request.header().stream));
    request.outcome.answered = true;
  }
  static void Refuse(execute::RequestView& request, const protocol::ErrorResponse& error,
                     OutputBuffer& out) {
    execute::AnswerError(error, Context(request.header().stream), request.outcome, out);
    request.outcome.answered = true;
  }

  // What the journal has of the requests once `deed` has dealt with them.
  std::vector<Told> Record(ToldHandler::Deed deed) {
    handler_.deed = std::move(deed);
    journaling_.Handle(requests_, client_, out_);
    std::vector<Told> told;
    journal_.ForEach([&](const instruments::JournalRecord& record) {
      told.push_back(
          {record.outcome, std::string(record.error()), record.dead_rows, record.duration_nanos});
    });
    return told;
  }

  protocol::Request request_;
  std::vector<execute::RequestView> requests_;
  execute::ClientState client_;
  OutputBuffer out_;
  instruments::Journal journal_{100};
  SystemClock clock_;
  execute::StatementCache statements_;
  ToldHandler handler_;
  instruments::JournalingHandler journaling_{journal_, clock_, statements_, handler_};
};

TEST_F(RequestOutcomeTest, EachHasItsOwnInWhateverOrderAnswersCome) {
  for (int16_t stream = 5; stream <= 8; ++stream) AddRequest(stream);
  const auto told = Record([](std::span<execute::RequestView> requests, OutputBuffer& out) {
    AnswerVoid(requests[2], out);
    Refuse(requests[0], {protocol::ErrorCode::kInvalid, "no such column", {}}, out);
    AnswerVoid(requests[1], out);
  });
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(told[0].outcome, "invalid");
  EXPECT_EQ(told[0].error, "no such column");
  EXPECT_EQ(told[1].outcome, "ok");
  EXPECT_EQ(told[2].outcome, "ok");
  EXPECT_EQ(told[2].error, "");
  EXPECT_EQ(told[3].outcome, "no_answer");
}

TEST_F(RequestOutcomeTest, AStreamThatIsUsedTwiceMixesNothingUp) {
  for (int i = 0; i < 3; ++i) AddRequest(1);
  const auto told = Record([](std::span<execute::RequestView> requests, OutputBuffer& out) {
    AnswerVoid(requests[1], out);
    requests[1].outcome.dead_rows = 7;
    Refuse(requests[0], {protocol::ErrorCode::kSyntax, "line 1:0", {}}, out);
  });
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].outcome, "syntax");
  EXPECT_EQ(told[0].dead_rows, 0u);
  EXPECT_EQ(told[1].outcome, "ok");
  EXPECT_EQ(told[1].dead_rows, 7u);
  EXPECT_EQ(told[2].outcome, "no_answer");
}

TEST_F(RequestOutcomeTest, ADelayedAnswerHasItsDelay) {
  AddRequest(1);
  AddRequest(2);
  const auto told = Record([](std::span<execute::RequestView> requests, OutputBuffer& out) {
    AnswerVoid(requests[1], out);
    Refuse(requests[0], {protocol::ErrorCode::kOverloaded, "slow", {}}, out);
    requests[0].outcome.delay = std::chrono::hours(20);
  });
  ASSERT_EQ(told.size(), 2u);
  constexpr uint64_t kDelayNanos = std::chrono::nanoseconds(std::chrono::hours(20)).count();
  EXPECT_EQ(told[0].outcome, "overloaded");
  EXPECT_EQ(told[0].duration_nanos, told[1].duration_nanos + kDelayNanos);
}

TEST_F(RequestOutcomeTest, AnErrorIsToldAsTheClientSeesIt) {
  AddRequest(3);
  const auto told = Record([](std::span<execute::RequestView> requests, OutputBuffer& out) {
    // The connection has not asked for errors of this kind.
    Refuse(requests[0],
           {protocol::ErrorCode::kRateLimit, "too often", protocol::RateLimitDetails{}}, out);
  });
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].outcome, "config_error");
  EXPECT_EQ(told[0].error, "too often");
}

}  // namespace request_outcome_test
}  // namespace liststore::testing
