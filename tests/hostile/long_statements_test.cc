// Clients whose statements take long: others are answered meanwhile.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

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
