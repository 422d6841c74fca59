#include "engine/roles/role_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace liststore {
namespace role_store_test {

using roles::Permission;
using roles::Resource;
using roles::RoleState;
using roles::RoleStore;

bool Create(RoleStore& store, const std::string& name) {
  return store.Change([&](RoleState& state) {
    if (state.Find(name) != nullptr) return false;
    state.Put(name, true, false, std::nullopt);
    return true;
  }) == RoleStore::Outcome::kChanged;
}

TEST(RoleStoreTest, BeginsAsAScyllaDbWithoutLogins) {
  const RoleStore store;
  EXPECT_FALSE(store.rules().asks_for_passwords);
  const auto roles = store.snapshot();
  ASSERT_EQ(roles->roles().size(), 1u);
  EXPECT_EQ(roles->roles().begin()->first, "cassandra");
  EXPECT_TRUE(roles->IsSuperuser("cassandra"));
}

TEST(RoleStoreTest, ChangesAreSeenByTheirVersion) {
  RoleStore store;
  const auto before = store.snapshot();
  const uint64_t version = store.version();
  EXPECT_GE(version, 1u);
  EXPECT_TRUE(Create(store, "bob"));
  EXPECT_NE(store.version(), version);
  EXPECT_EQ(before->Find("bob"), nullptr) << "who has a snapshot keeps it";
  EXPECT_NE(store.snapshot()->Find("bob"), nullptr);
  const uint64_t later = store.version();
  EXPECT_FALSE(Create(store, "bob"));
  EXPECT_EQ(store.version(), later) << "nothing has changed";
}

TEST(RoleStoreTest, GoesBackToItsStartOrTheMark) {
  RoleStore store;
  Create(store, "bob");
  store.Mark();
  Create(store, "carol");
  uint64_t version = store.version();
  store.Reset();
  EXPECT_NE(store.version(), version);
  EXPECT_NE(store.snapshot()->Find("bob"), nullptr);
  EXPECT_EQ(store.snapshot()->Find("carol"), nullptr);
  store.Forget();
  EXPECT_NE(store.snapshot()->Find("bob"), nullptr) << "to forget changes nothing";
  store.Reset();
  EXPECT_EQ(store.snapshot()->Find("bob"), nullptr);
  EXPECT_NE(store.snapshot()->Find("cassandra"), nullptr);
}

TEST(RoleStoreTest, RefusesWhatHasNoRoom) {
  RoleStore store;
  const std::string name(60'000, 'n');
  size_t made = 0;
  RoleStore::Outcome outcome = RoleStore::Outcome::kChanged;
  while (outcome == RoleStore::Outcome::kChanged) {
    ASSERT_LT(made, 1000u);
    outcome = store.Change([&](RoleState& state) {
      state.Put(name + std::to_string(made), true, false, std::nullopt);
      return true;
    });
    made += outcome == RoleStore::Outcome::kChanged;
  }
  EXPECT_EQ(outcome, RoleStore::Outcome::kTooLarge);
  EXPECT_GT(made, 250u);
  EXPECT_EQ(store.snapshot()->roles().size(), made + 1) << "nothing of it was done";
  EXPECT_LE(store.snapshot()->Bytes(), RoleStore::kBytesMax);
}

TEST(RoleStoreTest, ReadersSeeWholeStatesWhileOthersChangeThem) {
  RoleStore store;
  Create(store, "a");
  Create(store, "b");
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      const auto state = store.snapshot();
      const bool of_a = state->PermissionsOn("a", Resource::Keyspace("k"))->Has(Permission::kDrop);
      const bool of_b = state->PermissionsOn("b", Resource::Keyspace("k"))->Has(Permission::kDrop);
      EXPECT_EQ(of_a, of_b);
    }
  });
  for (int i = 0; i < 500; ++i) {
    store.Change([&](RoleState& state) {
      for (const char* name : {"a", "b"}) {
        if (i % 2 == 0) {
          state.Grant(name, Resource::Keyspace("k"), {Permission::kDrop});
        } else {
          state.Revoke(name, Resource::Keyspace("k"), {Permission::kDrop});
        }
      }
      return true;
    });
  }
  done = true;
  reader.join();
}

}  // namespace role_store_test
}  // namespace liststore
