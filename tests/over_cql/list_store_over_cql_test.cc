// A list store and CQL see the same rows: what one writes the other reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liststore/cql_server.h"
#include "liststore/item_key.h"
#include "liststore/list_store.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace list_store_over_cql_test {

constexpr uint64_t kNow = 1'724'949'845'430'000'000;
constexpr int64_t kHour = 3600;
constexpr uint8_t kError = 0x00;

class ListStoreOverCql : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.clock = &clock_;
    options.shards = 2;
    options.memory_limit_bytes = 64 << 20;
    options.expiry_listener = [this](const ExpiredItem& item) {
      const std::lock_guard lock(told_mutex_);
      told_.push_back(std::string(item.entity_id) + " " + std::string(item.value));
    };
    auto store = ListStore::Open(options);
    ASSERT_TRUE(store.ok());
    store_ = *std::move(store);
    ASSERT_TRUE(store_->CreateListFeature("user", "reads", kHour).ok());
    CqlServerOptions server_options;
    server_options.store = store_.get();
    auto server = CqlServer::Start(server_options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
    client_ = std::make_unique<RawCqlClient>(server_->cql_port());
    ASSERT_TRUE(client_->StartUp());
  }

  std::vector<std::string> Column(std::string_view statement) {
    const auto frame = client_->Query(statement);
    EXPECT_TRUE(frame);
    return OneColumnOf(*frame);
  }
  void Run(std::string_view statement) {
    const auto frame = client_->Query(statement);
    ASSERT_TRUE(frame);
    ASSERT_NE(frame->opcode, kError) << statement << ": " << ErrorMessageOf(*frame);
  }
  std::string Refusal(std::string_view statement) {
    const auto frame = client_->Query(statement);
    return frame && frame->opcode == kError ? ErrorMessageOf(*frame) : "";
  }
  std::vector<std::string> Items() {
    ListItems items;
    EXPECT_TRUE(store_->GetListItems(list_, {.limit = 100}, &items).ok());
    std::vector<std::string> values;
    for (const ListItemView item : items) values.emplace_back(item.value);
    return values;
  }

  // What the listener was told, as soon as it is so much: the server gives back at its own times.
  std::vector<std::string> Told(size_t count) {
    while (true) {
      store_->Reclaim(SIZE_MAX);
      const std::lock_guard lock(told_mutex_);
      if (told_.size() < count) continue;
      std::ranges::sort(told_);
      return std::exchange(told_, {});
    }
  }

  ManualClock clock_{kNow};
  std::mutex told_mutex_;
  std::vector<std::string> told_;  // from several threads
  const ListId list_{"user", "reads", "", "17"};
  std::unique_ptr<ListStore> store_;
  std::unique_ptr<CqlServer> server_;
  std::unique_ptr<RawCqlClient> client_;
};

constexpr std::string_view kOfList =
    " FROM feature_store.list_items WHERE feature_key = 'user#reads|' AND entity_id = '17'";

// The view of the local index by value. Its partition is the list, its rows go by value.
TEST_F(ListStoreOverCql, ItemsAreReadByTheViewOfTheirIndex) {
  ASSERT_TRUE(
      store_->AddListItems(list_, std::vector<NewItem>{{kNow - 2, "b"}, {kNow - 1, "a"}}).ok());
  EXPECT_EQ(Column("SELECT blobAsText(value) FROM feature_store.list_items_by_value_index WHERE "
                   "feature_key = 'user#reads|' AND entity_id = '17'"),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(
      Refusal("DELETE FROM feature_store.list_items_by_value_index WHERE feature_key = 'a' AND "
              "entity_id = 'b'"),
      "Cannot directly modify a materialized view");
}

TEST_F(ListStoreOverCql, ItemsOfTheStoreAreRows) {
  const std::vector<NewItem> items = {{kNow - 2, "older"}, {kNow - 1, "newer"}};
  ASSERT_TRUE(store_->AddListItems(list_, items).ok());
  EXPECT_EQ(Column("SELECT value" + std::string(kOfList)),
            (std::vector<std::string>{"newer", "older"}));
  EXPECT_EQ(Column("SELECT item_key" + std::string(kOfList) + " LIMIT 1"),
            std::vector<std::string>{*MakeItemKey(kNow - 1, "newer")});
  clock_.AdvanceSeconds(kHour);
  EXPECT_TRUE(Column("SELECT value" + std::string(kOfList)).empty()) << "their TTL has ended";
}

TEST_F(ListStoreOverCql, RowsAreItemsOfTheStore) {
  // 0x62 is b.
  Run("INSERT INTO feature_store.list_items (feature_key, entity_id, item_key, value) VALUES "
      "('user#reads|', '17', '" +
      *MakeItemKey(kNow, "b") + "', 0x62) USING TTL 60");
  const std::vector<NewItem> items = {{kNow - 1, "a"}};
  ASSERT_TRUE(store_->AddListItems(list_, items).ok());
  EXPECT_EQ(Items(), (std::vector<std::string>{"b", "a"}));
  const auto removed = store_->RemoveListItemsWithValue(list_, "b");
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(*removed, 1u);
  EXPECT_EQ(Column("SELECT value" + std::string(kOfList)), std::vector<std::string>{"a"});
  Run("DELETE" + std::string(kOfList));
  EXPECT_TRUE(Items().empty());
}

TEST_F(ListStoreOverCql, FeaturesAreReadByStatementsAndChangedByTheStoreAlone) {
  EXPECT_EQ(Column("SELECT feature FROM feature_store.list_features"),
            std::vector<std::string>{"reads"});
  EXPECT_NE(Refusal("DELETE FROM feature_store.list_features WHERE entity_type = 'user'"), "");
  EXPECT_NE(Refusal("DROP TABLE feature_store.list_items"), "");
  EXPECT_NE(Refusal("TRUNCATE feature_store.list_features"), "");
  Run("TRUNCATE feature_store.list_items");
  EXPECT_EQ(Column("SELECT feature FROM feature_store.list_features"),
            std::vector<std::string>{"reads"});
}

TEST_F(ListStoreOverCql, ADeletedFeatureIsGoneForStatementsAtOnce) {
  const std::vector<NewItem> items = {{kNow - 1, "a"}};
  ASSERT_TRUE(store_->AddListItems(list_, items).ok());
  ASSERT_TRUE(store_->DeleteListFeature("user", "reads").ok());
  EXPECT_TRUE(Column("SELECT value" + std::string(kOfList)).empty());
  EXPECT_TRUE(Column("SELECT value FROM feature_store.list_items").empty());
}

// Whoever wrote them, and whoever gives them back.
TEST_F(ListStoreOverCql, TheListenerIsToldOfRowsThatAreOver) {
  const auto insert = [&](std::string_view entity, std::string_view value, int ttl) {
    Run("INSERT INTO feature_store.list_items (feature_key, entity_id, item_key, value) VALUES "
        "('user#reads|', '" +
        std::string(entity) + "', '" + *MakeItemKey(clock_.NowNanos(), value) + "', textAsBlob('" +
        std::string(value) + "')) USING TTL " + std::to_string(ttl));
  };
  const std::vector<NewItem> items = {{kNow - 1, "added"}};
  ASSERT_TRUE(store_->AddListItems(list_, items).ok());
  insert("17", "inserted", 60);
  insert("18", "deleted", 60);
  Run("DELETE FROM feature_store.list_items WHERE feature_key = 'user#reads|' AND entity_id = "
      "'18'");
  clock_.AdvanceSeconds(60);
  EXPECT_EQ(Told(1), std::vector<std::string>{"17 inserted"});
  clock_.AdvanceSeconds(kHour);
  EXPECT_EQ(Told(1), std::vector<std::string>{"17 added"});
  insert("17", "truncated", 60);
  Run("TRUNCATE feature_store.list_items");
  insert("18", "behind it", 60);
  clock_.AdvanceSeconds(60);
  EXPECT_EQ(Told(1), std::vector<std::string>{"18 behind it"});
}

}  // namespace list_store_over_cql_test
}  // namespace liststore::testing
