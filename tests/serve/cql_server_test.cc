#include "liststore/cql_server.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "liststore/list_store.h"
#include "liststore/server_clock.h"
#include "tests/support/raw_cql_client.h"

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
