#include "engine/execute/statement_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace liststore::testing {
namespace statement_cache_test {

// An id that begins with `first`: memos look at it.
std::string Id(char first, char last) {
  std::string id(execute::kStatementIdBytes, last);
  id[0] = first;
  return id;
}

const execute::PreparedStatement* PutStatement(execute::StatementCache& cache,
                                               const std::string& id, size_t bytes = 1) {
  auto statement = std::make_shared<execute::PreparedStatement>();
  statement->id = id;
  statement->bytes = bytes;
  const execute::PreparedStatement* const put = statement.get();
  EXPECT_TRUE(cache.Put(std::move(statement)));
  return put;
}

TEST(StatementCache, HoldsSoManyBytes) {
  execute::StatementCache cache;
  constexpr size_t kQuarter = execute::StatementCache::kBytesMax / 4;
  for (const char id : {'a', 'b', 'c', 'd'}) PutStatement(cache, Id(id, 'x'), kQuarter);
  EXPECT_EQ(cache.bytes(), execute::StatementCache::kBytesMax);
  EXPECT_EQ(cache.size(), 4u);
  PutStatement(cache, Id('e', 'x'), 1);
  EXPECT_EQ(cache.bytes(), 3 * kQuarter + 1);
  EXPECT_EQ(cache.Find(Id('a', 'x')), nullptr);
  EXPECT_NE(cache.Find(Id('b', 'x')), nullptr);
  // Prepared again, larger: what it was does not count.
  PutStatement(cache, Id('b', 'x'), 2 * kQuarter - 1);
  EXPECT_EQ(cache.bytes(), execute::StatementCache::kBytesMax);
  EXPECT_EQ(cache.size(), 4u);
  cache.Drop(Id('b', 'x'));
  EXPECT_EQ(cache.bytes(), 2 * kQuarter + 1);
  PutStatement(cache, Id('f', 'x'), execute::StatementCache::kBytesMax);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(StatementCache, RefusesWhatIsLargerThanAllMayBe) {
  execute::StatementCache cache;
  PutStatement(cache, Id('a', 'x'));
  auto statement = std::make_shared<execute::PreparedStatement>();
  statement->id = Id('b', 'x');
  statement->bytes = execute::StatementCache::kBytesMax + 1;
  EXPECT_FALSE(cache.Put(std::move(statement)));
  EXPECT_EQ(cache.size(), 1u) << "nothing has gone for it";
}

TEST(StatementCache, WhatIsUsedStays) {
  execute::StatementCache cache;
  PutStatement(cache, "used");
  for (size_t i = 0; i < 2 * execute::StatementCache::kStatementsMax; ++i) {
    PutStatement(cache, std::to_string(i));
    if (i % 1'000 == 0) {
      ASSERT_NE(cache.Find("used"), nullptr) << i;
    }
  }
  EXPECT_EQ(cache.size(), execute::StatementCache::kStatementsMax);
  EXPECT_EQ(cache.Find("0"), nullptr);
}

// However it was executed: by the cache, or by a memo that needed no look.
TEST(StatementCache, WhatIsPreparedAndNeverUsedAgainPushesOutNothingElse) {
  execute::StatementCache cache;
  execute::StatementMemo memo;
  PutStatement(cache, Id('a', 'x'));
  PutStatement(cache, Id('b', 'x'));
  PutStatement(cache, Id('c', 'x'));
  for (int i = 0; i < 2; ++i) {
    ASSERT_NE(cache.Find(Id('a', 'x')), nullptr);
    ASSERT_NE(memo.Find(cache, Id('b', 'x')), nullptr);
  }
  for (size_t i = 0; i < 3 * execute::StatementCache::kStatementsMax; ++i) {
    const std::string id = std::to_string(i);
    PutStatement(cache, id);
    ASSERT_NE(cache.Find(id), nullptr);
  }
  EXPECT_EQ(cache.size(), execute::StatementCache::kStatementsMax);
  EXPECT_NE(cache.Find(Id('a', 'x')), nullptr);
  EXPECT_NE(memo.Find(cache, Id('b', 'x')), nullptr);
  EXPECT_EQ(cache.Find(Id('c', 'x')), nullptr) << "nobody has executed it";
  // The same in bytes; the second time that it is prepared changes nothing.
  PutStatement(cache, Id('a', 'x'), 10);
  EXPECT_NE(cache.Find(Id('a', 'x')), nullptr);
  for (size_t i = 0; i < 100; ++i) {
    PutStatement(cache, "large " + std::to_string(i), execute::StatementCache::kBytesMax / 10);
  }
  EXPECT_NE(cache.Find(Id('a', 'x')), nullptr);
  EXPECT_NE(memo.Find(cache, Id('b', 'x')), nullptr);
  EXPECT_LE(cache.bytes(), execute::StatementCache::kBytesMax);
}

// Those in use have three quarters of all: others can still be prepared and executed.
TEST(StatementCache, WhatIsUsedLeavesRoom) {
  execute::StatementCache cache;
  for (size_t i = 0; i < 2 * execute::StatementCache::kStatementsMax; ++i) {
    const std::string id = std::to_string(i);
    PutStatement(cache, id);
    for (int use = 0; use < 3; ++use) ASSERT_NE(cache.Find(id), nullptr);
  }
  EXPECT_EQ(cache.size(), execute::StatementCache::kStatementsMax);
  EXPECT_NE(cache.Find(std::to_string(2 * execute::StatementCache::kStatementsMax - 1)), nullptr);
  EXPECT_EQ(cache.Find("0"), nullptr);
  PutStatement(cache, "large", execute::StatementCache::kBytesMax);
  EXPECT_EQ(cache.size(), 1u);
  for (int use = 0; use < 3; ++use) EXPECT_NE(cache.Find("large"), nullptr);
  PutStatement(cache, "other");
  EXPECT_EQ(cache.size(), 1u);
}

TEST(StatementMemo, FindsWhatTheCacheFinds) {
  execute::StatementCache cache;
  execute::StatementMemo memo;
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')), nullptr);
  EXPECT_EQ(memo.Find(cache, ""), nullptr);
  const auto* const first = PutStatement(cache, Id('a', 'x'));
  const auto* const second = PutStatement(cache, Id('a', 'y'));
  const auto* const third = PutStatement(cache, Id('b', 'x'));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(memo.Find(cache, Id('a', 'x')), first);
    EXPECT_EQ(memo.Find(cache, Id('a', 'y')), second) << "at the same place";
    EXPECT_EQ(memo.Find(cache, Id('b', 'x')), third);
    EXPECT_EQ(memo.Find(cache, Id('b', 'y')), nullptr);
  }
}

TEST(StatementCache, CountsLookUpsByWhatTheyFind) {
  execute::StatementCache cache;
  PutStatement(cache, Id('a', 'x'));
  EXPECT_EQ(cache.lookups().hits, 0u);
  execute::StatementMemo memo;
  for (int i = 0; i < 5; ++i) {
    EXPECT_NE(memo.Find(cache, Id('a', 'x')), nullptr);
    memo.EndTurn();
  }
  EXPECT_EQ(cache.lookups().hits, 1u) << "then the memo has it";
  EXPECT_EQ(cache.Find(Id('b', 'x')), nullptr);
  EXPECT_EQ(cache.lookups().hits, 1u);
  EXPECT_EQ(cache.lookups().misses, 0u) << "to look is not to answer";
  cache.NoteMiss();
  EXPECT_EQ(cache.lookups().misses, 1u);
}

TEST(StatementMemo, ForgetsWhatTheCacheHasDropped) {
  execute::StatementCache cache;
  execute::StatementMemo memo;
  PutStatement(cache, Id('a', 'x'));
  const auto* const other = PutStatement(cache, Id('b', 'x'));
  EXPECT_NE(memo.Find(cache, Id('a', 'x')), nullptr);
  EXPECT_EQ(memo.Find(cache, Id('b', 'x')), other);
  cache.Drop(Id('a', 'x'));
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')), nullptr);
  EXPECT_EQ(memo.Find(cache, Id('b', 'x')), other);
  // Prepared again, and once more: the last one counts.
  const auto* const again = PutStatement(cache, Id('a', 'x'));
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')), again);
  const auto* const replaced = PutStatement(cache, Id('a', 'x'));
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')), replaced);
}

TEST(StatementMemo, ForgetsWhatHadToGoForOthers) {
  execute::StatementCache cache;
  execute::StatementMemo memo;
  PutStatement(cache, Id('a', 'x'));
  EXPECT_NE(memo.Find(cache, Id('a', 'x')), nullptr);
  for (size_t i = 0; i < execute::StatementCache::kStatementsMax; ++i) {
    PutStatement(cache, "statement " + std::to_string(i));
  }
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')), nullptr);
}

TEST(StatementMemo, HoldsWhatItHasFoundUntilTheTurnEnds) {
  execute::StatementCache cache;
  execute::StatementMemo memo;
  const auto* const first = PutStatement(cache, Id('a', 'x'));
  PutStatement(cache, Id('a', 'y'));
  const execute::PreparedStatement* const found = memo.Find(cache, Id('a', 'x'));
  const std::weak_ptr<const cql::PlannedStatement> held = found->weak_from_this();
  cache.Drop(Id('a', 'x'));
  EXPECT_NE(memo.Find(cache, Id('a', 'y')), nullptr) << "at the same place";
  EXPECT_EQ(held.lock().get(), first);
  memo.EndTurn();
  EXPECT_TRUE(held.expired());
}

TEST(StatementMemo, DoesNotHoldLargeStatements) {
  execute::StatementCache cache;
  execute::StatementMemo memo;
  auto statement = std::make_shared<execute::PreparedStatement>();
  statement->id = Id('a', 'x');
  statement->bytes = 1 << 20;
  const std::weak_ptr<const execute::PreparedStatement> large = statement;
  EXPECT_TRUE(cache.Put(std::move(statement)));
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')), large.lock().get());
  cache.Drop(Id('a', 'x'));
  EXPECT_FALSE(large.expired()) << "in this turn it is held";
  memo.EndTurn();
  EXPECT_TRUE(large.expired());
}

}  // namespace statement_cache_test
}  // namespace liststore::testing
