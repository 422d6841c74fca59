#include "liststore/cql_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "liststore/list_store.h"
#include "liststore/server_clock.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace cql_server_test {

constexpr uint64_t kStart = 1'700'000'000'000'000'000;

CqlServerOptions Small() {
  CqlServerOptions options;
  options.memory_limit_bytes = 64 << 20;
  return options;
}

TEST(CqlServer, ServesUntilItStops) {
  auto server = CqlServer::Start(Small());
  ASSERT_TRUE(server.ok());
  EXPECT_NE((*server)->cql_port(), 0);
  EXPECT_NE((*server)->shard_aware_port(), 0);
  RawCqlClient client((*server)->cql_port());
  ASSERT_TRUE(client.StartUp());
  EXPECT_EQ((*server)->connection_count(), 1u);
  (*server)->Stop();
  EXPECT_FALSE(client.Read());
  EXPECT_EQ((*server)->connection_count(), 0u);
  (*server)->Stop();
}

TEST(CqlServer, SeveralInOneProcess) {
  std::vector<std::unique_ptr<CqlServer>> servers;
  for (int i = 0; i < 4; ++i) {
    auto server = CqlServer::Start(Small());
    ASSERT_TRUE(server.ok());
    servers.push_back(*std::move(server));
  }
  for (auto& server : servers) EXPECT_TRUE(RawCqlClient(server->cql_port()).StartUp());
}

TEST(CqlServer, OptionsHaveBounds) {
  ManualClock clock(kStart);
  const auto refused = [](auto change) {
    CqlServerOptions options = Small();
    change(options);
    return absl::IsInvalidArgument(CqlServer::Start(options).status());
  };
  EXPECT_TRUE(refused([](CqlServerOptions& options) { options.shards = 0; }));
  EXPECT_TRUE(refused([](CqlServerOptions& options) { options.shards = 257; }));
  EXPECT_TRUE(refused([](CqlServerOptions& options) { options.memory_limit_bytes = 1000; }));
  EXPECT_TRUE(refused([](CqlServerOptions& options) { options.password = "secret"; }));
  EXPECT_TRUE(refused([](CqlServerOptions& options) { options.address = "nowhere"; }));
  EXPECT_TRUE(refused([&](CqlServerOptions& options) {
    options.clock = &clock;
    options.manual_clock = &clock;
  }));
  ServerClock server_clock;
  EXPECT_TRUE(refused([&](CqlServerOptions& options) {
    options.server_clock = &server_clock;
    options.clock = &clock;
  }));
}

uint64_t CounterOf(const CqlServer& server, std::string_view name) {
  for (const CqlCounter& counter : server.Counters()) {
    if (counter.name == name) return counter.value;
  }
  ADD_FAILURE() << "there is no counter " << name;
  return 0;
}

TEST(CqlServer, TellsOfConnectionsAndSchemaChanges) {
  std::mutex mutex;
  std::vector<std::string> told;
  CqlServerOptions options = Small();
  options.http_port = 0;
  options.on_connection = [&](const CqlConnectionNotice& notice) {
    const std::lock_guard lock(mutex);
    told.push_back(std::string(notice.protocol) + (notice.is_open ? " open " : " ended ") +
                   std::string(notice.client.substr(0, notice.client.find(':'))) + " " +
                   std::string(notice.driver));
  };
  options.on_schema_change = [&](const CqlSchemaNotice& notice) {
    const std::lock_guard lock(mutex);
    told.push_back(std::string(notice.change) + " " + std::string(notice.target) + " " +
                   std::string(notice.keyspace) + "." + std::string(notice.name));
  };
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok());
  {
    RawCqlClient client((*server)->cql_port());
    ASSERT_TRUE(client.StartUp({{"CQL_VERSION", "3.0.0"}, {"DRIVER_NAME", "d"}}));
    EXPECT_EQ(CounterOf(**server, "connections"), 1u);
    for (const char* statement : {"CREATE KEYSPACE k WITH replication = {'class': "
                                  "'SimpleStrategy', 'replication_factor': 1}",
                                  "CREATE TABLE k.t (a int PRIMARY KEY)", "DROP TABLE k.t"}) {
      ASSERT_TRUE(client.Query(statement));
    }
  }
  RawCqlClient http((*server)->http_port());
  http.Send("GET /health HTTP/1.1\r\n\r\n");
  EXPECT_EQ(http.ReadBytes(15), "HTTP/1.1 200 OK");
  (*server)->Stop();
  const std::lock_guard lock(mutex);
  // The server sees the end of one connection while another begins.
  std::ranges::sort(told);
  EXPECT_EQ(told, (std::vector<std::string>{"CQL ended 127.0.0.1 d", "CQL open 127.0.0.1 ",
                                            "CREATED KEYSPACE k.", "CREATED TABLE k.t",
                                            "DROPPED TABLE k.t", "HTTP ended 127.0.0.1 ",
                                            "HTTP open 127.0.0.1 "}));
}

// As where the heap refuses what telling takes: connections end then.
TEST(CqlServer, WhatCannotBeToldIsLeftOut) {
  std::atomic<int> told = 0;
  const auto refuse = [&told] {
    ++told;
    throw std::bad_alloc();
  };
  CqlServerOptions options = Small();
  options.http_port = 0;
  options.on_connection = [&](const CqlConnectionNotice&) { refuse(); };
  options.on_schema_change = [&](const CqlSchemaNotice&) { refuse(); };
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok());
  {
    RawCqlClient client((*server)->cql_port());
    ASSERT_TRUE(client.StartUp());
    EXPECT_EQ(client
                  .Query("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', "
                         "'replication_factor': 1}")
                  ->opcode,
              0x08);
    RawCqlClient http((*server)->http_port());
    http.Send("GET /health HTTP/1.1\r\n\r\n");
    EXPECT_EQ(http.ReadBytes(15), "HTTP/1.1 200 OK");
  }
  (*server)->Stop();
  EXPECT_EQ(told, 5) << "two that come and go, and the schema";
}

// A loop that is held up is known from outside.
TEST(CqlServer, TheLongestTurnIsThatOfALoopThatHangs) {
  std::atomic<bool> goes_on = false;
  CqlServerOptions options = Small();
  options.on_connection = [&](const CqlConnectionNotice& notice) {
    if (notice.is_open) goes_on.wait(false);
  };
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok());
  RawCqlClient client((*server)->cql_port());
  client.Send(RawFrame{.opcode = 0x05});
  // A loop that has nothing to do comes round once a second. A wait in vain is ended by the test's time limit.
  while ((*server)->LongestTurn() < std::chrono::milliseconds(1500)) std::this_thread::yield();
  goes_on = true;
  goes_on.notify_all();
  EXPECT_TRUE(client.Read());
  while ((*server)->LongestTurn() > std::chrono::milliseconds(1400)) std::this_thread::yield();
}

// Whoever stops a server gets rid of its clients, also while a snapshot is taken that takes minutes.
TEST(CqlServer, ClosesItsPortsWhileASnapshotIsTaken) {
  const TempFolder folder;
  std::atomic<bool> goes_on = false;
  std::atomic<bool> is_taken = false;
  CqlServerOptions options = Small();
  options.data_dir = folder / "data";
  options.on_keeping = [&](std::string_view line) {
    if (!line.starts_with("snapshot")) return;
    is_taken = true;
    is_taken.notify_all();
    goes_on.wait(false);
  };
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  RawCqlClient client((*server)->cql_port());
  ASSERT_TRUE(client.StartUp());
  absl::Status taken;
  std::thread taker([&] { taken = (*server)->TakeSnapshot(); });
  is_taken.wait(false);
  std::atomic<bool> has_stopped = false;
  std::thread stopper([&] {
    (*server)->Stop();
    has_stopped = true;
  });
  EXPECT_FALSE(client.Read()) << "its end";
  EXPECT_FALSE(has_stopped) << "the snapshot is waited for";
  goes_on = true;
  goes_on.notify_all();
  taker.join();
  stopper.join();
  EXPECT_TRUE(taken.ok()) << taken;
  EXPECT_TRUE((*server)->stop_status().ok());
}

TEST(CqlServer, GivesBackWhatExpiresInTheStoreItServes) {
  ManualClock clock(kStart);
  Options store_options;
  store_options.clock = &clock;
  store_options.shards = 2;
  store_options.memory_limit_bytes = 64 << 20;
  auto store = ListStore::Open(store_options);
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE((*store)->CreateListFeature("user", "clicks", 60).ok());
  const std::vector<NewItem> items = {{kStart, "a"}, {kStart, "b"}};
  ASSERT_TRUE((*store)->AddListItems(ListId{"user", "clicks", "", "1"}, items).ok());

  CqlServerOptions options;
  options.store = store->get();
  options.shards = 7;  // the store's two count
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok());
  clock.AdvanceSeconds(61);
  // Within two of the loop's seconds: each answer is a turn of it.
  RawCqlClient client((*server)->cql_port());
  auto supported = client.Ask({.opcode = 0x05});
  while (supported && (*store)->NextExpirySeconds().has_value()) {
    supported = client.Ask({.opcode = 0x05});
  }
  (*store)->Verify();
  ASSERT_TRUE(supported);
  EXPECT_NE(supported->body.find(std::string("SCYLLA_NR_SHARDS\0\1\0\1"
                                             "2",
                                             21)),
            std::string::npos);
}

}  // namespace cql_server_test
}  // namespace liststore::testing
