// GET /metrics of a whole server, read as Prometheus reads it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/faces/http/http_client.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/prometheus_parser.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace metrics_test {

class MetricsTest : public CqlSessionTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.http_port = 0;
    options.shards = 2;
    StartServer(options, "k");
  }
  PrometheusPage Scrape() {
    HttpClient client(server_->http_port());
    const HttpReply reply = client.Ask("GET /metrics");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.fields.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    PrometheusPage page = ParsePrometheus(reply.body);
    EXPECT_EQ(page.problems, std::vector<std::string>());
    return page;
  }
};

TEST_F(MetricsTest, WhatClientsDoIsCounted) {
  Must("CREATE TABLE k.t (a int PRIMARY KEY, b int)");
  for (int i = 0; i < 5; ++i) Must("INSERT INTO k.t (a, b) VALUES (" + std::to_string(i) + ", 1)");
  for (int i = 0; i < 3; ++i) Must("SELECT * FROM k.t WHERE a = 1");
  Must("UPDATE k.t SET b = 2 WHERE a = 1");
  Must("DELETE FROM k.t WHERE a = 2");
  EXPECT_NE(Refusal("SELECT nothing FROM k.t"), "");
  PrometheusPage page = Scrape();
  const auto requests = [&](const std::string& op, const std::string& outcome) {
    return page.Sample("liststore_requests_total{keyspace=\"k\",op=\"" + op + "\",outcome=\"" +
                       outcome + "\",table=\"t\"}");
  };
  EXPECT_EQ(requests("insert", "ok"), 5);
  EXPECT_EQ(requests("select", "ok"), 3);
  EXPECT_EQ(requests("update", "ok"), 1);
  EXPECT_EQ(requests("delete", "ok"), 1);
  EXPECT_EQ(requests("select", "invalid"), 1);
  EXPECT_EQ(page.Sample(R"(liststore_table_partitions{keyspace="k",table="t"})"), 4);
  EXPECT_GT(page.Sample(R"(liststore_table_live_bytes{keyspace="k",table="t"})"), 0);
  EXPECT_GE(page.Sample(R"(liststore_request_seconds_count{kind="write"})"), 7);
  EXPECT_GT(page.Sample(R"(liststore_request_seconds_sum{kind="write"})"), 0);
  EXPECT_GE(page.Sample("scylla_cql_inserts{scheduling_group_name=\"main\",shard=\"0\"}"), 5);
  EXPECT_GT(page.Sample(R"(liststore_memory_limit_bytes{kind="rows",name="all"})"), 0);
  EXPECT_GE(page.Sample("liststore_connections"), 1);
  EXPECT_EQ(page.Sample("liststore_shards"), 2);
  EXPECT_GT(page.Sample("liststore_lanes"), 2);
  EXPECT_LE(page.Sample("liststore_lanes_held"), page.Sample("liststore_lanes"));
  EXPECT_EQ(page.Sample("liststore_expiry_lag_seconds"), 0);
  EXPECT_EQ(page.Sample("liststore_expiry_scheduled_partitions"), 0);
  // An answer may be with its client before its thread is back.
  PrometheusPage later = Scrape();
  const auto running = [&](const std::string& face) {
    return later.Sample("liststore_requests_in_flight{face=\"" + face + "\",state=\"running\"}");
  };
  for (int scrapes = 0; scrapes < 10'000 && (running("cql") > 0 || running("http") > 1);
       ++scrapes) {
    later = Scrape();
  }
  EXPECT_EQ(running("cql"), 0);
  EXPECT_EQ(running("http"), 1) << "the one that asks";
  EXPECT_EQ(page.problems, std::vector<std::string>());
  EXPECT_EQ(page.types.at("scylla_storage_proxy_coordinator_read_latency"), "histogram");
}

// Times are from when a request was read, whoever it came from: none is of another epoch.
TEST_F(MetricsTest, StatementsOverHttpAreCountedToo) {
  HttpClient client(server_->http_port());
  ASSERT_EQ(client.Ask("POST /api/query", R"({"query":"SELECT * FROM system.local"})").status, 200);
  PrometheusPage page = Scrape();
  EXPECT_GE(page.Sample(R"(liststore_requests_total{keyspace="system",op="select",outcome="ok",)"
                        R"(table="local"})"),
            1);
  EXPECT_EQ(page.Sample(R"(liststore_request_seconds_bucket{kind="read",le="+Inf"})"),
            page.Sample(R"(liststore_request_seconds_bucket{kind="read",le="16.777216"})"));
}

TEST_F(MetricsTest, CountersGoOn) {
  Must("CREATE TABLE k.t (a int PRIMARY KEY)");
  const std::string series =
      R"(liststore_requests_total{keyspace="k",op="insert",outcome="ok",table="t"})";
  for (int round = 1; round <= 3; ++round) {
    Must("INSERT INTO k.t (a) VALUES (1)");
    EXPECT_EQ(Scrape().Sample(series), round);
  }
}

TEST_F(MetricsTest, PreparedOnesAreCountedWithTexts) {
  Must("CREATE TABLE k.t (a int PRIMARY KEY)");
  for (int i = 0; i < 4; ++i) {
    Must(CqlStatement{.text = "SELECT * FROM k.t WHERE a = ?",
                      .parameters = {{.bytes = cql::EncodeInt(i)}},
                      .prepared = true});
    Must("SELECT * FROM k.t WHERE a = 1");
  }
  PrometheusPage page = Scrape();
  EXPECT_EQ(
      page.Sample(R"(liststore_requests_total{keyspace="k",op="select",outcome="ok",table="t"})"),
      8);
  EXPECT_EQ(page.Sample("liststore_statements"), 1);
  EXPECT_GE(page.Sample(R"(liststore_statement_lookups_total{result="hit"})"), 1);
}

TEST_F(MetricsTest, TombstonesAreCounted) {
  Must("CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))");
  Must("CREATE TABLE k.other (a int PRIMARY KEY)");
  Must(
      "INSERT INTO k.t (a, b, c) VALUES (1, 1, 1) USING TIMESTAMP 1");  // from now on they are kept
  Must("DELETE FROM k.t USING TIMESTAMP 2 WHERE a = 1 AND b = 1");
  Must("DELETE FROM k.t USING TIMESTAMP 3 WHERE a = 2 AND b > 1 AND b < 9");
  Must("DELETE FROM k.t USING TIMESTAMP 4 WHERE a = 3");
  PrometheusPage page = Scrape();
  EXPECT_EQ(page.Sample(R"(liststore_table_tombstones_total{keyspace="k",table="t"})"), 3);
  EXPECT_EQ(page.Sample(R"(liststore_table_tombstones_total{keyspace="k",table="other"})"), 0);
}

// When they go is storage's: tests/storage/tombstone_counts_test.cc.
TEST_F(MetricsTest, TombstonesThatAreHeldAreCountedByKind) {
  Must("CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))");
  Must("CREATE TABLE k.other (a int PRIMARY KEY)");
  Must("INSERT INTO k.t (a, b, c) VALUES (1, 1, 1) USING TIMESTAMP 1");
  const auto remove = [&](int timestamp, const std::string& where) {
    Must("DELETE FROM k.t USING TIMESTAMP " + std::to_string(timestamp) + " WHERE " + where);
  };
  const auto held = [&] {
    PrometheusPage page = Scrape();
    std::string counts;
    for (const std::string kind : {"row", "range", "partition"}) {
      const double count = page.Sample("liststore_table_tombstones_held{keyspace=\"k\",kind=\"" +
                                       kind + "\",table=\"t\"}");
      counts += kind + " " + std::to_string(static_cast<int>(count)) + " ";
    }
    return counts;
  };
  remove(2, "a = 1 AND b = 1");
  remove(2, "a = 1 AND b = 1");
  remove(3, "a = 1 AND b = 2");
  remove(3, "a = 2 AND b > 1 AND b < 9");
  remove(4, "a = 3");
  EXPECT_EQ(held(), "row 2 range 1 partition 1 ");
  remove(5, "a = 1");
  EXPECT_EQ(held(), "row 0 range 1 partition 2 ");
  EXPECT_EQ(Scrape().samples.count(
                R"(liststore_table_tombstones_held{keyspace="k",kind="row",table="other"})"),
            0u)
      << "of a table that never had any there is nothing to say";
}

// Not those that find nothing to do: sent again, or older than what is there.
TEST_F(MetricsTest, TombstonesThatAreThereAreNotCountedAgain) {
  Must("CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))");
  Must("INSERT INTO k.t (a, b, c) VALUES (9, 1, 1) USING TIMESTAMP 1");
  const auto count = [&] {
    return Scrape().Sample(R"(liststore_table_tombstones_total{keyspace="k",table="t"})");
  };
  const struct {
    std::string where;
    std::string within;  // that is covered as well
  } kKinds[] = {{"a = 1 AND b = 1", "a = 1 AND b = 1"},
                {"a = 2 AND b > 1 AND b < 9", "a = 2 AND b > 3 AND b < 5"},
                {"a = 3", "a = 3 AND b = 7"}};
  double expected = 0;
  for (const auto& kind : kKinds) {
    const auto remove = [](int timestamp, const std::string& where) {
      return "DELETE FROM k.t USING TIMESTAMP " + std::to_string(timestamp) + " WHERE " + where;
    };
    Must(remove(50, kind.where));
    EXPECT_EQ(count(), ++expected) << kind.where;
    Must(remove(50, kind.where));
    Must(remove(49, kind.where));
    Must(remove(48, kind.within));
    EXPECT_EQ(count(), expected) << kind.where << " is there";
    Must(remove(51, kind.where));
    EXPECT_EQ(count(), ++expected) << kind.where << " is later";
  }
  // Beside others, and over a gap.
  Must("DELETE FROM k.t USING TIMESTAMP 51 WHERE a = 2 AND b > 20 AND b < 30");
  EXPECT_EQ(count(), ++expected);
  Must("DELETE FROM k.t USING TIMESTAMP 40 WHERE a = 2 AND b > 2 AND b < 25");
  EXPECT_EQ(count(), ++expected) << "9 to 20 was not deleted";
  Must("DELETE FROM k.t USING TIMESTAMP 40 WHERE a = 2 AND b > 2 AND b < 25");
  EXPECT_EQ(count(), expected);
}

TEST_F(MetricsTest, AStatementThatIsNotKnownIsOneMiss) {
  Must("CREATE TABLE k.t (a int PRIMARY KEY)");
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  const std::string miss = R"(liststore_statement_lookups_total{result="miss"})";
  for (int round = 1; round <= 3; ++round) {
    // [short bytes] id, consistency ONE, no flags.
    const std::string body = std::string("\0\x10", 2) +
                             std::string(16, static_cast<char>('a' + round)) +
                             std::string("\0\1\0", 3);
    const auto answer = client.Ask({.opcode = 0x0a, .body = body});
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->opcode, 0x00);
    EXPECT_EQ(Scrape().Sample(miss), round);
  }
}

TEST_F(MetricsTest, WhatExpiresIsScheduled) {
  Must("CREATE TABLE k.t (a int PRIMARY KEY, b int)");
  for (int i = 0; i < 7; ++i) {
    Must("INSERT INTO k.t (a, b) VALUES (" + std::to_string(i) + ", 1) USING TTL 3600");
  }
  PrometheusPage page = Scrape();
  EXPECT_EQ(page.Sample("liststore_expiry_scheduled_partitions"), 7);
  EXPECT_EQ(page.Sample("liststore_expiry_late_lanes"), 0);
}

// Also of what a fault has met before anybody has looked the statement up.
TEST_F(MetricsTest, PreparedOnesThatFailAreOfTheirTable) {
  Must("CREATE TABLE k.t (a int PRIMARY KEY)");
  Must(
      "INSERT INTO liststore.faults (name, op, times, action) VALUES ('f', 'INSERT', 2, "
      "'write_timeout')");
  const CqlStatement insert{.text = "INSERT INTO k.t (a) VALUES (?)",
                            .parameters = {{.bytes = cql::EncodeInt(1)}},
                            .prepared = true};
  for (int i = 0; i < 2; ++i) EXPECT_NE(Refusal(insert), "");
  Must(insert);
  PrometheusPage page = Scrape();
  EXPECT_EQ(page.Sample(R"(liststore_requests_total{keyspace="k",op="insert",)"
                        R"(outcome="write_timeout",table="t"})"),
            2);
  EXPECT_EQ(
      page.Sample(R"(liststore_requests_total{keyspace="k",op="insert",outcome="ok",table="t"})"),
      1);
  EXPECT_EQ(page.Sample("scylla_storage_proxy_coordinator_write_timeouts"
                        R"({scheduling_group_name="main",shard="0"})"),
            2);
}

// A name is whatever a client calls its table; of many tables those that come last are summed up.
TEST_F(MetricsTest, ManyTablesAreWithinABound) {
  constexpr int kTables = 1005;
  for (int i = 0; i < kTables; ++i) {
    Must("CREATE TABLE k.\"T" + std::to_string(i) + "\" (a int PRIMARY KEY)");
    Must("INSERT INTO k.\"T" + std::to_string(i) + "\" (a) VALUES (1)");
  }
  PrometheusPage page = Scrape();
  size_t tables = 0;
  double partitions = 0;
  for (const auto& [series, value] : page.samples) {
    if (!series.starts_with("liststore_table_partitions{")) continue;
    ++tables;
    partitions += value;
  }
  EXPECT_EQ(tables, 1001u);
  EXPECT_EQ(partitions, kTables);
  EXPECT_EQ(page.Sample(R"(liststore_table_partitions{keyspace="",table="_others"})"), 5);
}

}  // namespace metrics_test
}  // namespace liststore::testing
