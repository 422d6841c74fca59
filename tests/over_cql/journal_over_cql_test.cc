// The journal of requests as clients see it: liststore.requests and liststore.journal.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace journal_over_cql_test {

constexpr uint64_t kNow = 1'724'949'845'430'000'000;
const std::optional<std::string> kNull = std::nullopt;

class JournalOverCql : public CqlSessionTest {
 protected:
  void Start(uint64_t entries) {
    CqlServerOptions options;
    options.manual_clock = &clock_;
    options.journal_entries = entries;
    StartServer(options, "ks");
    Must("CREATE TABLE ks.t (p int, q text, c int, v text, PRIMARY KEY ((p, q), c))");
    Must("CREATE TABLE ks.u (k timestamp PRIMARY KEY, v blob)");
    Must("TRUNCATE liststore.requests");
  }
  void SetUp() override { Start(1000); }

  CqlAnswer Run(const CqlStatement& statement, const CqlParameters& parameters = {}) {
    return session_->Run(statement, parameters);
  }
  std::vector<ResultRow> Must(const std::string& text) {
    CqlAnswer answer = Run({text, {}, false});
    EXPECT_EQ(answer.error, "") << text;
    return answer.rows;
  }
  std::vector<ResultRow> Requests(const std::string& columns, const std::string& rest = "") {
    return Must("SELECT " + columns + " FROM liststore.requests" + rest);
  }

  ManualClock clock_{kNow};
};

TEST_F(JournalOverCql, IsReadFromItsEnd) {
  for (const char* v : {"a", "b", "c"}) Must(std::string("SELECT v FROM ks.u /* ") + v + " */");
  EXPECT_EQ(
      Requests("statement", " WHERE journal = 'requests' ORDER BY seq DESC LIMIT 2"),
      std::vector<ResultRow>({{"SELECT v FROM ks.u /* c */"}, {"SELECT v FROM ks.u /* b */"}}));
}

TEST_F(JournalOverCql, IsNotAnsweredInPart) {
  const std::string text = "SELECT v FROM ks.u -- " + std::string(4000, 'x');
  for (int i = 0; i < 60; ++i) Must(text);
  std::string columns = "statement";
  for (int i = 1; i < 900; ++i) columns += ", statement";
  const std::string select = "SELECT " + columns + " FROM liststore.requests";
  EXPECT_EQ(Run({select, {}}).error,
            "The result is larger than 209715200 bytes: read it in pages, or with a LIMIT");
  EXPECT_EQ(Run({select + " LIMIT 50", {}}).rows.size(), 50u);
}

TEST_F(JournalOverCql, HasARowForEachRequestInOrder) {
  Must("INSERT INTO ks.t (p, q, c, v) VALUES (1, 'a:b', 2, 'x')");
  Must("SELECT v FROM ks.t WHERE p = 1 AND q IN ('a', 'b')");
  Must("SELECT * FROM ks.t");
  Must("UPDATE ks.u SET v = 0x00 WHERE k = '2024-01-02T03:04:05Z'");
  Must("TRUNCATE ks.t");
  Run({"SELECT * FROM ks.missing", {}, false});
  Run({"SELEC v", {}, false});
  const std::vector<ResultRow> expected = {
      {"INSERT", "ks.t", "1:a:b", "INSERT INTO ks.t (p, q, c, v) VALUES (1, 'a:b', 2, 'x')", "ok",
       kNull},
      {"SELECT", "ks.t", kNull, "SELECT v FROM ks.t WHERE p = 1 AND q IN ('a', 'b')", "ok", kNull},
      {"SELECT", "ks.t", kNull, "SELECT * FROM ks.t", "ok", kNull},
      {"UPDATE", "ks.u", "2024-01-02T03:04:05.000Z",
       "UPDATE ks.u SET v = 0x00 WHERE k = '2024-01-02T03:04:05Z'", "ok", kNull},
      {"TRUNCATE", "ks.t", kNull, "TRUNCATE ks.t", "ok", kNull},
      {"SELECT", "ks.missing", kNull, "SELECT * FROM ks.missing", "invalid",
       "unconfigured table missing"},
  };
  std::vector<ResultRow> rows = Requests("op, tbl, key, statement, outcome, error");
  ASSERT_EQ(rows.size(), 7u);
  const ResultRow last = rows.back();
  rows.pop_back();
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(last[0], "OTHER");
  EXPECT_EQ(last[4], "syntax");
  EXPECT_NE(last[5], kNull);
  // And no other: neither what this test asked of the journal, nor of the system.
  Must("SELECT key FROM system.local");
  EXPECT_EQ(Requests("seq").size(), 7u);
  EXPECT_EQ(Requests("op", " WHERE tbl = 'ks.u' ALLOW FILTERING"),
            std::vector<ResultRow>({{"UPDATE"}}));
}

TEST_F(JournalOverCql, ShowsPreparedStatementsWithTheirValues) {
  const std::string text = "INSERT INTO ks.t (p, q, c, v) VALUES (?, ?, ?, ?)";
  EXPECT_EQ(
      Run({text,
           {{cql::EncodeInt(7)}, {"it's"}, {cql::EncodeInt(-1)}, {.bytes = {}, .unset = true}},
           true},
          {.page_size = 100, .paging_state = {}, .default_timestamp = 42})
          .error,
      "");
  EXPECT_EQ(Run({"SELECT c FROM ks.t WHERE p = ? AND q = ?", {{cql::EncodeInt(7)}, {kNull}}, false})
                .error,
            "");
  const std::vector<ResultRow> expected = {
      {"PREPARE", "ks.t", kNull, text, cql::EncodeBoolean(false), kNull, kNull, kNull, kNull},
      {"INSERT", "ks.t", "7:it's", text, cql::EncodeBoolean(true),
       cql::EncodeTextList({"7", "'it''s'", "-1", "unset"}), "ONE", cql::EncodeInt(100),
       cql::EncodeBigint(42)},
      {"SELECT", "ks.t", kNull, "SELECT c FROM ks.t WHERE p = ? AND q = ?",
       cql::EncodeBoolean(false), cql::EncodeTextList({"7", "null"}), "ONE", kNull, kNull},
  };
  EXPECT_EQ(
      Requests("op, tbl, key, statement, prepared, values, consistency, page_size, timestamp"),
      expected);
}

// The key is in the text of the object, and is none where the text is wrong.
TEST_F(JournalOverCql, KnowsTheKeysOfRowsThatAreJson) {
  const std::string text = "INSERT INTO ks.t JSON ?";
  Run({text, {{R"({"p": 7, "q": "it's", "c": 1})"}}, true});
  Run({text, {{R"({"p": 7})"}}, false});
  Run({text, {{"{"}}, false});
  Must(R"(INSERT INTO ks.t JSON '{"p": 8, "q": "b", "c": 1}')");
  EXPECT_EQ(Requests("op, key, outcome", " WHERE op = 'INSERT' ALLOW FILTERING"),
            std::vector<ResultRow>({{"INSERT", "7:it's", "ok"},
                                    {"INSERT", kNull, "invalid"},
                                    {"INSERT", kNull, "server_error"},
                                    {"INSERT", "8:b", "ok"}}));
}

TEST_F(JournalOverCql, ValuesOutliveTheirTableAsBlobsWhereTheyWereNotPrepared) {
  const std::vector<BoundParameter> values = {{cql::EncodeTimestamp(kNow)}};
  Run({"SELECT v FROM ks.u WHERE k = ?", values, true});
  Run({"SELECT v FROM ks.u WHERE k = ?", values, false});
  Must("DROP TABLE ks.u");
  const std::vector<ResultRow> rows =
      Requests("values, key", " WHERE op = 'SELECT' ALLOW FILTERING");
  const std::vector<ResultRow> expected = {
      {cql::EncodeTextList({"'2024-08-29T16:44:05.430Z'"}), "2024-08-29T16:44:05.430Z"},
      {cql::EncodeTextList({"0x000001919f05d5b6"}), kNull},
  };
  EXPECT_EQ(rows, expected);
}

TEST_F(JournalOverCql, HasOneRowForABatch) {
  const std::string insert = "INSERT INTO ks.t (p, q, c) VALUES (?, ?, ?)";
  Run({insert, {{cql::EncodeInt(1)}, {"a"}, {cql::EncodeInt(1)}}, true});
  Must("TRUNCATE liststore.requests");
  const CqlStatement prepared{insert, {{cql::EncodeInt(1)}, {"a"}, {cql::EncodeInt(2)}}, true};
  const CqlStatement text{"DELETE FROM ks.t WHERE p = 1 AND q = 'a'", {}, false};
  const CqlStatement other{"INSERT INTO ks.u (k) VALUES (0)", {}, false};
  EXPECT_EQ(session_->RunBatch(true, {prepared, text}, 5).error, "");
  EXPECT_EQ(session_->RunBatch(false, {text, other}, {}).error, "");
  Must("BEGIN BATCH INSERT INTO ks.u (k) VALUES (1); DELETE FROM ks.u WHERE k = 2; APPLY BATCH");
  EXPECT_EQ(session_->RunBatch(true, {}, {}).error, "");
  const std::vector<ResultRow> expected = {
      {"ks.t", "1:a", insert + "; " + text.text, cql::EncodeTextList({"1", "'a'", "2"}),
       cql::EncodeBoolean(true), cql::EncodeBigint(5), "ok"},
      {kNull, kNull, text.text + "; " + other.text, kNull, cql::EncodeBoolean(false), kNull, "ok"},
      {"ks.u", kNull,
       "BEGIN BATCH INSERT INTO ks.u (k) VALUES (1); DELETE FROM ks.u WHERE k = 2; APPLY BATCH",
       kNull, cql::EncodeBoolean(false), kNull, "ok"},
      {kNull, kNull, kNull, kNull, cql::EncodeBoolean(false), kNull, "ok"},
  };
  EXPECT_EQ(Requests("tbl, key, statement, values, prepared, timestamp, outcome",
                     " WHERE op = 'BATCH' ALLOW FILTERING"),
            expected);
}

TEST_F(JournalOverCql, CountsWhatItDropsAndCanBeChangedWhileItRuns) {
  const auto counts = [&] {
    return Must("SELECT enabled, capacity, recorded, kept, dropped FROM liststore.journal").at(0);
  };
  const auto row = [](bool enabled, int capacity, int recorded, int kept, int dropped) {
    return ResultRow{cql::EncodeBoolean(enabled), cql::EncodeInt(capacity),
                     cql::EncodeBigint(recorded), cql::EncodeInt(kept), cql::EncodeBigint(dropped)};
  };
  EXPECT_EQ(counts(), row(true, 1000, 0, 0, 0));
  Must("UPDATE liststore.journal SET capacity = 3 WHERE key = 'journal'");
  for (int i = 0; i < 5; ++i) {
    Must("SELECT v FROM ks.t WHERE p = " + std::to_string(i) + " AND q = ''");
  }
  EXPECT_EQ(counts(), row(true, 3, 5, 3, 2));
  EXPECT_EQ(Requests("key"), std::vector<ResultRow>({{"2:"}, {"3:"}, {"4:"}}));
  Must("UPDATE liststore.journal SET enabled = false WHERE key = 'journal'");
  Must("SELECT v FROM ks.t");
  EXPECT_EQ(counts(), row(false, 3, 5, 3, 2));
  Must("INSERT INTO liststore.journal (key, enabled, capacity) VALUES ('journal', true, 2)");
  EXPECT_EQ(Requests("key"), std::vector<ResultRow>({{"3:"}, {"4:"}}));
  Must("TRUNCATE liststore.requests");
  EXPECT_EQ(counts(), row(true, 2, 0, 0, 0));
  Must("SELECT v FROM ks.t");
  EXPECT_EQ(Requests("op"), std::vector<ResultRow>({{"SELECT"}}));
}

// What comes meanwhile stands behind all pages.
TEST_F(JournalOverCql, ItsPagesFitTogetherWhileItGoesOn) {
  for (int i = 0; i < 25; ++i) Must("SELECT v FROM ks.u WHERE k = " + std::to_string(i));
  CqlAnswer answer;
  CqlParameters parameters{.page_size = 10, .paging_state = {}, .default_timestamp = {}};
  do {
    const CqlAnswer page = Run({"SELECT seq FROM liststore.requests", {}, false}, parameters);
    ASSERT_EQ(page.error, "");
    ASSERT_LE(page.rows.size(), 10u);
    answer.rows.insert(answer.rows.end(), page.rows.begin(), page.rows.end());
    parameters.paging_state = page.paging_state;
    if (answer.rows.size() == 20) Must("SELECT v FROM ks.u WHERE k = 25");
  } while (!parameters.paging_state.empty());
  ASSERT_EQ(answer.rows.size(), 26u);
  for (size_t i = 1; i < answer.rows.size(); ++i) {
    EXPECT_LT(*answer.rows[i - 1][0], *answer.rows[i][0]) << "seqs of one length ascend as bytes";
  }
}

TEST_F(JournalOverCql, SaysWhoAskedWhenAndInWhichKeyspace) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp({{"CQL_VERSION", "3.0.0"}, {"DRIVER_NAME", "mine"}}));
  clock_.AdvanceSeconds(60);
  for (const char* text : {"SELECT * FROM u", "USE ks", "SELECT * FROM u"}) {
    ASSERT_TRUE(client.Query(text));
  }
  const std::string address = "127.0.0.1:" + std::to_string(client.source_port());
  const std::string at = cql::EncodeTimestamp(kNow + 60'000'000'000);
  const std::vector<ResultRow> expected = {
      {address, "mine", "anonymous", at, "u", "invalid"},
      {address, "mine", "anonymous", at, kNull, "ok"},
      {address, "mine", "anonymous", at, "ks.u", "ok"},
  };
  EXPECT_EQ(Requests("client, driver, user, at, tbl, outcome"), expected);
}

TEST_F(JournalOverCql, SaysWhatARequestTookThoughTheClockStands) {
  for (int i = 0; i < 1000; ++i) {
    Must("INSERT INTO ks.u (k) VALUES (" + std::to_string(i) + ")");
  }
  Must("TRUNCATE liststore.requests");
  Must("SELECT COUNT(*) FROM ks.u");
  const std::vector<ResultRow> rows = Requests("at, duration_us");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0][0], cql::EncodeTimestamp(kNow));
  EXPECT_GT(*rows[0][1], cql::EncodeBigint(0))
      << "no machine counts a thousand rows in a microsecond";
}

TEST_F(JournalOverCql, KnowsTheKeyspaceOfRequestsThatCameWithAUse) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  std::string frames;
  int16_t stream = 0;
  for (const char* text : {"SELECT * FROM u", "USE ks", "SELECT * FROM u"}) {
    frames += RawFrame{.stream = ++stream, .opcode = 0x07, .body = QueryBody(text)}.Bytes();
  }
  ASSERT_TRUE(client.Send(frames));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.Read());
  EXPECT_EQ(Requests("tbl, outcome"),
            std::vector<ResultRow>({{"u", "invalid"}, {kNull, "ok"}, {"ks.u", "ok"}}));
}

TEST_F(JournalOverCql, KeepsNoPasswords) {
  Run({"CREATE ROLE r WITH PASSWORD = 'secret'", {}, false});
  Run({"ALTER USER r WITH password 'secret'", {}, false});
  const std::vector<ResultRow> rows = Requests("statement");
  EXPECT_EQ(rows, std::vector<ResultRow>(
                      {{"CREATE ROLE r WITH PASSWORD"}, {"ALTER USER r WITH password"}}));
}

TEST_F(JournalOverCql, RefusesToBeWritten) {
  const CqlAnswer answer =
      Run({"INSERT INTO liststore.requests (journal, seq) VALUES ('requests', 1)", {}, false});
  EXPECT_EQ(answer.error, "this virtual table doesn't allow updates");
  EXPECT_TRUE(Requests("seq").empty());
}

TEST_F(JournalOverCql, IsOffUnlessItIsAskedFor) {
  server_.reset();
  Start(0);
  Must("SELECT v FROM ks.t");
  EXPECT_TRUE(Requests("seq").empty());
  EXPECT_EQ(Must("SELECT enabled, capacity, recorded FROM liststore.journal"),
            std::vector<ResultRow>(
                {{cql::EncodeBoolean(false), cql::EncodeInt(0), cql::EncodeBigint(0)}}));
}

TEST(JournalOptions, NameTheLimit) {
  CqlServerOptions options;
  options.journal_entries = 100'001;
  EXPECT_EQ(CqlServer::Start(options).status().message(),
            "journal_entries is 100001, more than 100000");
}

}  // namespace journal_over_cql_test
}  // namespace liststore::testing
