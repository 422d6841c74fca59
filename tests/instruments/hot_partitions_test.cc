// Which requests are looked at, and what is made of them. Through a server: over_cql/hot_partitions_test.cc.
#include "engine/instruments/hot_partitions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/cql/schema/computed_table.h"
#include "engine/protocol/request.h"

namespace liststore::instruments {
namespace hot_partitions_test {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

const RequestSampler::Instant kBegin = RequestSampler::Instant() + std::chrono::hours(1);

// ---- Which are looked at

struct Looks {
  uint64_t requests = 0;
  uint64_t samples = 0;
  uint64_t weight = 0;
  uint64_t weight_max = 0;
};

// Groups of `group` requests, `rate` requests a second, for so long.
void Send(RequestSampler& sampler, RequestSampler::Instant& now, size_t group, double rate,
          std::chrono::nanoseconds time, Looks& looks) {
  const auto step =
      std::chrono::nanoseconds(static_cast<int64_t>(1e9 * static_cast<double>(group) / rate));
  for (const auto end = now + time; now < end; now += step) {
    looks.requests += group;
    if (sampler.Pass(group, now)) continue;
    RequestSampler::Samples samples;
    sampler.Choose(group, now, samples);
    uint32_t last = 0;
    for (const RequestSampler::Sample& sample : samples) {
      ASSERT_LT(sample.index, group);
      ASSERT_GE(sample.index, last);
      last = sample.index;
      ++looks.samples;
      looks.weight += sample.weight;
      looks.weight_max = std::max(looks.weight_max, sample.weight);
    }
  }
}

TEST(RequestSamplerTest, TheFirstAreLookedAtOneByOne) {
  RequestSampler sampler(1);
  RequestSampler::Instant now = kBegin;
  Looks looks;
  Send(sampler, now, 16, 100'000, milliseconds(5), looks);
  EXPECT_GE(looks.requests, 500u);
  EXPECT_EQ(looks.samples, looks.requests);
  EXPECT_EQ(looks.weight_max, 1u);
}

// Neither many nor none, whatever the rate, and all requests stand behind them.
TEST(RequestSamplerTest, ThereAreAFewASecondWhateverTheRate) {
  for (const double rate : {10.0, 60.0, 1'000.0, 30'000.0, 700'000.0}) {
    for (const size_t group : {size_t{1}, size_t{64}}) {
      SCOPED_TRACE(std::to_string(rate) + " a second in groups of " + std::to_string(group));
      RequestSampler sampler(7);
      RequestSampler::Instant now = kBegin;
      Looks looks;
      Send(sampler, now, group, rate, seconds(100), looks);
      const auto per_second = static_cast<double>(looks.samples) / 100;
      const double wanted = std::min(RequestSampler::kPerSecondMax,
                                     RequestSampler::kPerSecondMin + rate / RequestSampler::kOneOf);
      EXPECT_LE(per_second, 1.3 * wanted + static_cast<double>(RequestSampler::kBurst) / 100);
      EXPECT_GE(per_second, std::min(rate, 0.7 * wanted));
      EXPECT_LE(looks.weight, looks.requests);
      // What is not accounted for waits for the next one.
      EXPECT_GE(static_cast<double>(looks.weight), 0.98 * static_cast<double>(looks.requests) - 64);
    }
  }
}

// It does not wait for as many requests as came between two when there were more.
TEST(RequestSamplerTest, AfterABusyTimeFewRequestsAreSeenAtOnce) {
  RequestSampler sampler(3);
  RequestSampler::Instant now = kBegin;
  Looks busy, quiet;
  Send(sampler, now, 64, 1'000'000, seconds(10), busy);
  now += seconds(20);
  Send(sampler, now, 1, 5, seconds(10), quiet);
  EXPECT_GE(quiet.samples, 45u);
}

TEST(RequestSamplerTest, WhatComesAgainDoesNotCountTwice) {
  RequestSampler sampler(5);
  uint64_t weight = 0;
  const auto choose = [&](size_t count) {
    RequestSampler::Samples samples;
    sampler.Choose(count, kBegin, samples);
    for (const RequestSampler::Sample& sample : samples) weight += sample.weight;
  };
  choose(20'000);  // from here on there are gaps
  const uint64_t before = weight;
  for (int i = 0; i < 10'000; ++i) {
    if (!sampler.Pass(1, kBegin)) choose(1);
    sampler.TakeBack(1);
  }
  EXPECT_LE(weight, before + 20'000);
  sampler.CarryOn(1'000'000);
  choose(20'000);
  EXPECT_GE(weight, before + 1'000'000);
}

// ---- What they name

class HotPartitionsTest : public ::testing::Test {
 protected:
  HotPartitionsTest() {
    const cql::TableSpec spec = {"ks", "t", "a int", "", "b int", ""};
    auto table = std::make_shared<TableDefinition>(*cql::MakeVirtualDefinition(spec));
    table->is_virtual = false;
    auto keyspace = std::make_shared<KeyspaceDefinition>();
    keyspace->name = "ks";
    keyspace->tables.emplace("t", table);
    auto schema = std::make_shared<Schema>();
    schema->keyspaces.emplace("ks", keyspace);
    schema_ = schema;
  }

  // A group of texts, as a processor deals with them.
  void Handle(const std::vector<std::string>& texts, microseconds took = microseconds(3),
              bool is_over = true) {
    std::vector<protocol::Request> requests(texts.size());
    std::vector<execute::RequestView> views(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      protocol::Query query;
      query.query = texts[i];
      requests[i].message = query;
      views[i].Begin(protocol::FrameHeader(), requests[i]);
    }
    HotPartitions::Samples samples;
    hot_.Choose(views, client_, now_, samples);
    for (execute::RequestView& view : views) {
      view.outcome.answered = true;
      if (!is_over) view.Postpone();
      if (view.keeps_plans()) view.statement().PlanOf(schema_, client_.keyspace, cql::Dialect());
    }
    hot_.Note(views, client_, samples, now_, took);
    for (execute::RequestView& view : views) {
      EXPECT_FALSE(view.keeps_plans());
      EXPECT_EQ(view.statement().kept_plan(), nullptr) << "plans are let go of";
    }
  }
  static std::string Select(uint64_t key) {
    return "SELECT * FROM ks.t WHERE a = " + std::to_string(key);
  }
  static std::string Insert(uint64_t key) {
    return "INSERT INTO ks.t (a, b) VALUES (" + std::to_string(key) + ", 1)";
  }
  // "ks.t 1: 2 reads 3 writes"
  std::vector<std::string> Hottest(size_t count) {
    std::vector<std::string> lines;
    for (const HotPartition& partition : hot_.Report(now_).partitions) {
      if (lines.size() == count) break;
      lines.push_back(partition.keyspace + "." + partition.table + " " +
                      std::to_string(static_cast<int>(partition.key.back())) + ": " +
                      std::to_string(partition.reads) + " reads " +
                      std::to_string(partition.writes) + " writes");
    }
    return lines;
  }

  HotPartitions hot_{2};
  execute::ClientState client_;
  std::shared_ptr<const Schema> schema_;
  HotPartitions::Instant now_ = kBegin;
};

using Lines = std::vector<std::string>;

TEST_F(HotPartitionsTest, ReadsAndWritesAreCountedForWhatTheyName) {
  EXPECT_TRUE(hot_.Report(now_).partitions.empty());
  Handle({Select(1), Insert(1), Select(2), Select(1)}, microseconds(7));
  client_.shard = 1;
  Handle({Select(2), Select(2), "SELECT * FROM ks.t WHERE a IN (1, 3)"});
  client_.place.begun_at = execute::WorkInstant();  // beside the loops
  Handle({Insert(3)});
  EXPECT_EQ(Hottest(9), (Lines{"ks.t 1: 3 reads 1 writes", "ks.t 2: 3 reads 0 writes",
                               "ks.t 3: 1 reads 1 writes"}));
  const HotReport report = hot_.Report(now_);
  EXPECT_EQ(report.requests, 8u);
  EXPECT_EQ(report.looked_at, 8u);
  EXPECT_EQ(report.partitions[0].more_max, 0u);
  EXPECT_EQ(report.partitions[0].longest, microseconds(7));
}

TEST_F(HotPartitionsTest, OthersAreOfNoPartition) {
  Handle({"SELECT * FROM ks.t", "SELECT * FROM ks.no WHERE a = 1", "no statement",
          "CREATE TABLE ks.u (a int PRIMARY KEY)", "SELECT * FROM ks.t WHERE a = ?",
          Select(1) + std::string(5'000, ' ')});
  EXPECT_EQ(Hottest(9), Lines());
  EXPECT_EQ(hot_.Report(now_).requests, 6u);
  Handle({"SELECT key FROM system.local", "SELECT * FROM liststore.requests"});
  EXPECT_EQ(hot_.Report(now_).requests, 6u) << "what is the server's own does not count";
  Handle({Select(1)}, microseconds(1), /*is_over=*/false);
  EXPECT_EQ(hot_.Report(now_).requests, 6u) << "it comes again";
  Handle({Select(1)});
  EXPECT_EQ(hot_.Report(now_).looked_at, 7u);
  EXPECT_EQ(hot_.Report(now_).requests, 7u);
}

TEST_F(HotPartitionsTest, WhatIsOlderThanFiveMinutesIsForgotten) {
  const auto requests = [&] { return hot_.Report(now_).requests; };
  for (int minute = 0; minute < 5; ++minute) {
    Handle({Select(1), Insert(2)});
    now_ += seconds(60);
  }
  EXPECT_EQ(requests(), 8u) << "the first minute has gone with the beginning of the sixth";
  EXPECT_EQ(hot_.Report(now_).span, seconds(240));
  now_ += seconds(59);
  EXPECT_EQ(requests(), 8u);
  EXPECT_EQ(hot_.Report(now_).span, seconds(299));
  now_ += seconds(61);
  EXPECT_EQ(requests(), 4u);
  EXPECT_EQ(Hottest(1), Lines{"ks.t 1: 2 reads 0 writes"});
  now_ += seconds(3'600);
  EXPECT_EQ(requests(), 0u);
  EXPECT_TRUE(hot_.Report(now_).partitions.empty());
  Handle({Insert(5)});
  EXPECT_EQ(Hottest(9), Lines{"ks.t 5: 0 reads 1 writes"});
  hot_.Reset();
  EXPECT_TRUE(hot_.Report(now_).partitions.empty());
}

// Many partitions, a million requests, of which few are looked at: what is said of the hottest is as near
// as chance allows, and memory is bounded.
TEST_F(HotPartitionsTest, OfAZipfStreamTheHottestAreKnownNearly) {
  constexpr uint64_t kKeys = 20'000;
  constexpr size_t kGroup = 64;
  std::vector<double> sums(kKeys);
  double sum = 0;
  for (uint64_t i = 0; i < kKeys; ++i)
    sums[i] = sum += 1 / std::pow(static_cast<double>(i + 1), 1.1);
  Random random(41);
  std::vector<uint64_t> exact(kKeys);
  uint64_t all = 0;
  const size_t bytes_before = hot_.bytes();
  // 4 minutes of 5,000 a second.
  std::vector<std::string> texts(kGroup);
  for (const auto end = now_ + seconds(240); now_ < end; now_ += microseconds(200) * kGroup) {
    for (std::string& text : texts) {
      const auto key = static_cast<uint64_t>(
          std::ranges::lower_bound(sums, random.Fraction() * sum) - sums.begin());
      ++exact[key];
      text = Select(key);
    }
    all += kGroup;
    Handle(texts);
  }
  const HotReport report = hot_.Report(now_);
  EXPECT_NEAR(static_cast<double>(report.requests), static_cast<double>(all),
              0.01 * static_cast<double>(all));
  EXPECT_GE(report.looked_at, 240u * 17);
  EXPECT_LE(report.looked_at, 240u * 31 + 1024);
  ASSERT_EQ(report.partitions.size(), HotPartitions::kShown);
  for (size_t rank = 0; rank < 8; ++rank) {
    const HotPartition& partition = report.partitions[rank];
    uint64_t key = 0;
    for (const char byte : partition.key) key = key << 8 | static_cast<unsigned char>(byte);
    ASSERT_LT(key, 16u) << "rank " << rank + 1;
    const auto share = static_cast<double>(exact[key]) / static_cast<double>(all);
    const auto seen = static_cast<double>(partition.reads) / static_cast<double>(report.requests);
    // Five times what chance does, weights that differ by half included.
    const double deviation = std::sqrt(share * 1.5 / static_cast<double>(report.looked_at));
    EXPECT_NEAR(seen, share, 5 * deviation) << "key " << key;
  }
  EXPECT_LT(hot_.bytes(), bytes_before + (size_t{300} << 10));
}

}  // namespace hot_partitions_test
}  // namespace liststore::instruments
