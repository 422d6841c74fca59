// Rows that would be larger than a row may be: named, and nothing of the statement is applied.
#include <string>
#include <vector>

#include "tests/hostile/hostile_session_test.h"

namespace liststore::testing {
namespace large_rows_test {

constexpr int kColumns = 215;

class LargeRows : public HostileTest {
 protected:
  void SetUp() override {
    StartServer(CqlServerOptions(), "k");
    std::string columns;
    for (int i = 0; i < kColumns; ++i) columns += ", v" + std::to_string(i) + " blob";
    Must("CREATE TABLE k.t (p int PRIMARY KEY, w int" + columns + ")");
    Must("CREATE TABLE k.s (p int, c int, s map<int, blob> STATIC, v blob, PRIMARY KEY (p, c))");
    Must("INSERT INTO k.t (p, w, v0) VALUES (1, 1, 0x00)");
  }

  // What sets all columns to the one value that is bound.
  static std::string SetAll() {
    std::string text;
    for (int i = 0; i < kColumns; ++i) text += (i == 0 ? "v" : ", v") + std::to_string(i) + " = :v";
    return text;
  }
  static std::string TooLarge(uint64_t bytes) {
    return "The write was refused and nothing of it applied: a row of " + std::to_string(bytes) +
           " bytes exceeds the 209715200 bytes that a row may have: keep a part of it in other "
           "rows";
  }
  void ExpectRefused(const CqlAnswer& answer, uint64_t bytes) {
    EXPECT_EQ(answer.error, TooLarge(bytes));
    EXPECT_EQ(answer.code, 0x2200);
    EXPECT_EQ(Cell("SELECT v0 FROM k.t WHERE p = 1"), std::string(1, '\0'));
    EXPECT_EQ(Must("SELECT p FROM k.t").rows.size(), 1u);
    EXPECT_TRUE(Must("SELECT p FROM k.s").rows.empty());
  }

  const std::string value_ = std::string(kMiB, 'v');
  const uint64_t bytes_ = kColumns * (kMiB + 27) + (4 + 27) + 41;  // with w
};

TEST_F(LargeRows, AreRefusedWithTheirSizeAndTheLimit) {
  const CqlStatement update{"UPDATE k.t SET " + SetAll() + " WHERE p = 1", {{value_, false, "v"}}};
  ExpectRefused(session_->Run(update), bytes_);
  CqlStatement prepared = update;
  prepared.prepared = true;
  ExpectRefused(session_->Run(prepared), bytes_);
  CqlStatement conditional = update;
  conditional.text += " IF v0 = 0x00";
  ExpectRefused(session_->Run(conditional), bytes_);
  // Its views are not touched either.
  Must(
      "CREATE MATERIALIZED VIEW k.m AS SELECT * FROM k.t WHERE w IS NOT NULL AND p IS NOT NULL "
      "PRIMARY KEY (w, p)");
  ExpectRefused(session_->Run(update), bytes_);
  EXPECT_EQ(Must("SELECT p FROM k.m").rows.size(), 1u);
}

// The same of 20 MiB a value, which is more than lengths of 32 bits count.
TEST_F(LargeRows, AreRefusedBeyondFourGigabytes) {
  const PeakMemory memory;
  const CqlStatement update{"UPDATE k.t SET " + SetAll() + " WHERE p = 1",
                            {{std::string(20 * kMiB, 'v'), false, "v"}}};
  ExpectRefused(session_->Run(update), kColumns * (20 * kMiB + 27) + (4 + 27) + 41);
  EXPECT_LT(memory.judged_bytes(), 300 * kMiB) << "the row was not put together";
}

// Of each lane that one came to, and of each thread.
TEST_F(LargeRows, LeaveNothingBehind) {
  Must("CREATE TABLE k.w (p int PRIMARY KEY, v blob, w blob)");
  const std::string value(10 * kMiB, 'v');
  // The client's own buffers have grown by then.
  Must("INSERT INTO k.w (p, v, w) VALUES (0, ?, 0x00)", {{value}});
  const size_t before = PeakMemory::judged_now_bytes();
  for (int p = 1; p <= 100; ++p) {
    Must({"INSERT INTO k.w (p, v, w) VALUES (?, ?, 0x00)", {{cql::EncodeInt(p)}, {value}}, true});
    Must({"DELETE FROM k.w WHERE p = ?", {{cql::EncodeInt(p)}}, true});
  }
  Must("DROP TABLE k.w");
  const std::string held = "SELECT bytes FROM liststore.memory WHERE kind = 'rows'";
  while (cql::DecodeInteger(Cell(held)) > int64_t{8 << 20}) {
  }
  EXPECT_LT(PeakMemory::judged_now_bytes(), before + 64 * kMiB);
}

}  // namespace large_rows_test
}  // namespace liststore::testing
