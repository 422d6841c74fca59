// What a server says of itself, and what it keeps to itself.
#include <string>

#include "tests/hostile/hostile_session_test.h"

namespace liststore::testing {
namespace open_server_test {

class OpenServer : public HostileTest {};

TEST_F(OpenServer, WithoutInstrumentsHasNone) {
  CqlServerOptions options;
  options.instruments = false;
  options.journal_entries = 100;
  StartServer(options, "k");
  for (const std::string table : {"data", "clock", "faults", "requests", "journal", "lint"}) {
    EXPECT_EQ(Refusal("SELECT * FROM liststore." + table), "unconfigured table " + table);
  }
  EXPECT_EQ(Refusal("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'"),
            "unconfigured table data");
  EXPECT_EQ(Refusal("UPDATE liststore.clock SET advance = 1s WHERE key = 'clock'"),
            "unconfigured table clock");
  EXPECT_TRUE(Must("SELECT * FROM liststore.unsupported").rows.empty());
  EXPECT_FALSE(Must("SELECT * FROM liststore.memory").rows.empty());
}

TEST_F(OpenServer, ShowsWhoHoldsWhat) {
  CqlServerOptions options;
  options.client_memory_bytes = 128 * kMiB;
  StartServer(options, "k");
  Must("CREATE TABLE k.t (p int PRIMARY KEY, v blob)");
  Must("INSERT INTO k.t (p, v) VALUES (1, ?)", {{std::string(20 * kMiB, 'x')}});
  const auto limit = [&](const std::string& kind) {
    return cql::DecodeInteger(
        Cell("SELECT limit_bytes FROM liststore.memory WHERE kind = '" + kind + "'"));
  };
  EXPECT_EQ(limit("rows"), int64_t{64 << 20});
  EXPECT_EQ(limit("statements"), int64_t{16 << 20});
  EXPECT_EQ(limit("journal"), int64_t{16 << 20});
  EXPECT_EQ(limit("connections"), int64_t{96 << 20});
  const auto connections = [&] {
    return Must("SELECT name, bytes FROM liststore.memory WHERE kind = 'connection'").rows;
  };
  EXPECT_TRUE(connections().empty());
  RawCqlClient deaf(server_->cql_port(), "127.0.0.1", 0, /*receive_buffer_bytes=*/64 << 10);
  ASSERT_TRUE(deaf.StartUp());
  ASSERT_TRUE(deaf.Send(Query("SELECT v FROM k.t", 1).Bytes()));
  ASSERT_TRUE(deaf.ReadBytes(1));
  const auto held = connections();
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0][0], "127.0.0.1:" + std::to_string(deaf.source_port()));
  EXPECT_GT(cql::DecodeInteger(*held[0][1]), int64_t{10 << 20});
  deaf.Close();
  while (!connections().empty()) {
  }
}

TEST_F(OpenServer, CountsWhatBecameOfClients) {
  CqlServerOptions options;
  options.max_connections = 2;
  options.max_connections_per_address = 2;
  StartServer(options, "k");
  const auto counter = [&](const std::string& name) {
    return cql::DecodeInteger(
        Cell("SELECT value FROM liststore.counters WHERE name = '" + name + "'"));
  };
  RawCqlClient second(server_->cql_port());
  ASSERT_TRUE(second.StartUp());
  RawCqlClient third(server_->cql_port());
  const auto refused = third.Ask({.opcode = kOptions});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->opcode, kError);
  EXPECT_EQ(counter("connections_refused"), 1);
  EXPECT_GE(counter("connections"), 2);
  EXPECT_EQ(Must("SELECT * FROM liststore.counters").rows.size(), 20u);
}

}  // namespace open_server_test
}  // namespace liststore::testing
