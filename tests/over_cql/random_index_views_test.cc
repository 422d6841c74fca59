// Views of indexes beside the table that they follow from: random writes, and after some of them
// each view against what the table's own rows say, whole, by partitions and in pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/random.h"
#include "engine/cql/values/encode_value.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace random_index_views_test {

constexpr int kValues = 4;
constexpr uint64_t kStepsBetweenChecks = 20;

using Rows = std::vector<ResultRow>;

Rows Sorted(Rows rows) {
  std::ranges::sort(rows);
  return rows;
}

// The values of a collection, a map's keys and values in turn.
std::vector<std::string> PartsOf(const std::string& collection) {
  std::vector<std::string> parts;
  for (size_t at = 4; at < collection.size();) {
    const uint32_t size = LoadBigEndian32(collection.data() + at);
    parts.push_back(collection.substr(at + 4, size));
    at += 4 + size;
  }
  return parts;
}

struct RandomIndex {
  const char* name;
  const char* target;
  const char* columns;  // of its view, but for those whose values are not the table's
  // What the table is read by for the rows that are due.
  const char* select;
  // Of a collection: which of its parts are values, from the first on, each how many parts.
  int first = -1;
  int step = 0;
};

// Sources: ScyllaDB index/secondary_index_manager.cc, create_view_for_index; schema/schema.cc,
// collection_column_computation. The indexed value comes first.
constexpr RandomIndex kIndexes[] = {
    {"by_v", "v", "v, idx_token, p, q, c, d", "v, token(p, q), p, q, c, d"},
    {"by_d", "d", "d, idx_token, p, q, c", "d, token(p, q), p, q, c"},
    {"by_q", "q", "q, idx_token, p, c, d", "q, token(p, q), p, c, d"},
    {"of_v", "(p, q), v", "v, p, q, c, d", "v, p, q, c, d"},
    {"of_c", "(p, q), c", "c, p, q, d", "c, p, q, d"},
    {"by_s", "s", "s, idx_token, p, q", "DISTINCT s, token(p, q), p, q"},
    {"by_f", "full(f)", "f, idx_token, p, q, c, d", "f, token(p, q), p, q, c, d"},
    {"by_l", "l", "coll_value, idx_token, p, q, c, d", "l, token(p, q), p, q, c, d", 0, 1},
    {"by_m", "m", "coll_value, idx_token, p, q, c, d", "m, token(p, q), p, q, c, d", 1, 2},
    {"by_k", "keys(m)", "coll_value, idx_token, p, q, c, d", "m, token(p, q), p, q, c, d", 0, 2},
    {"by_e", "e", "coll_value, idx_token, p, q, c, d", "e, token(p, q), p, q, c, d", 0, 1},
};

class RandomIndexViews : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    Say("CREATE TABLE t (p int, q int, c int, d int, s int static, v int, f frozen<list<int>>, "
        "l list<int>, m map<int, int>, e set<int>, PRIMARY KEY ((p, q), c, d)) "
        "WITH CLUSTERING ORDER BY (c DESC, d ASC)");
    for (const RandomIndex& index : kIndexes) {
      EXPECT_EQ(Say("CREATE INDEX " + std::string(index.name) + " ON t(" + index.target + ")"), "");
    }
  }

  std::string Number() { return std::to_string(random_.Below(kValues)); }
  std::string Partition() { return "p = " + Number() + " AND q = " + Number(); }
  std::string Row() { return Partition() + " AND c = " + Number() + " AND d = " + Number(); }
  std::string Ttl() {
    return random_.OneIn(4) ? " USING TTL " + std::to_string(1 + random_.Below(3)) : "";
  }

  std::string Write() {
    switch (random_.Below(12)) {
      case 0:
        return "INSERT INTO t (p, q, c, d) VALUES (" + Number() + ", " + Number() + ", " +
               Number() + ", " + Number() + ")" + Ttl();
      case 1:
        return "UPDATE t" + Ttl() + " SET s = " + Number() + " WHERE " + Partition();
      case 2:
        return "UPDATE t SET v = null WHERE " + Row();
      case 3:
        return "DELETE FROM t WHERE " + Row();
      case 4:
        return "DELETE FROM t WHERE " + Partition() + (random_.OneIn(2) ? " AND c < 2" : "");
      case 5:
        return "UPDATE t" + Ttl() + " SET l = l + [" + Number() + ", " + Number() + "] WHERE " +
               Row();
      case 6:
        return "UPDATE t" + Ttl() + " SET m[" + Number() + "] = " + Number() + " WHERE " + Row();
      case 7:
        return "UPDATE t SET e = {" + Number() + ", " + Number() + "}, l = [" + Number() +
               "] WHERE " + Row();
      case 8:
        return "UPDATE t SET e = e - {" + Number() + "}, m = m - {" + Number() + "} WHERE " + Row();
      case 9:
        return "UPDATE t SET f = [" + Number() + "] WHERE " + Row();
      default:
        return "UPDATE t" + Ttl() + " SET v = " + Number() + " WHERE " + Row();
    }
  }

  // What the view of the index has to show, by the table.
  Rows Due(const RandomIndex& index) {
    Rows due;
    for (ResultRow row : Must("SELECT " + std::string(index.select) + " FROM t").rows) {
      // A key column's, of a partition without rows.
      if (std::ranges::any_of(row, [](const auto& value) { return !value; })) continue;
      if (index.step == 0) {
        due.push_back(std::move(row));
        continue;
      }
      const std::vector<std::string> parts = PartsOf(*row[0]);
      for (size_t i = static_cast<size_t>(index.first); i < parts.size();
           i += static_cast<size_t>(index.step)) {
        row[0] = parts[i];
        due.push_back(row);
      }
    }
    return Sorted(std::move(due));
  }

  Rows InPages(const std::string& select, int32_t page_size) {
    Rows rows;
    CqlParameters parameters{page_size, {}, {}};
    do {
      const CqlAnswer page = Must(CqlStatement{select, {}, /*prepared=*/true}, parameters);
      EXPECT_LE(page.rows.size(), static_cast<size_t>(page_size));
      rows.insert(rows.end(), page.rows.begin(), page.rows.end());
      parameters.paging_state = page.paging_state;
    } while (!parameters.paging_state.empty());
    return rows;
  }
  void CheckPages(const std::string& select) {
    const Rows whole = Must(select).rows;
    const auto page_size = static_cast<int32_t>(random_.Between(1, 5));
    EXPECT_EQ(InPages(select, page_size), whole) << select << " by " << page_size;
  }

  void Check(const RandomIndex& index) {
    const std::string view = std::string(index.name) + "_index";
    const std::string select = "SELECT " + std::string(index.columns) + " FROM " + view;
    const Rows due = Due(index);
    EXPECT_EQ(Sorted(Must(select).rows), due);
    EXPECT_EQ(Cell("SELECT count(*) FROM " + view),
              cql::EncodeBigint(static_cast<int64_t>(due.size())));
    CheckPages("SELECT * FROM " + view);
    CheckPages("SELECT * FROM " + view + " PER PARTITION LIMIT 2");
    CheckPages("SELECT * FROM " + view + " WHERE p IN (1, 3) ALLOW FILTERING");
    const bool is_local = index.target[0] == '(';
    const std::string key = is_local ? "p, q" : ColumnsBefore(index.columns);
    CheckPages("SELECT DISTINCT " + key + " FROM " + view);
    for (const ResultRow& row : due) CheckPartition(index, row, due);
  }
  static std::string ColumnsBefore(const std::string& columns) {
    return columns.substr(0, columns.find(','));
  }

  // Those of one partition of the view, in both orders.
  void CheckPartition(const RandomIndex& index, const ResultRow& of, const Rows& due) {
    if (!random_.OneIn(8)) return;
    const bool is_local = index.target[0] == '(';
    std::vector<BoundParameter> key;
    std::string where;
    Rows wanted = due;
    if (is_local) {
      key = {{*of[1]}, {*of[2]}};
      where = " WHERE p = ? AND q = ?";
      std::erase_if(wanted,
                    [&](const ResultRow& row) { return row[1] != of[1] || row[2] != of[2]; });
    } else {
      key.push_back({*of[0]});
      where = " WHERE " + ColumnsBefore(index.columns) + " = ?";
      std::erase_if(wanted, [&](const ResultRow& row) { return row[0] != of[0]; });
    }
    const std::string select =
        "SELECT " + std::string(index.columns) + " FROM " + index.name + "_index" + where;
    Rows found = Must(select, key).rows;
    EXPECT_EQ(Sorted(found), wanted);
    const std::string first = !is_local                                  ? "idx_token"
                              : std::string(index.target).ends_with("c") ? "c"
                                                                         : "v";
    const bool is_descending = first == "c";
    Rows reversed =
        Must(select + " ORDER BY " + first + (is_descending ? " ASC" : " DESC"), key).rows;
    std::ranges::reverse(reversed);
    EXPECT_EQ(reversed, found);
  }

  Random random_{TestSeed()};
};

TEST_F(RandomIndexViews, FollowTheirTable) {
  const uint64_t steps = TestSteps(200);
  for (uint64_t step = 1; step <= steps; ++step) {
    EXPECT_EQ(Say(Write()), "");
    if (random_.OneIn(10)) clock_.AdvanceNanos(1'000'000'000);
    if (step % kStepsBetweenChecks != 0) continue;
    for (const RandomIndex& index : kIndexes) {
      SCOPED_TRACE(std::string(index.name) + " at step " + std::to_string(step));
      Check(index);
      if (HasFailure()) return;
    }
  }
}

}  // namespace random_index_views_test
}  // namespace liststore::testing
