// What reading rows of many cells, or of long values, takes beside the answer: as much as one row of it
// does, however many rows there are, and whatever else lies in them.
#include <gtest/gtest.h>
#include <malloc.h>

#include <string>

#include "engine/base/output_buffer.h"
#include "engine/cql/values/encode_value.h"
#include "tests/hostile/hostile_session_test.h"

namespace liststore::testing {
namespace row_memory_test {

class RowMemory : public HostileTest {
 protected:
  void SetUp() override {
#if defined(__GLIBC__)
    // As the program has it: what was freed is no memory to use again unseen.
    mallopt(M_MMAP_THRESHOLD, kMiB);
    mallopt(M_TRIM_THRESHOLD, kMiB);
#endif
    CqlServerOptions options;
    options.shards = 1;
    options.client_memory_bytes = 32 * kMiB;  // 6 MiB of it for a row of a result
    options.scylla_options = {{"range_request_timeout_in_ms", "600000"},
                              {"read_request_timeout_in_ms", "600000"},
                              {"write_request_timeout_in_ms", "600000"}};
    StartServer(options, "k");
  }

  // What `text` makes the process grow by, while it is answered with one row.
  size_t GrownBytes(const std::string& text) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
    const PeakMemory memory;
    EXPECT_EQ(Must(text).rows.size(), 1u) << text;
    return memory.judged_bytes();
  }
};

// Of map<int, int>.
std::string MapOf(int elements) {
  OutputBuffer map;
  map.AppendBigEndian32(static_cast<uint32_t>(elements));
  for (int i = 0; i < elements; ++i) {
    for (const int number : {i, 1}) {
      map.AppendBigEndian32(sizeof(number));
      map.AppendBigEndian32(static_cast<uint32_t>(number));
    }
  }
  return std::string(map.view());
}

TEST_F(RowMemory, OfManyCellsIsThatOfOneRow) {
  constexpr int kRows = 24;
  constexpr int kElements = PeakMemory::Judges() ? 40'000 : 2'000;
  Must(
      "CREATE TABLE k.m (p int, c int, m map<int, int>, s map<int, int> STATIC, PRIMARY KEY (p, "
      "c))");
  const std::string map = MapOf(kElements);
  for (int c = 0; c < kRows; ++c) {
    Must("INSERT INTO k.m (p, c, m) VALUES (1, ?, ?)", {{cql::EncodeInt(c)}, {map}});
  }
  Must("INSERT INTO k.m (p, s) VALUES (1, ?)", {{map}});
  // A view of a cell is 64 bytes: those of all rows are more than 60 MiB.
  for (const std::string what : {"count(m)", "max(m)", "max(toJson(m))", "count(s)", "max(c)"}) {
    const std::string text = "SELECT " + what + " FROM k.m";
    EXPECT_LT(GrownBytes(text + " WHERE p = 1"), 20 * kMiB) << text;
    EXPECT_LT(GrownBytes(text + " WHERE p = 1 AND m CONTAINS 1 ALLOW FILTERING"), 20 * kMiB)
        << text;
    EXPECT_LT(GrownBytes(text), 20 * kMiB) << text;
  }
}

TEST_F(RowMemory, OfLongValuesIsThatOfThoseThatAreAskedFor) {
  constexpr int kColumns = 24;
  std::string columns;
  for (int i = 0; i < kColumns; ++i) columns += ", v" + std::to_string(i) + " text";
  Must("CREATE TABLE k.w (p int PRIMARY KEY" + columns + ")");
  const std::string value(kMiB, 'v');
  for (int i = 0; i < kColumns; ++i) {
    Must("UPDATE k.w SET v" + std::to_string(i) + " = ? WHERE p = 1", {{value}});
  }
  for (const std::string what : {"max(toJson(v0))", "toJson(v7)", "max(toJson(v0)), max(v1)"}) {
    EXPECT_LT(GrownBytes("SELECT " + what + " FROM k.w WHERE p = 1"), 14 * kMiB) << what;
  }
  // What is more than a row may have is refused before it is kept.
  std::string all = "max(toJson(v0))";
  for (int i = 1; i < kColumns; ++i) all += ", max(toJson(v" + std::to_string(i) + "))";
  const PeakMemory memory;
  EXPECT_EQ(
      session_->Run({"SELECT " + all + " FROM k.w WHERE p = 1", {}, false}, CqlParameters{}).error,
      "A row of the result is larger than 6291456 bytes, which an answer may take of the "
      "memory for clients: select fewer columns of it");
  EXPECT_LT(memory.judged_bytes(), 8 * kMiB);
}

// What filters alone look at is not kept.
TEST_F(RowMemory, OfWhatFunctionsMakeIsNotWhatFiltersAskFor) {
  Must("CREATE TABLE k.f (p int, c int, s text STATIC, w text, v text, PRIMARY KEY (p, c))");
  const std::string value(5 * kMiB / 2, 'v');
  Must("INSERT INTO k.f (p, s) VALUES (1, ?)", {{value}});
  Must("INSERT INTO k.f (p, c, w) VALUES (1, 1, ?)", {{value}});
  Must("INSERT INTO k.f (p, c, v) VALUES (1, 1, ?)", {{value}});
  const std::string select = "SELECT blobAsText(textAsBlob(v)) FROM k.f WHERE s = ? AND w = ? ";
  EXPECT_EQ(Must(select + "ALLOW FILTERING", {{value}, {value}}).rows.at(0).at(0), value);
}

std::string ListOf(int elements) {
  OutputBuffer list;
  list.AppendBigEndian32(static_cast<uint32_t>(elements));
  for (int i = 0; i < elements; ++i) {
    list.AppendBigEndian32(sizeof(i));
    list.AppendBigEndian32(static_cast<uint32_t>(i));
  }
  return std::string(list.view());
}

// Each of which looks at all of it.
TEST_F(RowMemory, OfARowThatManyStatementsChangeIsThatOfOneRow) {
  constexpr int kElements = PeakMemory::Judges() ? 20'000 : 2'000;
  constexpr int kStatements = 500;
  Must("CREATE TABLE k.l (p int PRIMARY KEY, l list<int>)");
  Must("UPDATE k.l SET l = ? WHERE p = 1", {{ListOf(kElements)}});
  std::string batch = "BEGIN UNLOGGED BATCH ";
  for (int i = 0; i < kStatements; ++i) {
    batch += "UPDATE k.l SET l[" + std::to_string(i) + "] = -1 WHERE p = 1 ";
  }
  {
    const PeakMemory memory;
    Must(batch + "APPLY BATCH");
    EXPECT_LT(memory.judged_bytes(), 32 * kMiB);
  }
  // And one that takes out all but those.
  Must("UPDATE k.l SET l = l - ? WHERE p = 1", {{ListOf(kElements)}});
  const std::string left = Cell("SELECT l FROM k.l WHERE p = 1");
  EXPECT_EQ(left.size(), 4u + kStatements * 8u);
  EXPECT_EQ(left.substr(4, 8), std::string("\0\0\0\4\xff\xff\xff\xff", 8));
}

// Each of whose answers has all of it.
TEST_F(RowMemory, OfConditionsOnARowIsWhatAResultMayHave) {
  constexpr int kElements = 40'000;
  constexpr int kStatements = 200;
  Must("CREATE TABLE k.c (p int PRIMARY KEY, m map<int, int>, v int)");
  Must("INSERT INTO k.c (p, m) VALUES (1, ?)", {{MapOf(kElements)}});
  std::string batch = "BEGIN BATCH ";
  for (int i = 0; i < kStatements; ++i) {
    batch += "UPDATE k.c SET v = 1 WHERE p = 1 IF m[" + std::to_string(i) + "] = 1 ";
  }
  const PeakMemory memory;
  EXPECT_EQ(Refusal(batch + "APPLY BATCH"),
            "The rows that conditions are about, and the answer with their values, have more than "
            "6291456 bytes: ask for less of them at a time");
  EXPECT_LT(memory.judged_bytes(), 32 * kMiB);
  EXPECT_EQ(Must("SELECT v FROM k.c").rows.at(0).at(0), std::nullopt);
}

// Views are told of each as it was and as it will be.
TEST_F(RowMemory, OfRowsThatViewsFollowIsBounded) {
  CqlServerOptions options;
  options.shards = 1;
  options.client_memory_bytes = 32 * kMiB;
  options.work_memory_bytes = 8 * kMiB;
  StartServer(options, "k");
  constexpr int kRows = 60;
  constexpr int kElements = 4'000;
  Must("CREATE TABLE k.b (p int, c int, v int, m map<int, int>, PRIMARY KEY (p, c))");
  Must(
      "CREATE MATERIALIZED VIEW k.by_v AS SELECT * FROM k.b WHERE v IS NOT NULL AND p IS NOT NULL "
      "AND c IS NOT NULL PRIMARY KEY (v, p, c)");
  const std::string map = MapOf(kElements);
  std::string batch = "BEGIN UNLOGGED BATCH ";
  for (int c = 0; c < kRows; ++c) {
    Must("INSERT INTO k.b (p, c, v, m) VALUES (1, ?, 1, ?)", {{cql::EncodeInt(c)}, {map}});
    batch += "UPDATE k.b SET v = 2 WHERE p = 1 AND c = " + std::to_string(c) + " ";
  }
  const PeakMemory memory;
  const std::string refusal = Refusal(batch + "APPLY BATCH");
  EXPECT_NE(refusal.find("the rows that it looks at have more than 25165824 bytes"),
            std::string::npos)
      << refusal;
  EXPECT_LT(memory.judged_bytes(), 48 * kMiB);
  EXPECT_EQ(cql::DecodeInteger(Cell("SELECT count(*) FROM k.by_v WHERE v = 1")), kRows);
  Must("UPDATE k.b SET v = 2 WHERE p = 1 AND c IN (1, 2, 3)");
  EXPECT_EQ(cql::DecodeInteger(Cell("SELECT count(*) FROM k.by_v WHERE v = 2")), 3);
  Must("DELETE FROM k.b WHERE p = 1");
  EXPECT_EQ(cql::DecodeInteger(Cell("SELECT count(*) FROM k.by_v")), 0);
}

// A row that is written is put together once more, beside what is there.
TEST_F(RowMemory, OfARowThatIsWrittenIsThatOfARowOfAResult) {
  CqlServerOptions options;
  options.shards = 1;
  options.client_memory_bytes = 32 * kMiB;
  options.work_memory_bytes = 8 * kMiB;
  StartServer(options, "k");
  constexpr int kColumns = 215;
  std::string columns, all;
  for (int i = 0; i < kColumns; ++i) {
    columns += ", v" + std::to_string(i) + " blob";
    all += (i == 0 ? "v" : ", v") + std::to_string(i) + " = :v";
  }
  Must("CREATE TABLE k.w (p int PRIMARY KEY" + columns + ")");
  const std::string kTooLarge = " bytes exceeds the 6160384 bytes that a row may have";
  const std::string value(kMiB / 2, 'v');
  PeakMemory memory;
  const std::string refusal =
      session_
          ->Run({"UPDATE k.w SET " + all + " WHERE p = 1", {{value, false, "v"}}, false},
                CqlParameters{})
          .error;
  EXPECT_NE(refusal.find(kTooLarge), std::string::npos) << refusal;
  EXPECT_LT(memory.judged_bytes(), 8 * kMiB);
  // Nor is it made by pieces.
  int written = 0;
  const auto write = [&] {
    const std::string text = "UPDATE k.w SET v" + std::to_string(written) + " = ? WHERE p = 1";
    return Refusal({text, {{value}}, false});
  };
  std::string last;
  while (written < kColumns && (last = write()).empty()) ++written;
  EXPECT_NE(last.find(kTooLarge), std::string::npos) << last;
  EXPECT_EQ(written, 11);
  EXPECT_EQ(Must("SELECT * FROM k.w").rows.size(), 1u) << "what can be written can be read";
  Must("DELETE v0 FROM k.w WHERE p = 1");
  EXPECT_EQ(write(), "");
}

}  // namespace row_memory_test
}  // namespace liststore::testing
