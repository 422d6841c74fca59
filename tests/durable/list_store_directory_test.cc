// A directory that an embedded store made, opened by a server, and the other way round.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/cql/values/encode_value.h"
#include "liststore/cql_server.h"
#include "liststore/data_directory.h"
#include "liststore/list_store.h"
#include "tests/conformance/cql_session.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace list_store_directory_test {

class ListStoreDirectory : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<ListStore>> Embedded(uint32_t shards = 2) {
    Options options;
    options.keyspace = "Feat";
    options.memory_limit_bytes = uint64_t{64} << 20;
    options.shards = shards;
    options.data_dir = folder_ / "data";
    options.commit_log_segment_bytes = uint64_t{2} << 20;
    return ListStore::Open(options);
  }
  CqlServerOptions ServerOptions() {
    CqlServerOptions options;
    options.data_dir = folder_ / "data";
    options.commit_log = CommitLog::kOs;
    options.commit_log_segment_bytes = 2 << 20;
    options.memory_limit_bytes = 128 << 20;
    options.on_keeping = [this](std::string_view line) { said_.append(line).append("\n"); };
    return options;
  }
  void Serve() {
    auto server = CqlServer::Start(ServerOptions());
    ASSERT_TRUE(server.ok()) << server.status().message() << "\n" << said_;
    server_ = *std::move(server);
    session_ = std::make_unique<CqlSession>(server_->cql_port());
  }
  void Stop() {
    session_.reset();
    server_.reset();
  }
  void TearDown() override { Stop(); }
  CqlAnswer Must(const std::string& text) {
    CqlAnswer answer = session_->Run({.text = text, .parameters = {}});
    EXPECT_EQ(answer.error, "") << text;
    return answer;
  }

  static constexpr ListId kList = {"user", "history", "", "17"};
  const TempFolder folder_;
  std::string said_;
  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<CqlSession> session_;
};

TEST_F(ListStoreDirectory, GoesFromOneToTheOtherAndBack) {
  const uint64_t now = SystemClock::Instance().NowNanos();
  {
    auto store = Embedded();
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->CreateListFeature("user", "history", 86'400).ok());
    const std::vector<NewItem> items = {{now, "a"}, {now + 1, "b"}};
    ASSERT_TRUE((*store)->AddListItems(kList, items).ok());
  }
  Serve();
  if (HasFatalFailure()) return;
  // With its index, its TTLs and the features.
  EXPECT_EQ(Must("SELECT item_key FROM \"Feat\".list_items WHERE feature_key = 'user#history|' AND "
                 "entity_id = '17' AND value = 0x61")
                .rows.size(),
            1u);
  EXPECT_EQ(Must("SELECT * FROM \"Feat\".list_features").rows.size(), 1u);
  Must(
      "DELETE FROM \"Feat\".list_items WHERE feature_key = 'user#history|' AND entity_id = '17' "
      "AND "
      "item_key = '" +
      *Must("SELECT item_key FROM \"Feat\".list_items").rows[0][0] + "'");
  Must(
      "INSERT INTO \"Feat\".list_features (entity_type, feature, version, feature_ttl, own_ttl, "
      "ttl) "
      "VALUES ('user', 'clicks', '', 60, false, 60)");
  const auto described = Must("DESCRIBE KEYSPACE \"Feat\"");
  const auto roles = Must("SELECT role FROM system.roles");
  Stop();
  for (const bool takes_snapshot : {false, true}) {
    for (const uint32_t shards : {2u, 1u}) {
      auto store = Embedded(shards);
      ASSERT_TRUE(store.ok()) << store.status();
      (*store)->Verify();
      EXPECT_EQ((*store)->CountListItems(kList).value_or(9), 1u);
      ASSERT_EQ((*store)->ListFeatures().size(), 2u);
      EXPECT_EQ((*store)->ListFeatures()[0].feature, "clicks");
      EXPECT_EQ((*store)->ListFeatures()[0].ttl_seconds, 60);
      if (takes_snapshot) {
        ASSERT_TRUE((*store)->Snapshot().ok());
      }
    }
    // The server has its schema and its roles again.
    Serve();
    if (HasFatalFailure()) return;
    EXPECT_EQ(Must("DESCRIBE KEYSPACE \"Feat\"").rows, described.rows);
    EXPECT_EQ(Must("SELECT role FROM system.roles").rows, roles.rows);
    EXPECT_EQ(Must("SELECT * FROM \"Feat\".list_items").rows.size(), 1u);
    ASSERT_TRUE(server_->TakeSnapshot().ok());
    Stop();
  }
  // What was made by a server's snapshot alone.
  auto store = Embedded();
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->CountListItems(kList).value_or(9), 1u);
}

TEST_F(ListStoreDirectory, OtherTablesAreRefusedByName) {
  {
    auto store = Embedded();
    ASSERT_TRUE(store.ok()) << store.status();
  }
  Serve();
  if (HasFatalFailure()) return;
  Must("CREATE TABLE \"Feat\".clicks (p int PRIMARY KEY)");
  Stop();
  const absl::Status refused = Embedded().status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.message().find("has the table Feat.clicks"), std::string::npos) << refused;
  EXPECT_NE(refused.message().find("liststore serve --data-dir"), std::string::npos) << refused;
}

TEST_F(ListStoreDirectory, AServerThatIsLikeAnotherDatabaseIsRefused) {
  ASSERT_TRUE(Embedded().ok());
  CqlServerOptions options = ServerOptions();
  options.like = "cassandra:5.0";
  const absl::Status refused = CqlServer::Start(options).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_NE(refused.message().find("made like scylla:2025.1"), std::string::npos);
  Serve();
}

TEST_F(ListStoreDirectory, FeaturesThatNoStoreWritesAreRefusedByName) {
  {
    auto store = Embedded();
    ASSERT_TRUE(store.ok()) << store.status();
  }
  Serve();
  if (HasFatalFailure()) return;
  Must(
      "INSERT INTO \"Feat\".list_features (entity_type, feature, version, own_ttl, ttl) VALUES "
      "('user', 'clicks', 'v2', true, 60)");
  Stop();
  const absl::Status refused = Embedded().status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.message().find("clicks"), std::string::npos) << refused;
}

TEST_F(ListStoreDirectory, IsCheckedAndRecoveredAsAServersIs) {
  {
    auto store = Embedded(1);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->CreateListFeature("user", "history", 86'400).ok());
    const uint64_t now = SystemClock::Instance().NowNanos();
    for (uint64_t i = 0; i < 20; ++i) {
      const std::string value = "value number " + std::to_string(100 + i);
      const NewItem item{now + i, value};
      ASSERT_TRUE((*store)->AddListItems(kList, {&item, 1}).ok());
    }
  }
  const auto check = [this] {
    const auto is_whole = CheckDataDirectory(folder_ / "data", [](std::string_view) {});
    EXPECT_TRUE(is_whole.ok()) << is_whole.status();
    return is_whole.value_or(false);
  };
  EXPECT_TRUE(check());
  const std::string segment = folder_ / "data/log-0000-0000000000000001.log";
  std::string bytes = ReadFile(segment);
  const size_t at = bytes.find("value number 110");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'V';
  WriteFile(segment, bytes);
  EXPECT_FALSE(check());
  EXPECT_EQ(Embedded().status().code(), absl::StatusCode::kDataLoss);
  CqlServerOptions options = ServerOptions();
  options.commit_log = CommitLog::kOff;
  const absl::Status recovered = CqlServer::RecoverDataDirectory(options);
  ASSERT_TRUE(recovered.ok()) << recovered.message() << said_;
  auto store = Embedded();
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->CountListItems(kList).value_or(0), 19u);
}

TEST_F(ListStoreDirectory, AStoreThatIsKeptIsNotServed) {
  auto store = Embedded();
  ASSERT_TRUE(store.ok()) << store.status();
  CqlServerOptions options;
  options.store = store->get();
  EXPECT_EQ(CqlServer::Start(options).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace list_store_directory_test
}  // namespace liststore::testing
