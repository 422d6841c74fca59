#include "engine/roles/permission_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace liststore {
namespace permission_cache_test {

using roles::Permission;

std::shared_ptr<const TableDefinition> Table() { return std::make_shared<const TableDefinition>(); }

TEST(PermissionCacheTest, KnowsWhatItWasTold) {
  roles::PermissionCache cache;
  const auto table = Table();
  EXPECT_FALSE(cache.Allows(1, *table, Permission::kSelect));
  cache.Put(1, table, {Permission::kSelect});
  EXPECT_TRUE(cache.Allows(1, *table, Permission::kSelect));
  EXPECT_FALSE(cache.Allows(1, *table, Permission::kModify));
  EXPECT_FALSE(cache.Allows(2, *table, Permission::kSelect)) << "the roles have changed";
  EXPECT_FALSE(cache.Allows(1, *Table(), Permission::kSelect)) << "another table";
}

TEST(PermissionCacheTest, ForgetsAllWhenTheRolesChange) {
  roles::PermissionCache cache;
  std::vector<std::shared_ptr<const TableDefinition>> tables;
  for (int i = 0; i < 50; ++i) {
    tables.push_back(Table());
    cache.Put(1, tables.back(), {Permission::kSelect});
    EXPECT_TRUE(cache.Allows(1, *tables.back(), Permission::kSelect)) << "the last is always there";
  }
  cache.Put(2, tables[0], {Permission::kModify});
  for (const auto& table : tables) {
    EXPECT_FALSE(cache.Allows(2, *table, Permission::kSelect));
    EXPECT_FALSE(cache.Allows(1, *table, Permission::kSelect));
  }
  EXPECT_TRUE(cache.Allows(2, *tables[0], Permission::kModify));
}

// A new definition never has the address of one whose permissions are known.
TEST(PermissionCacheTest, KeepsTheDefinitionsThatItKnows) {
  roles::PermissionCache cache;
  std::weak_ptr<const TableDefinition> known;
  {
    const auto table = Table();
    known = table;
    cache.Put(1, table, {Permission::kSelect});
  }
  EXPECT_FALSE(known.expired());
}

}  // namespace permission_cache_test
}  // namespace liststore
