// At the memory limit: writes are refused whole, with their views; whatever is there can be deleted,
// and what it took can be written again.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/hostile/hostile_session_test.h"

namespace liststore::testing {
namespace memory_limit_test {

constexpr int64_t kLimitBytes = int64_t{64} << 20;

class MemoryLimit : public HostileTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.client_timestamps = CqlServerOptions::ClientTimestamps::kHonour;
    StartServer(options, "k");
  }

  int64_t HeldBytes() {
    return cql::DecodeInteger(
        Cell("SELECT bytes FROM liststore.memory WHERE kind = 'rows' AND name = 'all'"));
  }
  size_t Rows(const std::string& table) {
    return static_cast<size_t>(cql::DecodeInteger(Cell("SELECT count(*) FROM k." + table)));
  }
  std::string Insert(const std::string& table, int p, const std::string& blob) {
    return Refusal({"INSERT INTO k." + table + " (p, w, v) VALUES (?, 1, ?)",
                    {{cql::EncodeInt(p)}, {blob}},
                    true});
  }
  // Until the first that is refused; how many went in.
  int Fill(const std::string& table, const std::string& blob) {
    int rows = 0;
    std::string refusal;
    while ((refusal = Insert(table, rows, blob)).empty() && rows < 1'000'000) ++rows;
    EXPECT_NE(refusal.find("memory limit"), std::string::npos) << refusal;
    return rows;
  }
};

TEST_F(MemoryLimit, CountsTheRowsOfViewsBeforeTheWrite) {
  constexpr int kViews = 20;
  Must("CREATE TABLE k.t (p int PRIMARY KEY, w int, v blob, n int)");
  Must("CREATE TABLE k.other (p int PRIMARY KEY, w int, v blob)");
  for (int i = 0; i < kViews; ++i) {
    Must("CREATE MATERIALIZED VIEW k.m" + std::to_string(i) +
         " AS SELECT * FROM k.t WHERE w IS NOT NULL AND p IS NOT NULL PRIMARY KEY (w, p)");
  }
  const std::string blob(kMiB, 'x');
  ASSERT_EQ(Insert("t", 1, blob), "");
  const int others = Fill("other", blob);
  EXPECT_LE(HeldBytes(), kLimitBytes);
  // One more row takes 21 of what there is not even one of.
  for (int p = 2; p < 5; ++p) {
    for (int room = 0; room < p; ++room) {
      Must("DELETE FROM k.other WHERE p = " + std::to_string(3 * p + room));
    }
    EXPECT_NE(Insert("t", p, blob).find("memory limit"), std::string::npos);
    EXPECT_LE(HeldBytes(), kLimitBytes);
  }
  // What takes the place of what is there goes in.
  Must("UPDATE k.t SET n = 7 WHERE p = 1");
  Must("UPDATE k.t SET w = 2 WHERE p = 1");
  EXPECT_LE(HeldBytes(), kLimitBytes);
  EXPECT_EQ(Rows("t"), 1u);
  for (int i = 0; i < kViews; ++i) {
    const std::string view = "m" + std::to_string(i);
    EXPECT_EQ(Rows(view), 1u);
    EXPECT_EQ(cql::DecodeInteger(Cell("SELECT n FROM k." + view + " WHERE w = 2")), 7);
  }
  EXPECT_EQ(Rows("other"), static_cast<size_t>(others - 9));
  // And what is small goes in beside it.
  for (int p = 10; p < 20; ++p) EXPECT_EQ(Insert("t", p, std::string(100, 'x')), "");
  EXPECT_EQ(Rows("m7"), 11u);
  Must("TRUNCATE k.t");
  EXPECT_EQ(Insert("t", 1, blob), "");
}

TEST_F(MemoryLimit, EverythingCanBeDeleted) {
  for (const bool of_client : {false, true}) {
    int64_t timestamp = 0;
    const auto at = [&] {
      return of_client ? " USING TIMESTAMP " + std::to_string(++timestamp + 1'000'000) : "";
    };
    for (const std::string where : {"p = ", "p = * AND c = 1", "p = * AND c > 0"}) {
      SCOPED_TRACE(where + (of_client ? " at the client's time" : ""));
      Must("CREATE TABLE k.t (p int, c int, v blob, PRIMARY KEY (p, c))");
      const std::string blob(100'000, 'x');
      const std::string insert = "INSERT INTO k.t (p, c, v) VALUES (?, 1, ?)";
      const auto write = [&](int p) {
        const std::string using_timestamp = of_client ? " USING TIMESTAMP 1" : "";
        return Refusal({insert + using_timestamp, {{cql::EncodeInt(p)}, {blob}}, true});
      };
      int rows = 0;
      std::string refusal;
      while ((refusal = write(rows)).empty() && rows < 10'000) ++rows;
      ASSERT_NE(refusal.find("memory limit"), std::string::npos) << refusal;
      ASSERT_GT(rows, 300);
      const int64_t full = HeldBytes();
      for (int p = 0; p < 200; ++p) {
        std::string text = where;
        const size_t star = text.find('*');
        const std::string number = std::to_string(p);
        star == std::string::npos ? text += number : text.replace(star, 1, number);
        ASSERT_EQ(Refusal("DELETE FROM k.t" + at() + " WHERE " + text), "") << p;
      }
      EXPECT_EQ(Rows("t"), static_cast<size_t>(rows - 200));
      EXPECT_LT(HeldBytes(), full - 200 * 90'000) << "memory comes back";
      for (int p = 10'000; p < 10'150; ++p) ASSERT_EQ(write(p), "") << p;
      Must("TRUNCATE k.t");
      ASSERT_EQ(write(1), "");
      while (write(++rows).empty()) {
      }
      Must("DROP TABLE k.t");
    }
  }
}

}  // namespace memory_limit_test
}  // namespace liststore::testing
