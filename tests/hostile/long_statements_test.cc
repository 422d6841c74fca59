// Clients whose statements take long: others are answered meanwhile.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "tests/hostile/hostile_session_test.h"

namespace liststore::testing {
namespace hostile_long_statements_test {

class LongStatementsOfOthers : public HostileTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.shards = 1;
    // However slow the machine is.
    options.scylla_options = {{"range_request_timeout_in_ms", "600000"}};
    StartServer(options, "k");
    Must("CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))");
    for (int p = 0; p < 40; ++p) {
      std::string batch = "BEGIN UNLOGGED BATCH ";
      for (int c = 0; c < 1000; ++c) {
        batch += "INSERT INTO k.t (p, c, v) VALUES (" + std::to_string(p) + ", " +
                 std::to_string(c) + ", 'some text') ";
      }
      Must(batch + "APPLY BATCH");
    }
  }
};

TEST_F(LongStatementsOfOthers, KeepNobodyWaiting) {
  constexpr int kClients = 20, kRequests = 4;
  RawCqlClient other(server_->cql_port());
  ASSERT_TRUE(other.StartUp());
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<RawCqlClient>(server_->cql_port()));
    ASSERT_TRUE(clients.back()->StartUp());
    std::string frames;
    for (int stream = 0; stream < kRequests; ++stream) {
      frames += Query("SELECT max(toJson(v)) FROM k.t", stream).Bytes();
    }
    ASSERT_TRUE(clients.back()->Send(frames));
  }
  ExpectAnswers(other, 100);
  for (const auto& client : clients) {
    for (int i = 0; i < kRequests; ++i) {
      const auto answer = client->Read();
      ASSERT_TRUE(answer);
      EXPECT_EQ(OneColumnOf(*answer), std::vector<std::string>{"\"some text\""});
    }
  }
}

// Of one client no more are at work or held than LongStatements::kCountMax; the others wait where
// they are.
TEST_F(LongStatementsOfOthers, AreHeardBitByBit) {
  constexpr int kRequests = 200;
  RawCqlClient other(server_->cql_port());
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(other.StartUp() && client.StartUp());
  std::string frames;
  for (int stream = 0; stream < kRequests; ++stream) {
    frames += Query("SELECT max(toJson(v)) FROM k.t", stream).Bytes();
  }
  ASSERT_TRUE(client.Send(frames));
  ExpectAnswers(other, 20);
  std::vector<bool> answered(kRequests);
  for (int i = 0; i < kRequests; ++i) {
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->opcode, kResult);
    answered[static_cast<size_t>(answer->stream)] = true;
  }
  EXPECT_EQ(std::ranges::count(answered, true), kRequests);
}

// While a table is copied and a view is filled, others read and write them, and what they write is in
// the copy and in the view.
TEST_F(LongStatementsOfOthers, CopyTablesThatOthersWriteTo) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  int written = 0;
  const auto write_meanwhile = [&](const std::string& change) {
    ASSERT_TRUE(client.Send(Query(change, 1).Bytes()));
    for (int i = 0; i < 100; ++i, ++written) {
      const std::string p = std::to_string(written % 40);
      Must("INSERT INTO k.t (p, c, v) VALUES (" + p + ", " + std::to_string(2000 + written) +
           ", 'new')");
      Must("DELETE FROM k.t WHERE p = " + p + " AND c = " + std::to_string(written));
      Must("UPDATE k.t SET v = 'other' WHERE p = " + p +
           " AND c = " + std::to_string(written + 400));
      ASSERT_EQ(Must("SELECT v FROM k.t WHERE p = " + p + " AND c = 999").rows.size(), 1u);
    }
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->opcode, kResult) << change << ErrorMessageOf(*answer);
  };
  write_meanwhile("ALTER TABLE k.t ADD a int");
  write_meanwhile("CREATE INDEX by_v ON k.t (v)");
  write_meanwhile("ALTER TABLE k.t DROP a");
  write_meanwhile(
      "CREATE MATERIALIZED VIEW k.by_c AS SELECT v FROM k.t WHERE c IS NOT NULL AND p IS NOT NULL "
      "PRIMARY KEY (c, p)");
  const auto count = [&](const std::string& rest) {
    return cql::DecodeInteger(Cell("SELECT count(*) FROM k." + rest));
  };
  // Each writes a row, and takes one out.
  EXPECT_EQ(written, 400);
  EXPECT_EQ(count("t"), 40'000);
  EXPECT_EQ(count("by_c"), 40'000);
  EXPECT_EQ(count("t WHERE v = 'new'"), 400);
  EXPECT_EQ(count("t WHERE v = 'other'"), 400);
  EXPECT_EQ(count("by_c WHERE v = 'new' ALLOW FILTERING"), 400);
  EXPECT_EQ(count("by_c WHERE v = 'other' ALLOW FILTERING"), 400);
}

// Other changes of the schema, of the same table and of another, wait for it.
TEST_F(LongStatementsOfOthers, CopyTablesThatOthersTruncateAndDrop) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(client.Send(Query("ALTER TABLE k.t ADD a int", 1).Bytes()));
  Must("CREATE TABLE k.u (p int PRIMARY KEY)");
  Must("TRUNCATE k.t");
  const auto answer = client.Read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->opcode, kResult) << ErrorMessageOf(*answer);
  EXPECT_EQ(Must("SELECT a FROM k.t").rows.size(), 0u);
  ASSERT_TRUE(client.Send(
      Query("CREATE MATERIALIZED VIEW k.by_c AS SELECT v FROM k.t WHERE c IS NOT NULL AND p IS NOT "
            "NULL PRIMARY KEY (c, p)",
            1)
          .Bytes()));
  Must("DROP KEYSPACE k");
  ASSERT_TRUE(client.Read());
}

// Results without pages of many statements at the same time have one budget.
TEST_F(LongStatementsOfOthers, AreRefusedWhenTheirResultsAreTooMuch) {
  CqlServerOptions options;
  options.shards = 1;
  options.client_memory_bytes = 32 * kMiB;
  StartServer(options, "k");
  Must("CREATE TABLE k.wide (p int, c int, v text, PRIMARY KEY (p, c))");
  const std::string text(8 << 10, 'x');
  for (int c = 0; c < 512; ++c) {
    Must("INSERT INTO k.wide (p, c, v) VALUES (1, " + std::to_string(c) + ", '" + text + "')");
  }
  const PeakMemory memory;
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<RawCqlClient>(server_->cql_port()));
    ASSERT_TRUE(clients.back()->StartUp());
    std::string frames;
    for (int stream = 0; stream < 8; ++stream) {
      frames += Query("SELECT v FROM k.wide", stream).Bytes();
    }
    ASSERT_TRUE(clients.back()->Send(frames));
  }
  int answered = 0;
  for (const auto& client : clients) {
    for (int i = 0; i < 8; ++i) {
      const auto answer = ReadAnswer(*client);
      if (!answer) break;  // who holds most may be cut off
      answered += answer->opcode == kResult ? 1 : 0;
    }
  }
  EXPECT_GT(answered, 0);
  EXPECT_LT(memory.judged_bytes(), 128 * kMiB);
}

}  // namespace hostile_long_statements_test
}  // namespace liststore::testing
