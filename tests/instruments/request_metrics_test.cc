#include "engine/instruments/request_metrics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/protocol/request.h"

namespace liststore::instruments {
namespace request_metrics_test {

using std::chrono::nanoseconds;

TEST(LatencyBucketsTest, ATimeIsInTheFirstBucketWhoseBoundIsNotBelow) {
  const auto& bounds = LatencyBuckets::BoundsInMicros();
  for (int64_t nanos = 0; nanos < 40'000'000'000; nanos += 1 + nanos / 7) {
    size_t expected = 0;
    while (expected < bounds.size() && static_cast<double>(nanos) > bounds[expected] * 1000) {
      ++expected;
    }
    ASSERT_EQ(LatencyBuckets::IndexOf(nanoseconds(nanos)), expected) << nanos;
  }
  for (size_t i = 0; i < bounds.size(); ++i) {
    const auto at = nanoseconds(static_cast<int64_t>(bounds[i] * 1000));
    EXPECT_EQ(LatencyBuckets::IndexOf(at), i);
    EXPECT_EQ(LatencyBuckets::IndexOf(at + nanoseconds(1)), i + 1);
  }
  EXPECT_EQ(LatencyBuckets::IndexOf(nanoseconds(-5)), 0u);
}

// Requests of texts, as a processor hands them on.
class RequestMetricsTest : public ::testing::Test {
 protected:
  void Note(const std::string& text, std::chrono::microseconds took,
            std::optional<CqlErrorCode> error = std::nullopt, bool is_answered = true) {
    protocol::Query query;
    query.query = text;
    protocol::Request request;
    request.message = query;
    std::vector<execute::RequestView> views(1);
    views[0].Begin(protocol::FrameHeader(), request);
    views[0].outcome.answered = is_answered;
    views[0].outcome.error = error;
    metrics_.Note(views, client_, statements_, took);
  }
  // "select ks.t ok" -> 3
  std::map<std::string, uint64_t> Counted() const {
    std::map<std::string, uint64_t> counts;
    for (const RequestCount& count : metrics_.Requests()) {
      counts[std::string(cql::ToString(count.op)) + " " + count.keyspace + "." + count.table + " " +
             std::string(count.outcome)] += count.count;
    }
    return counts;
  }

  RequestMetrics metrics_{2};
  const execute::StatementCache statements_;
  execute::ClientState client_;
};

using Counts = std::map<std::string, uint64_t>;

TEST_F(RequestMetricsTest, RequestsAreCountedByOperationTableAndOutcome) {
  for (uint32_t loop : {0, 1}) {
    client_.shard = loop;
    Note("SELECT * FROM ks.t", std::chrono::microseconds(3));
    Note("INSERT INTO ks.t (a) VALUES (1)", std::chrono::microseconds(3));
  }
  Note("SELECT * FROM ks.t", std::chrono::microseconds(3), CqlErrorCode::kReadTimeout);
  Note("SELECT * FROM ks.t", std::chrono::microseconds(3), std::nullopt, /*is_answered=*/false);
  client_.keyspace = "other";
  Note("SELECT * FROM t", std::chrono::microseconds(3));
  client_.place.begun_at = execute::WorkInstant();  // beside the loops
  Note("SELECT * FROM ks.t", std::chrono::microseconds(3));
  EXPECT_EQ(Counted(), (Counts{{"SELECT ks.t ok", 3},
                               {"INSERT ks.t ok", 2},
                               {"SELECT ks.t read_timeout", 1},
                               {"SELECT ks.t no_answer", 1},
                               {"SELECT other.t ok", 1}}));
  EXPECT_EQ(metrics_.Latencies(LatencyKind::kRead).buckets[3], 6u);
  EXPECT_EQ(metrics_.Latencies(LatencyKind::kRead).sum_nanos, 18'000u);
  EXPECT_EQ(metrics_.Latencies(LatencyKind::kWrite).buckets[3], 2u);
  EXPECT_EQ(metrics_.LatenciesByLoop(LatencyKind::kWrite)[1].buckets[3], 1u);
}

TEST_F(RequestMetricsTest, WhatComesAgainIsNotCounted) {
  protocol::Query query;
  query.query = "SELECT * FROM ks.t";
  protocol::Request request;
  request.message = query;
  std::vector<execute::RequestView> views(2);
  views[0].Begin(protocol::FrameHeader(), request);
  views[0].Postpone();
  views[1].Begin(protocol::FrameHeader(), request);
  views[1].Defer(execute::Deferral::kLarge);
  metrics_.Note(views, client_, statements_, nanoseconds(1));
  EXPECT_EQ(Counted(), Counts());
}

TEST_F(RequestMetricsTest, TablesThatComeTooLateAreCountedTogether) {
  for (size_t i = 0; i < RequestMetrics::kSeriesMax + 10; ++i) {
    Note("SELECT * FROM ks.t" + std::to_string(i), std::chrono::microseconds(1));
  }
  const Counts counts = Counted();
  EXPECT_EQ(counts.size(), RequestMetrics::kSeriesMax + 1);
  EXPECT_EQ(counts.at("SELECT ._others ok"), 10u);
  EXPECT_EQ(metrics_.Latencies(LatencyKind::kRead).buckets[0], RequestMetrics::kSeriesMax + 10);
}

TEST_F(RequestMetricsTest, TextsThatFailMakeNoSeries) {
  for (int i = 0; i < 10; ++i) {
    Note("SELECT * FROM ks.no" + std::to_string(i), std::chrono::microseconds(1),
         CqlErrorCode::kInvalid);
  }
  Note("SELECT * FROM ks.t", std::chrono::microseconds(1));
  Note("SELECT * FROM ks.t", std::chrono::microseconds(1), CqlErrorCode::kInvalid);
  client_.shard = 1;  // that has not seen it yet
  Note("SELECT * FROM ks.t", std::chrono::microseconds(1), CqlErrorCode::kInvalid);
  EXPECT_EQ(
      Counted(),
      (Counts{{"SELECT ._others invalid", 10}, {"SELECT ks.t ok", 1}, {"SELECT ks.t invalid", 2}}));
}

// A page with one series twice is refused whole.
TEST_F(RequestMetricsTest, ATableThatIsCalledLikeTheOthersIsOneOfThem) {
  Note("SELECT * FROM \"_others\"", std::chrono::microseconds(1));
  Note("SELECT * FROM ks.\"_others\"", std::chrono::microseconds(1));
  for (size_t i = 0; i < RequestMetrics::kSeriesMax; ++i) {
    Note("SELECT * FROM ks.t" + std::to_string(i), std::chrono::microseconds(1));
  }
  size_t series = 0;
  for (const RequestCount& count : metrics_.Requests()) {
    if (count.keyspace.empty() && count.table == RequestMetrics::kOthers) ++series;
  }
  EXPECT_EQ(series, 1u);
  EXPECT_EQ(Counted().at("SELECT ._others ok"), 2u);
  EXPECT_EQ(Counted().at("SELECT ks._others ok"), 1u);
}

}  // namespace request_metrics_test
}  // namespace liststore::instruments
