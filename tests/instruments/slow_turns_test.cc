#include "engine/instruments/slow_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "engine/protocol/request.h"
#include "liststore/clock.h"

namespace liststore::testing {
namespace slow_turns_test {

using instruments::SlowTurn;
using instruments::SlowTurnHandler;
using instruments::SlowTurns;
using Steady = std::chrono::steady_clock;

constexpr uint64_t kNow = 1'700'000'000'000'000'000;

class WorkingHandler final : public execute::RequestHandler {
 public:
  explicit WorkingHandler(std::chrono::nanoseconds time) : time_(time) {}

  execute::ConnectionOrders Handle(std::span<execute::RequestView> /*requests*/,
                                   execute::ClientState& /*client*/,
                                   OutputBuffer& /*out*/) override {
    const auto begin = Steady::now();
    while (Steady::now() - begin < time_) {
    }
    return {};
  }

 private:
  const std::chrono::nanoseconds time_;
};

class SlowTurnsTest : public ::testing::Test {
 protected:
  void AddQuery(std::string_view text) {
    protocol::Request& request = messages_.emplace_back();
    request.message = protocol::Query{text, {}};
  }
  std::vector<execute::RequestView> Views() {
    std::vector<execute::RequestView> views;
    for (const protocol::Request& message : messages_) {
      views.emplace_back(protocol::FrameHeader{}, message);
    }
    return views;
  }
  std::string Describe(std::string_view keyspace) {
    std::vector<execute::RequestView> views = Views();
    return instruments::DescribeRequests(views, keyspace);
  }
  void Note(std::chrono::nanoseconds time, uint32_t loop, const std::string& text) {
    turns_.NoteEnd(Steady::now() - time, [&] { return SlowTurns::Work{loop, text}; });
  }

  ManualClock clock_{kNow};
  SlowTurns turns_{clock_};
  std::deque<protocol::Request> messages_;
  std::deque<std::string> kept_;
};

TEST_F(SlowTurnsTest, WhatIsShortIsNotKeptNorDescribed) {
  turns_.NoteEnd(Steady::now() + std::chrono::seconds(1), []() -> SlowTurns::Work {
    ADD_FAILURE() << "nobody is to ask";
    return {};
  });
  EXPECT_EQ(turns_.count(), 0u);
  EXPECT_TRUE(turns_.Recent().empty());
}

TEST_F(SlowTurnsTest, WhatIsLongIsKeptNewestFirst) {
  Note(std::chrono::milliseconds(2), 0, "first");
  clock_.AdvanceNanos(5'000'000);
  Note(std::chrono::milliseconds(30), 1, "second");
  const std::vector<SlowTurn> turns = turns_.Recent();
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].work, "second");
  EXPECT_EQ(turns[0].number, 2u);
  EXPECT_EQ(turns[0].loop, 1u);
  EXPECT_EQ(turns[0].at_nanos, kNow + 5'000'000);
  EXPECT_GE(turns[0].took_nanos, 30'000'000u);
  EXPECT_LE(turns[0].waited_nanos, turns[0].took_nanos);
  EXPECT_EQ(turns[1].work, "first");
  EXPECT_GE(turns[1].took_nanos, 2'000'000u);
}

TEST_F(SlowTurnsTest, OldOnesGoAndAreCounted) {
  // A loop describes some in a second: as many loops as it takes.
  for (size_t i = 0; i < SlowTurns::kKept + 10; ++i) {
    std::thread([&] { Note(std::chrono::milliseconds(1), 0, std::to_string(i)); }).join();
  }
  EXPECT_EQ(turns_.count(), SlowTurns::kKept + 10);
  const std::vector<SlowTurn> turns = turns_.Recent();
  ASSERT_EQ(turns.size(), SlowTurns::kKept);
  EXPECT_EQ(turns.front().work, std::to_string(SlowTurns::kKept + 9));
  EXPECT_EQ(turns.back().work, "10");
}

TEST_F(SlowTurnsTest, OfManyInASecondSomeAreDescribedAndAllCounted) {
  std::thread([&] {
    const auto end = Steady::now() + std::chrono::seconds(2);
    size_t noted = 0;
    // Until the machine has let it be quick: within one second, or over the end of one.
    while (noted < 200 && Steady::now() < end) {
      Note(std::chrono::milliseconds(1), 0, std::to_string(noted++));
    }
    EXPECT_EQ(turns_.count(), noted);
    EXPECT_LE(turns_.Recent().size(), 3u * SlowTurns::kDescribedPerSecond);
    EXPECT_GE(turns_.Recent().size(), size_t{SlowTurns::kDescribedPerSecond});
  }).join();
}

TEST_F(SlowTurnsTest, RequestsAreDescribedByKindAndTable) {
  AddQuery("SELECT * FROM feat.clicks WHERE user = 'secret'");
  EXPECT_EQ(Describe(""), "1 request: 1 QUERY feat.clicks");
  AddQuery("SELECT * FROM shown");
  AddQuery("SELECT * FROM shown WHERE user = 'b'");
  AddQuery("no statement at all");
  EXPECT_EQ(Describe("feat"), "4 requests: 2 QUERY feat.shown, 1 QUERY, 1 QUERY feat.clicks");
  for (const char* table : {"a", "b", "c"}) {
    AddQuery(std::string_view(kept_.emplace_back(std::string("SELECT * FROM feat.") + table)));
  }
  EXPECT_EQ(Describe("feat"),
            "7 requests: 2 QUERY feat.shown, 1 QUERY, 1 QUERY feat.a, 1 QUERY feat.b, 2 others");
}

TEST_F(SlowTurnsTest, AHandlerThatTakesLongOnItsLoopIsNoted) {
  WorkingHandler works(std::chrono::milliseconds(2));
  const execute::StatementCache statements;
  instruments::HotPartitions hot(4);
  SlowTurnHandler handler(turns_, hot, nullptr, nullptr, statements, works);
  AddQuery("SELECT * FROM feat.clicks");
  execute::ClientState client;
  client.shard = 3;
  std::vector<execute::RequestView> views = Views();
  OutputBuffer out;
  handler.Handle(views, client, out);
  ASSERT_EQ(turns_.Recent().size(), 1u);
  EXPECT_EQ(turns_.Recent()[0].work, "1 request: 1 QUERY feat.clicks");
  EXPECT_EQ(turns_.Recent()[0].loop, 3u);
  // Beside the loops it keeps nobody waiting.
  client.place.begun_at = Steady::now();
  handler.Handle(views, client, out);
  EXPECT_EQ(turns_.count(), 1u);
}

TEST_F(SlowTurnsTest, TheTableHasARowForEach) {
  Note(std::chrono::milliseconds(7), 1, "memory given back");
  const auto table = instruments::MakeSlowTurnsTable(turns_);
  const Schema schema;
  const cql::NodeFacts node;
  const std::vector<cql::VirtualRow> rows = table->Rows({schema, node, {}, kNow});
  ASSERT_EQ(rows.size(), 1u);
  // In the order of the definition: keys first, then by name.
  EXPECT_EQ(rows[0][0], cql::EncodeInt(1));
  EXPECT_EQ(rows[0][1], cql::EncodeBigint(1));
  const auto has = [&](const std::string& value) {
    return std::ranges::find(rows[0], std::optional(value)) != rows[0].end();
  };
  EXPECT_TRUE(has(cql::EncodeBigint(kNow / 1'000'000)));
  EXPECT_TRUE(has("memory given back"));
}

}  // namespace slow_turns_test
}  // namespace liststore::testing
