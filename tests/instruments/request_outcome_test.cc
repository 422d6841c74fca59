#include "engine/instruments/request_outcome.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/protocol/response.h"

namespace liststore::testing {
namespace request_outcome_test {

class RequestOutcomeTest : public ::testing::Test {
 protected:
  void AddRequest(int16_t stream) {
    PendingRequest request;
    request.header.stream = stream;
    request.request = &request_;
    requests_.push_back(request);
  }
  void AnswerVoid(int16_t stream) { protocol::EncodeVoid(out_, Context(stream)); }
  void AnswerError(int16_t stream, protocol::ErrorCode code, std::string_view message) {
    protocol::EncodeError(out_, Context(stream), protocol::ErrorResponse{code, message, {}});
  }
  static protocol::ResponseContext Context(int16_t stream) {
    protocol::ResponseContext context;
    context.stream = stream;
    return context;
  }

  // What became of the requests, by what is in `out_`.
  RequestOutcomes TakeAll() {
    RequestOutcomes outcomes(requests_);
    outcomes.Take(out_.view(), std::chrono::nanoseconds(0));
    return outcomes;
  }

  protocol::Request request_;
  std::vector<PendingRequest> requests_;
  OutputBuffer out_;
};

TEST_F(RequestOutcomeTest, AnswersAreFoundByStreamInAnyOrder) {
  AddRequest(5);
  AddRequest(6);
  AddRequest(7);
  AddRequest(8);
  AnswerVoid(7);
  AnswerError(5, protocol::ErrorCode::kInvalid, "no such column");
  AnswerVoid(6);
  RequestOutcomes outcomes = TakeAll();
  EXPECT_STREQ(outcomes[0].name, "invalid");
  EXPECT_EQ(outcomes[0].error, "no such column");
  EXPECT_STREQ(outcomes[1].name, "ok");
  EXPECT_STREQ(outcomes[2].name, "ok");
  EXPECT_EQ(outcomes[2].error, "");
  EXPECT_STREQ(outcomes[3].name, "no_answer");
}

TEST_F(RequestOutcomeTest, AStreamThatIsUsedTwiceIsAnsweredInOrder) {
  AddRequest(1);
  AddRequest(1);
  AddRequest(1);
  AnswerError(1, protocol::ErrorCode::kSyntaxError, "line 1:0");
  AnswerVoid(1);
  RequestOutcomes outcomes = TakeAll();
  EXPECT_STREQ(outcomes[0].name, "syntax");
  EXPECT_STREQ(outcomes[1].name, "ok");
  EXPECT_STREQ(outcomes[2].name, "no_answer");
}

TEST_F(RequestOutcomeTest, ADelayedAnswerHasItsDelay) {
  AddRequest(1);
  AddRequest(2);
  AnswerVoid(2);
  RequestOutcomes outcomes = TakeAll();
  out_.Clear();
  AnswerError(1, protocol::ErrorCode::kOverloaded, "slow");
  outcomes.Take(out_.view(), std::chrono::milliseconds(20));
  EXPECT_STREQ(outcomes[0].name, "overloaded");
  EXPECT_EQ(outcomes[0].delay, std::chrono::milliseconds(20));
  EXPECT_EQ(outcomes[1].delay, std::chrono::nanoseconds(0));
}

TEST_F(RequestOutcomeTest, AnAnswerThatNobodyWaitsForIsPassedOver) {
  AddRequest(2);
  AnswerError(9, protocol::ErrorCode::kServerError, "whose");
  AnswerVoid(2);
  RequestOutcomes outcomes = TakeAll();
  EXPECT_STREQ(outcomes[0].name, "ok");
}

TEST_F(RequestOutcomeTest, AnErrorIsReadBehindItsWarnings) {
  AddRequest(3);
  protocol::ResponseContext context = Context(3);
  constexpr std::string_view kWarnings[] = {"one", "two"};
  context.warnings = kWarnings;
  protocol::EncodeError(out_, context,
                        protocol::ErrorResponse{protocol::ErrorCode::kReadTimeout, "late",
                                                protocol::ReadTimeoutDetails{}});
  RequestOutcomes outcomes = TakeAll();
  EXPECT_STREQ(outcomes[0].name, "read_timeout");
  EXPECT_EQ(outcomes[0].error, "late");
}

}  // namespace request_outcome_test
}  // namespace liststore::testing
