#include "engine/server/statement_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace liststore::testing {
namespace {

// An id that begins with `first`: memos look at it.
std::string Id(char first, char last) {
  std::string id(kStatementIdBytes, last);
  id[0] = first;
  return id;
}

const PreparedStatement* PutStatement(StatementCache& cache, const std::string& id) {
  auto statement = std::make_shared<PreparedStatement>();
  statement->id = id;
  const PreparedStatement* const put = statement.get();
  cache.Put(std::move(statement));
  return put;
}

TEST(StatementMemo, FindsWhatTheCacheFinds) {
  StatementCache cache;
  StatementMemo memo;
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')), nullptr);
  EXPECT_EQ(memo.Find(cache, ""), nullptr);
  const auto* const first = PutStatement(cache, Id('a', 'x'));
  const auto* const second = PutStatement(cache, Id('a', 'y'));
  const auto* const third = PutStatement(cache, Id('b', 'x'));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(memo.Find(cache, Id('a', 'x')).get(), first);
    EXPECT_EQ(memo.Find(cache, Id('a', 'y')).get(), second) << "at the same place";
    EXPECT_EQ(memo.Find(cache, Id('b', 'x')).get(), third);
    EXPECT_EQ(memo.Find(cache, Id('b', 'y')), nullptr);
  }
}

TEST(StatementMemo, ForgetsWhatTheCacheHasDropped) {
  StatementCache cache;
  StatementMemo memo;
  PutStatement(cache, Id('a', 'x'));
  const auto* const other = PutStatement(cache, Id('b', 'x'));
  EXPECT_NE(memo.Find(cache, Id('a', 'x')), nullptr);
  EXPECT_EQ(memo.Find(cache, Id('b', 'x')).get(), other);
  cache.Drop(Id('a', 'x'));
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')), nullptr);
  EXPECT_EQ(memo.Find(cache, Id('b', 'x')).get(), other);
  // Prepared again, and once more: the last one counts.
  const auto* const again = PutStatement(cache, Id('a', 'x'));
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')).get(), again);
  const auto* const replaced = PutStatement(cache, Id('a', 'x'));
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')).get(), replaced);
}

TEST(StatementMemo, ForgetsWhatHadToGoForOthers) {
  StatementCache cache;
  StatementMemo memo;
  PutStatement(cache, Id('a', 'x'));
  EXPECT_NE(memo.Find(cache, Id('a', 'x')), nullptr);
  for (size_t i = 0; i < StatementCache::kStatementsMax; ++i) {
    PutStatement(cache, "statement " + std::to_string(i));
  }
  EXPECT_EQ(memo.Find(cache, Id('a', 'x')), nullptr);
}

}  // namespace
}  // namespace liststore::testing
