// A server under several clients and users of its store at once: what must hold whatever their
// order. Meant for ThreadSanitizer, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "liststore/cql_server.h"
#include "liststore/list_store.h"
#include "tests/conformance/cql_session.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace concurrent_clients_test {

constexpr uint64_t kNow = 1'724'949'845'430'000'000;
constexpr uint8_t kRegister = 0x0b;
constexpr std::string_view kReplication =
    " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

class ConcurrentClients : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.clock = &clock_;
    options.shards = 3;
    options.memory_limit_bytes = 64 << 20;
    auto store = ListStore::Open(options);
    ASSERT_TRUE(store.ok());
    store_ = *std::move(store);
    ASSERT_TRUE(store_->CreateListFeature("user", "reads", 3600).ok());
    CqlServerOptions server_options;
    server_options.store = store_.get();
    server_options.journal_entries = 200;
    auto server = CqlServer::Start(server_options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
    CqlSession session = Connect();
    Must(session, "CREATE KEYSPACE app" + std::string(kReplication));
    Must(session, "CREATE TABLE app.items (k int, c int, v text, PRIMARY KEY (k, c))");
  }

  CqlSession Connect() { return CqlSession(server_->cql_port()); }

  // Prepared statements are forgotten with every change of their table: a driver prepares again.
  static CqlAnswer Run(CqlSession& session, const std::string& text, bool prepared = false) {
    for (;;) {
      CqlAnswer answer = session.Run({text, {}, prepared});
      if (!answer.error.starts_with("No prepared statement")) return answer;
    }
  }
  static CqlAnswer Must(CqlSession& session, const std::string& text, bool prepared = false) {
    CqlAnswer answer = Run(session, text, prepared);
    EXPECT_EQ(answer.error, "") << text;
    return answer;
  }

  // Writes a partition of its own, and finds there what it has written.
  void WriteAndRead(int partition, uint64_t steps) {
    CqlSession session = Connect();
    const std::string k = std::to_string(partition);
    for (uint64_t step = 0; step < steps; ++step) {
      const bool prepared = step % 4 != 0;
      const std::string c = std::to_string(step);
      Must(session, "INSERT INTO app.items (k, c, v) VALUES (" + k + ", " + c + ", 'v" + c + "')",
           prepared);
      const CqlAnswer last =
          Must(session, "SELECT v FROM app.items WHERE k = " + k + " AND c = " + c, prepared);
      ASSERT_EQ(last.rows.size(), 1u);
      EXPECT_EQ(last.rows[0][0], "v" + c);
      if (step % 16 != 15) continue;
      const CqlAnswer all = Must(session, "SELECT c FROM app.items WHERE k = " + k);
      EXPECT_EQ(all.rows.size(), 16u);
      Must(session, "DELETE FROM app.items WHERE k = " + k);
      EXPECT_TRUE(Must(session, "SELECT c FROM app.items WHERE k = " + k).rows.empty());
    }
  }

  void ChangeSchema(uint64_t steps) {
    CqlSession session = Connect();
    for (uint64_t step = 0; step < steps; ++step) {
      Must(session, "CREATE TABLE app.passing (k int PRIMARY KEY, v int)");
      Must(session, "ALTER TABLE app.items ADD extra int");
      Must(session, "TRUNCATE app.passing");
      Must(session, "CREATE KEYSPACE passing" + std::string(kReplication));
      Must(session, "ALTER TABLE app.items DROP extra");
      Must(session, "DROP KEYSPACE passing");
      Must(session, "DROP TABLE app.passing");
    }
  }

  // A table that comes and goes.
  void UsePassing(uint64_t steps) {
    CqlSession session = Connect();
    for (uint64_t step = 0; step < steps; ++step) {
      for (const char* text : {"INSERT INTO app.passing (k, v) VALUES (1, 2)",
                               "SELECT v FROM app.passing WHERE k = 1", "SELECT * FROM app.passing",
                               "BEGIN BATCH INSERT INTO app.items (k, c, v) VALUES (-1, 1, ''); "
                               "INSERT INTO app.passing (k, v) VALUES (7, 8); APPLY BATCH"}) {
        const CqlAnswer answer = Run(session, text, step % 2 == 0);
        // The second: of a look through a whole table, which takes longer than some changes.
        EXPECT_TRUE(answer.error.empty() || answer.error == "unconfigured table passing" ||
                    answer.error == "The schema changes faster than statements run")
            << text << ": " << answer.error;
      }
    }
  }

  void ReadTheSystem(uint64_t steps) {
    CqlSession session = Connect();
    for (uint64_t step = 0; step < steps; ++step) {
      EXPECT_GE(Must(session, "SELECT address, port FROM system.clients").rows.size(), 1u);
      EXPECT_EQ(Must(session, "SELECT key, host_id FROM system.local").rows.size(), 1u);
      EXPECT_GE(
          Must(session, "SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'app'")
              .rows.size(),
          3u);
      EXPECT_GE(Must(session, "SELECT table_name FROM system_schema.tables").rows.size(), 1u);
      EXPECT_GE(Must(session, "DESCRIBE KEYSPACE app").rows.size(), 2u);
    }
  }

  // A journal that wraps, is read, cleared and changed while others fill it.
  void UseTheJournal(uint64_t steps) {
    CqlSession session = Connect();
    for (uint64_t step = 0; step < steps; ++step) {
      const CqlAnswer requests = Must(session, "SELECT outcome, client FROM liststore.requests");
      EXPECT_LE(requests.rows.size(), 200u);
      for (const ResultRow& row : requests.rows) {
        EXPECT_NE(row.at(0), "no_answer");
        EXPECT_TRUE(row.at(1).has_value());
      }
      EXPECT_EQ(Must(session, "SELECT recorded, kept FROM liststore.journal").rows.size(), 1u);
      const std::string set = step % 4 == 0   ? "enabled = false"
                              : step % 4 == 1 ? "enabled = true"
                                              : "capacity = " + std::to_string(50 + step % 150);
      Must(session, "UPDATE liststore.journal SET " + set + " WHERE key = 'journal'");
      if (step % 8 == 7) Must(session, "TRUNCATE liststore.requests");
    }
  }

  // Clients that are told of changes, and leave without having read all.
  void ComeAndGo(uint64_t steps) {
    for (uint64_t step = 0; step < steps; ++step) {
      RawCqlClient client(server_->cql_port());
      ASSERT_TRUE(client.StartUp());
      ASSERT_TRUE(client.Ask({.opcode = kRegister, .body = StringListBody({"SCHEMA_CHANGE"})}));
      if (step % 4 == 0) {
        ASSERT_TRUE(client.Query("SELECT * FROM app.items"));
      }
      (void)server_->connection_count();
    }
  }

  // The program's own calls, and a client that reads what they write.
  void UseTheStore(uint64_t steps) {
    CqlSession session = Connect();
    for (uint64_t step = 0; step < steps; ++step) {
      const std::string id = std::to_string(step % 3);
      const std::string value = std::to_string(step);
      const NewItem item{clock_.NowNanos() + step, value};
      const ListId list{"user", "reads", "", id};
      ASSERT_TRUE(store_->AddListItems(list, {&item, 1}).ok());
      const CqlAnswer newest = Must(session,
                                    "SELECT value FROM feature_store.list_items WHERE feature_key "
                                    "= 'user#reads|' AND entity_id = '" +
                                        id + "' LIMIT 1",
                                    step % 2 == 0);
      ASSERT_EQ(newest.rows.size(), 1u);
      EXPECT_EQ(newest.rows[0][0], value);
      if (step % 8 == 0) clock_.AdvanceSeconds(1);
      if (step % 16 != 15) continue;
      ASSERT_TRUE(store_->CreateListFeature("user", "other", 60).ok());
      ASSERT_TRUE(store_->DeleteListFeature("user", "other").ok());
      ASSERT_TRUE(store_->RemoveAllListItems(list).ok());
      (void)store_->GetStats();
    }
  }

  static void AtOnce(const std::vector<std::function<void()>>& works) {
    std::vector<std::thread> threads;
    for (const auto& work : works) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
  }

  ManualClock clock_{kNow};
  std::unique_ptr<ListStore> store_;
  std::unique_ptr<CqlServer> server_;
};

TEST_F(ConcurrentClients, EachSeesItsOwnWhileTheSchemaChanges) {
  const uint64_t steps = TestSteps(1000);
  AtOnce({[&] { WriteAndRead(1, steps); }, [&] { WriteAndRead(2, steps); },
          [&] { ChangeSchema(steps / 8); }, [&] { UsePassing(steps / 4); },
          [&] { ReadTheSystem(steps / 8); }, [&] { ComeAndGo(steps / 4); },
          [&] { UseTheJournal(steps / 8); }, [&] { UseTheStore(steps); }});
  store_->Verify();
}

// Two clients write the same few rows while views come and go, one is read, and the table is
// emptied now and then. At the end the views have what the table has.
TEST_F(ConcurrentClients, ViewsAreWhatTheirTableIs) {
  const uint64_t steps = TestSteps(600);
  CqlSession session = Connect();
  Must(session, "CREATE TABLE app.base (p int, c int, v int, w int, PRIMARY KEY (p, c))");
  const auto create = [](const std::string& name) {
    return "CREATE MATERIALIZED VIEW app." + name +
           " AS SELECT * FROM app.base WHERE v IS NOT NULL AND c IS NOT NULL PRIMARY KEY (v, p, c)";
  };
  Must(session, create("lasting"));
  const auto write = [&](uint64_t seed) {
    CqlSession own = Connect();
    Random random(seed);
    for (uint64_t step = 0; step < steps; ++step) {
      const std::string p = std::to_string(random.Below(3));
      const std::string where = " WHERE p = " + p + " AND c = " + std::to_string(random.Below(3));
      const std::string v = std::to_string(random.Below(4));
      switch (random.Below(6)) {
        case 0:
          Must(own, "DELETE FROM app.base" + where, true);
          break;
        case 1:
          Must(own, "DELETE v FROM app.base" + where, true);
          break;
        case 2:
          Must(own, "UPDATE app.base SET v = " + v + where + " IF w > 1", true);
          break;
        case 3:
          Must(own, "BEGIN BATCH UPDATE app.base SET w = 1" + where +
                        "; DELETE FROM app.base WHERE p = 4; APPLY BATCH");
          break;
        default:
          Must(own, "UPDATE app.base SET v = " + v + ", w = " + std::to_string(step) + where, true);
      }
      if (random.OneIn(100)) Must(own, "TRUNCATE app.base");
    }
  };
  const auto come_and_go = [&] {
    CqlSession own = Connect();
    for (uint64_t step = 0; step < steps / 20; ++step) {
      Must(own, create("passing"));
      Must(own, "SELECT * FROM app.lasting WHERE v = 1", true);
      Must(own, "DROP MATERIALIZED VIEW app.passing");
    }
    Must(own, create("passing"));
  };
  AtOnce({[&] { write(TestSeed()); }, [&] { write(TestSeed() + 1); }, come_and_go});
  std::vector<ResultRow> expected = Must(session, "SELECT v, p, c, w FROM app.base").rows;
  std::erase_if(expected, [](const ResultRow& row) { return !row[0]; });
  std::ranges::sort(expected);
  for (const char* view : {"lasting", "passing"}) {
    std::vector<ResultRow> found =
        Must(session, "SELECT v, p, c, w FROM app." + std::string(view)).rows;
    std::ranges::sort(found);
    EXPECT_EQ(found, expected) << view;
  }
  store_->Verify();
}

TEST_F(ConcurrentClients, AreAnsweredOrCutOffWhenTheServerStops) {
  std::atomic<int> answers = 0;
  const auto ask = [&](std::string_view text) {
    RawCqlClient client(server_->cql_port());
    ASSERT_TRUE(client.StartUp());
    while (client.Query(text)) ++answers;
  };
  AtOnce({[&] { ask("INSERT INTO app.items (k, c, v) VALUES (1, 2, 'x')"); },
          [&] { ask("SELECT * FROM app.items"); }, [&] { ask("SELECT * FROM system.clients"); },
          [&] { ask("ALTER TABLE app.items WITH comment = 'x'"); },
          [&] {
            while (server_->connection_count() < 4 || answers < 100) std::this_thread::yield();
            server_->Stop();
          }});
  EXPECT_EQ(server_->connection_count(), 0u);
  store_->Verify();
}

}  // namespace concurrent_clients_test
}  // namespace liststore::testing
