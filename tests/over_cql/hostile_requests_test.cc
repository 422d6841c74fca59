// What no program sends by intention, and none may end the server with: each is answered.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {
namespace hostile_requests_test {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kMillion = 1'000'000;

std::string Repeated(const std::string& word, size_t count) {
  std::string text = word;
  for (size_t i = 1; i < count; ++i) text += ", " + word;
  return text;
}

class HostileRequests : public CqlSessionTest {
 protected:
  void SetUp() override { StartServer(CqlServerOptions(), "k"); }
};

TEST_F(HostileRequests, NamesAndTypesFitIntoWhatDriversAreTold) {
  EXPECT_EQ(Refusal("CREATE TYPE k." + std::string(65'536, 'n') + " (a int)"),
            "User type names shouldn't be more than 65535 bytes long");
  Must("CREATE TYPE k." + std::string(65'535, 'n') + " (a int)");
  Must("CREATE TYPE k.u (a int)");
  EXPECT_EQ(Refusal("ALTER TYPE k.u RENAME a TO " + std::string(65'536, 'n')),
            "Field names shouldn't be more than 65535 bytes long");
  EXPECT_EQ(
      Refusal("CREATE TABLE k.t (p int PRIMARY KEY, c tuple<" + Repeated("int", 65'536) + ">)"),
      "A tuple cannot have more than 65535 elements");
  Must("CREATE TABLE k.t (p int PRIMARY KEY, c tuple<" + Repeated("int", 65'535) + ">)");
  EXPECT_TRUE(Must("SELECT * FROM k.t").rows.empty());
}

// Each by its name, in whatever order they come; few and as many as there can be.
TEST_F(HostileRequests, ValuesAreFoundByTheirNames) {
  Must("CREATE TABLE k.t (p int, c int, v int, PRIMARY KEY (p, c))");
  for (const std::string v : {"0", "7", "31", "32", "65534"}) {
    Must("INSERT INTO k.t (p, c, v) VALUES (0, " + v + ", " + v + ")");
  }
  for (const size_t count : {size_t{32}, size_t{33}, size_t{65'535}}) {
    CqlStatement select{"SELECT v FROM k.t WHERE p = 0 AND v IN (", {}, false};
    for (size_t i = 0; i < count; ++i) {
      select.text += (i == 0 ? ":n" : ", :n") + std::to_string(i);
      std::string value(4, '\0');
      StoreBigEndian32(value.data(), static_cast<uint32_t>(count - 1 - i));
      select.parameters.push_back({value, false, "n" + std::to_string(count - 1 - i)});
    }
    select.text += ") ALLOW FILTERING";
    const size_t rows = count == 32 ? 3 : count == 33 ? 4 : 5;
    const CqlAnswer answer = session_->Run(select);
    EXPECT_EQ(answer.error, "");
    EXPECT_EQ(answer.rows.size(), rows);
    select.parameters.back().name = "other";
    EXPECT_EQ(session_->Run(select).error, "Missing value for bind marker with name: n0");
  }
}

TEST_F(HostileRequests, AnswersLargerThanAFrameAreErrors) {
  Must("CREATE TABLE k.t (p int PRIMARY KEY, v blob)");
  Must("INSERT INTO k.t (p, v) VALUES (1, ?)", {{std::string(20 * kMiB, 'x')}});
  // One row has no largest size.
  const CqlAnswer answer =
      session_->Run({"SELECT " + Repeated("v", 14) + " FROM k.t", {}}, {10, {}, {}});
  EXPECT_EQ(answer.error, "The answer is larger than the 268435456 bytes that a frame holds");
  EXPECT_EQ(Must("SELECT p FROM k.t").rows.size(), 1u);
}

TEST_F(HostileRequests, AnswersOfManyConditionsAreErrors) {
  Must("CREATE TABLE k.t (p int PRIMARY KEY, v blob, n int)");
  Must("INSERT INTO k.t (p, v) VALUES (1, ?)", {{std::string(20 * kMiB, 'x')}});
  // Each is answered with the row as it was.
  const std::vector<CqlStatement> updates(14, {"UPDATE k.t SET n = 1 WHERE p = 1 IF v = 0x", {}});
  EXPECT_EQ(session_->RunBatch(true, updates, std::nullopt).error,
            "The rows that conditions are about, and the answer with their values, have more than "
            "209715200 bytes: ask for less of them at a time");
  // Conditions that hold are no others, and nothing is written where the answer cannot be given.
  const std::vector<CqlStatement> held(14, {"UPDATE k.t SET n = 1 WHERE p = 1 IF v > 0x", {}});
  EXPECT_NE(session_->RunBatch(true, held, std::nullopt).error, "");
  EXPECT_EQ(Must("SELECT n FROM k.t").rows.at(0).at(0), std::nullopt);
}

TEST_F(HostileRequests, LargeRowsOfListsComeInPages) {
  Must("CREATE TABLE k.t (p text, c text, v blob, PRIMARY KEY (p, c))");
  for (const char* key : {"a", "b", "c"}) {
    Must("INSERT INTO k.t (p, c, v) VALUES ('p', ?, ?)", {{key}, {std::string(10 * kMiB, 'x')}});
  }
  // Of a shape that runs in groups, which know no pages.
  const CqlStatement select = {
      "SELECT " + Repeated("v", 8) + " FROM k.t WHERE p = ? LIMIT 100", {{"p"}}, true};
  EXPECT_EQ(Refusal(select),
            "The result is larger than 209715200 bytes: read it in pages, or with a LIMIT");
  size_t rows = 0, pages = 0;
  CqlParameters parameters = {100, {}, {}};
  do {
    const CqlAnswer page = Must(select, parameters);
    rows += page.rows.size();
    ++pages;
    parameters.paging_state = page.paging_state;
  } while (!parameters.paging_state.empty() && pages < 10);
  EXPECT_EQ(rows, 3u);
  EXPECT_GT(pages, 1u);
}

// Of a partition key all columns together are bounded, of clustering columns each by itself. Source:
// ScyllaDB validation.cc, validate_cql_key; compound.hh, serialize_value.
TEST_F(HostileRequests, EachClusteringColumnHasTheLengthOfAKey) {
  Must("CREATE TABLE k.t (p int, a text, b text, v int, PRIMARY KEY (p, a, b))");
  const std::string a(65'535, 'a'), b(65'535, 'b');
  for (const char* value : {"1", "2"}) {
    Must("INSERT INTO k.t (p, a, b, v) VALUES (1, ?, ?, " + std::string(value) + ")", {{a}, {b}});
    Must("INSERT INTO k.t (p, a, b, v) VALUES (1, ?, 'c', 3)", {{a}});
  }
  EXPECT_EQ(Cell("SELECT toJson(count(*)) FROM k.t"), "2");
  EXPECT_EQ(Must("SELECT v FROM k.t WHERE p = 1 AND a = ? AND b < 'c'", {{a}}).rows.size(), 1u);
  EXPECT_EQ(Refusal("INSERT INTO k.t (p, a, b) VALUES (1, ?, 'x')", {{a + "a"}}),
            "Key length of 65536 is longer than maximum of 65535");
  EXPECT_EQ(Refusal("SELECT v FROM k.t WHERE p = 1 AND a > ?", {{a + "a"}}),
            "Key length of 65536 is longer than maximum of 65535");
  size_t rows = 0, pages = 0;
  CqlParameters parameters = {1, {}, {}};
  do {
    const CqlAnswer page = Must(CqlStatement{"SELECT v FROM k.t WHERE p = 1", {}}, parameters);
    rows += page.rows.size();
    ++pages;
    parameters.paging_state = page.paging_state;
  } while (!parameters.paging_state.empty() && pages < 10);
  EXPECT_EQ(rows, 2u);
}

// Its serialised form is longer than what keys are bounded by.
TEST_F(HostileRequests, APageEndsInTheLongestKey) {
  Must("CREATE TABLE k.t (p text, q text, r text, c int, PRIMARY KEY ((p, q, r), c))");
  const std::string p(40'000, 'p'), q(65'535 - 3 * 2 - 40'000, 'q');
  EXPECT_EQ(Refusal("INSERT INTO k.t (p, q, r, c) VALUES (?, ?, 'r', 1)", {{p}, {q}}),
            "Key length of 65536 is longer than maximum of 65535");
  for (const char* row : {"1", "2", "3"}) {
    Must("INSERT INTO k.t (p, q, r, c) VALUES (?, ?, '', " + std::string(row) + ")", {{p}, {q}});
  }
  size_t rows = 0, pages = 0;
  CqlParameters parameters = {1, {}, {}};
  do {
    const CqlAnswer page = Must({"SELECT * FROM k.t", {}}, parameters);
    rows += page.rows.size();
    parameters.paging_state = page.paging_state;
  } while (!parameters.paging_state.empty() && ++pages < 10);
  EXPECT_EQ(rows, 3u);
}

TEST_F(HostileRequests, PlacesInListsAreNotEmpty) {
  Must("CREATE TABLE k.t (p int PRIMARY KEY, l list<blob>)");
  // Behind an empty place lies what would make it a timeuuid.
  std::string element(20, '\0');
  element[2] = '\x10';
  element[4] = '\x80';
  for (const bool prepared : {false, true}) {
    EXPECT_EQ(Refusal({"UPDATE k.t SET l[SCYLLA_TIMEUUID_LIST_INDEX(?)] = ? WHERE p = 1",
                       {{""}, {element}},
                       prepared}),
              "Invalid null value for list index");
  }
}

TEST_F(HostileRequests, ConditionsOfOtherTablesInABatchMessage) {
  Must("CREATE TABLE k.small (p int PRIMARY KEY)");
  Must("CREATE TABLE k.large (p int PRIMARY KEY, a int, b int, c int, d int, e int, f int, g int)");
  const CqlStatement first = {"DELETE FROM k.small WHERE p = 1", {}, true};
  const CqlStatement second = {"DELETE FROM k.large WHERE p = 1 IF g = 2", {}, true};
  EXPECT_EQ(session_->RunBatch(false, {first, second}, std::nullopt).error,
            "BATCH with conditions cannot span multiple tables");
}

// ScyllaDB: transport/server.cc, process_batch.
TEST_F(HostileRequests, StatementsOfABatchMessageAreLookedAtInTheirOrder) {
  Must("CREATE TABLE k.small (p int PRIMARY KEY)");
  const CqlStatement lacks_a_value = {"INSERT INTO k.small (p) VALUES (?)", {}, false};
  const CqlStatement of_no_table = {"INSERT INTO k.absent (p) VALUES (1)", {}, false};
  const std::string missing =
      session_->RunBatch(false, {lacks_a_value, of_no_table}, std::nullopt).error;
  EXPECT_NE(missing.find("markers(?)"), std::string::npos) << missing;
  const std::string absent =
      session_->RunBatch(false, {of_no_table, lacks_a_value}, std::nullopt).error;
  EXPECT_EQ(absent, "unconfigured table absent");
}

TEST_F(HostileRequests, KeysOfVirtualTablesAreSet) {
  for (const bool prepared : {false, true}) {
    EXPECT_EQ(Refusal({"DELETE FROM liststore.faults WHERE name = ?", {{{}, true}}, prepared}),
              "Unexpected unset value for bind variable 0");
    EXPECT_EQ(Refusal({"INSERT INTO liststore.faults (name, action) VALUES (?, 'overloaded')",
                       {{{}, true}},
                       prepared}),
              "Unexpected unset value for bind variable 0");
  }
  EXPECT_TRUE(Must("SELECT * FROM liststore.faults").rows.empty());
}

// Each of them became an alternative of 150 bytes, and 64 millions fit into a frame.
TEST_F(HostileRequests, ListsOfVeryManyKeysAreTooLong) {
  Must("CREATE TABLE k.t (p blob, c blob, PRIMARY KEY (p, c))");
  Must("INSERT INTO k.t (p, c) VALUES (0x01, 0x02)");
  const auto list = [](size_t count, bool distinct) {
    std::string value(4 + 8 * count, '\0');
    StoreBigEndian32(value.data(), static_cast<uint32_t>(count));
    for (size_t i = 0; i < count; ++i) {
      StoreBigEndian32(value.data() + 4 + 8 * i, 4);
      StoreBigEndian32(value.data() + 8 + 8 * i, static_cast<uint32_t>(distinct ? i : 7));
    }
    return value;
  };
  const std::string many = " 1000000 is greater than maximum 100. Use --max-";
  const std::string of_partitions =
      Refusal("SELECT * FROM k.t WHERE p IN ?", {{list(kMillion, true)}});
  EXPECT_NE(of_partitions.find(many + "partition-key"), std::string::npos) << of_partitions;
  const std::string of_rows =
      Refusal("SELECT * FROM k.t WHERE p = 0x01 AND c IN ?", {{list(kMillion, true)}});
  EXPECT_NE(of_rows.find(many + "clustering-key"), std::string::npos) << of_rows;
  EXPECT_EQ(Refusal("SELECT * FROM k.t WHERE p IN ?", {{list(kMillion, false)}}), "");
  EXPECT_EQ(Refusal("SELECT * FROM k.t WHERE p IN ?", {{list(100, true)}}), "");
}

TEST_F(HostileRequests, WritesOfVeryManyCellsAreTooLarge) {
  Must("CREATE TABLE k.t (p int PRIMARY KEY, s set<blob>, l list<blob>)");
  constexpr size_t kCount = (size_t{4} << 20) + 1;
  std::string value(4 + 4 * kCount, '\0');
  StoreBigEndian32(value.data(), kCount);
  EXPECT_EQ(Refusal("UPDATE k.t SET l = ? WHERE p = 1", {{value}}),
            "Batch too large: it writes more than 4194304 cells and elements");
  EXPECT_EQ(Refusal("INSERT INTO k.t (p, s) VALUES (1, ?)", {{value}}), "") << "they are all one";
}

// What the mutations take of ScyllaDB's memory counts: a row some 270 bytes besides its values.
// Source: ScyllaDB cql3/statements/batch_statement.cc, verify_batch_size.
TEST_F(HostileRequests, BatchesAreMeasuredByTheirMemory) {
  Must("CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))");
  const auto error_of = [&](const std::string& statement, uint32_t statements, uint32_t partitions,
                            size_t value_bytes) {
    std::vector<CqlStatement> batch;
    for (uint32_t i = 0; i < statements; ++i) {
      char partition[4], row[4];
      StoreBigEndian32(partition, i % partitions);
      StoreBigEndian32(row, i / partitions);
      batch.push_back({statement, {{std::string(partition, 4)}, {std::string(row, 4)}}, true});
      if (value_bytes != 0) batch.back().parameters.push_back({std::string(value_bytes, 'x')});
    }
    return session_->RunBatch(true, batch, std::nullopt).error;
  };
  const std::string insert = "INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)";
  const std::string remove = "DELETE FROM k.t WHERE p = ? AND c = ?";
  EXPECT_EQ(error_of(insert, 1025, 1025, 743), "Batch too large");
  EXPECT_EQ(error_of(insert, 2500, 2500, 180), "Batch too large");
  EXPECT_EQ(error_of(insert, 1024, 1024, 743), "") << "1024 bytes each";
  EXPECT_EQ(error_of(insert, 1025, 1, 743), "") << "those of one partition have no limit";
  EXPECT_EQ(error_of(remove, 20'000, 2, 0), "Batch too large");
  EXPECT_EQ(error_of(remove, 5'000, 2, 0), "");
  EXPECT_EQ(error_of("UPDATE k.t SET v = '' WHERE p = ? AND c = ?", 5'000, 5'000, 0),
            "Batch too large");
  // Statements about one row are one row.
  std::vector<CqlStatement> same(10'000,
                                 {"UPDATE k.t SET v = 'a' WHERE p = 1 AND c = 1", {}, true});
  same.push_back({"UPDATE k.t SET v = 'a' WHERE p = 2 AND c = 1", {}, true});
  EXPECT_EQ(session_->RunBatch(true, same, std::nullopt).error, "");
}

// Each was looked for among all before it: 65,000 of them took 40 seconds of a shard.
TEST_F(HostileRequests, BatchesOfVeryManyPartitions) {
  CqlServerOptions options;
  options.scylla_options = {{"write_request_timeout_in_ms", "600000"}};  // on any machine
  StartServer(options, "k");
  Must("CREATE TABLE k.t (p int, c int, v int, PRIMARY KEY (p, c))");
  constexpr uint32_t kPartitions = 2'000;
  std::vector<CqlStatement> batch;
  for (uint32_t i = 0; i < 2 * kPartitions; ++i) {
    char key[4];
    StoreBigEndian32(key, i % kPartitions);
    const std::string row = i < kPartitions ? "1" : "2";
    batch.push_back({"INSERT INTO k.t (p, c) VALUES (?, " + row + ")", {{std::string(key, 4)}}});
  }
  EXPECT_EQ(session_->RunBatch(true, batch, std::nullopt).error, "");
  EXPECT_EQ(Cell("SELECT count(*) FROM k.t"), std::string("\0\0\0\0\0\0\x0f\xa0", 8));
}

TEST_F(HostileRequests, TextsOfFaultsAreBounded) {
  const std::string longest(65'535, 'x');
  const std::string insert =
      "INSERT INTO liststore.faults (name, action, statement) VALUES (?, 'overloaded', ?)";
  EXPECT_EQ(Refusal(insert, {{"f"}, {longest + "x"}}),
            "liststore.faults: statement has 65536 bytes, more than 65535");
  EXPECT_EQ(Refusal(insert, {{longest + "x"}, {"x"}}),
            "liststore.faults: name has 65536 bytes, more than 65535");
  Must(insert, {{longest}, {longest}});
}

TEST_F(HostileRequests, KeysOfVirtualTablesAreNeitherNullNorEmpty) {
  const std::string insert = "INSERT INTO liststore.faults (name, action) VALUES ";
  const std::string null = "Invalid null value in condition for column name";
  EXPECT_EQ(Refusal(insert + "(null, 'overloaded')"), null);
  EXPECT_EQ(Refusal(insert + "('', 'overloaded')"), "Key may not be empty");
  for (const bool prepared : {false, true}) {
    EXPECT_EQ(Refusal({insert + "(?, 'overloaded')", {{std::nullopt}}, prepared}), null);
    EXPECT_EQ(Refusal({insert + "(?, 'overloaded')", {{""}}, prepared}), "Key may not be empty");
    EXPECT_EQ(Refusal({"DELETE FROM liststore.faults WHERE name = ?", {{std::nullopt}}, prepared}),
              null);
    EXPECT_EQ(
        Refusal(
            {"UPDATE liststore.clock SET advance = 1s WHERE key = ?", {{std::nullopt}}, prepared}),
        "Invalid null value in condition for column key");
  }
  EXPECT_TRUE(Must("SELECT * FROM liststore.faults").rows.empty());
}

TEST_F(HostileRequests, TypesOfTypesAreBounded) {
  Must("CREATE TYPE k.t0 (a int)");
  Must("CREATE TYPE k.u (a frozen<t0>, b frozen<t0>)");
  std::string refusal;
  size_t doubled = 0;
  while (refusal.empty() && ++doubled < 20) {
    const std::string inner = "frozen<t" + std::to_string(doubled - 1) + ">";
    refusal = Refusal("CREATE TYPE k.t" + std::to_string(doubled) + " (a " + inner + ", b " +
                      inner + ")");
  }
  EXPECT_EQ(refusal, "A type whose description takes 1081390 bytes; liststore has at most 1048576");
  // The largest there is can be used, and does not grow by what is in it.
  const std::string largest = "t" + std::to_string(doubled - 1);
  Must("CREATE TABLE k.large (p int PRIMARY KEY, c " + largest + ", d set<frozen<" + largest +
       ">>)");
  EXPECT_TRUE(Must("SELECT c, d, c, d FROM k.large").rows.empty());
  EXPECT_EQ(Refusal("ALTER TYPE k.t0 ADD " + std::string(40, 'b') + " int"),
            "A type whose description takes 1261582 bytes; liststore has at most 1048576");
  EXPECT_EQ(
      Refusal("CREATE TABLE k.more (p int PRIMARY KEY, c tuple<" + largest + ", " + largest + ">)"),
      "A type whose description takes 1081376 bytes; liststore has at most 1048576");
  // Its description once for each column is more than a frame.
  EXPECT_EQ(Refusal("SELECT " + Repeated("c", 1'000) + " FROM k.large"),
            "The answer is larger than the 268435456 bytes that a frame holds");
}

TEST_F(HostileRequests, TypesDeepInEachOtherAreBounded) {
  std::string refusal = Refusal("CREATE TYPE k.t1 (a int)");
  size_t depth = 2;
  while (refusal.empty() && ++depth < 100) {
    refusal = Refusal("CREATE TYPE k.t" + std::to_string(depth - 1) + " (a frozen<t" +
                      std::to_string(depth - 2) + ">)");
  }
  EXPECT_EQ(refusal, "Types 65 deep in each other; liststore has at most 64");
  EXPECT_EQ(Refusal("ALTER TYPE k.t1 ADD b frozen<list<int>>"), refusal);
}

TEST_F(HostileRequests, PreparedStatementsAreBoundedInBytes) {
  Must("CREATE TABLE k.t (p int PRIMARY KEY, v blob)");
  const std::string refusal =
      Refusal(CqlStatement{"SELECT " + Repeated("v", 200'000) + " FROM k.t", {}, true});
  EXPECT_TRUE(refusal.starts_with("Prepared statement is too big: SELECT v, v")) << refusal;
  EXPECT_TRUE(refusal.ends_with(" bytes; all have 67108864)")) << refusal;
  // A text of few bytes may make a plan of many: of each column something is known.
  std::string columns;
  for (size_t i = 0; i < 10'000; ++i) columns += ", c" + std::to_string(i) + " int";
  Must("CREATE TABLE k.wide (p int PRIMARY KEY" + columns + ")");
  EXPECT_TRUE(Must(CqlStatement{"SELECT * FROM k.wide", {}, true}).rows.empty());
  const std::string conditional = "DELETE FROM k.wide WHERE p = 1 IF EXISTS;";
  std::string batch = "BEGIN BATCH ";
  for (size_t i = 0; i < 100; ++i) batch += conditional;
  const std::string too_large =
      "Batch too large: its statements take more than 268435456 bytes when they are planned";
  EXPECT_EQ(Refusal(batch + "APPLY BATCH"), too_large);
  const std::vector<CqlStatement> statements(100, {conditional, {}});
  EXPECT_EQ(session_->RunBatch(false, statements, std::nullopt).error, too_large);
}

}  // namespace hostile_requests_test
}  // namespace liststore::testing
