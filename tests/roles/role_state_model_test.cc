// Random changes of roles against lists of what was granted, looked at one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/roles/role_state.h"
#include "tests/support/seed.h"

namespace liststore {
namespace role_state_model_test {

using roles::Permission;
using roles::PermissionSet;
using roles::Resource;
using roles::ResourceKind;
using roles::RoleState;

struct Granted {
  std::string role;
  Resource resource;
  Permission permission;
};

// Naive: edges and grants in lists.
struct Model {
  std::vector<std::pair<std::string, bool>> names;         // and whether it is a superuser
  std::vector<std::pair<std::string, std::string>> edges;  // role, member
  std::vector<Granted> grants;

  bool Has(const std::string& name) const {
    return std::ranges::any_of(names, [&](const auto& entry) { return entry.first == name; });
  }
  // `what` is `who`, or comes to it by edges.
  bool Reaches(const std::string& who, const std::string& what) const {
    if (who == what) return true;
    return std::ranges::any_of(
        edges, [&](const auto& edge) { return edge.second == who && Reaches(edge.first, what); });
  }
  bool IsSuperuser(const std::string& who) const {
    return std::ranges::any_of(
        names, [&](const auto& entry) { return entry.second && Reaches(who, entry.first); });
  }
  bool May(const std::string& who, Permission permission, const Resource& resource) const {
    for (std::optional<Resource> at = resource; at; at = at->Parent()) {
      if (IsSuperuser(who) && at->ApplicablePermissions().Has(permission)) return true;
      for (const Granted& grant : grants) {
        if (grant.permission == permission && grant.resource == *at && Reaches(who, grant.role)) {
          return true;
        }
      }
    }
    return false;
  }
};

class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed) {}

  void Step() {
    const std::string a = Name();
    const std::string b = Name();
    switch (random_.Below(7)) {
      case 0:
        return Create(a);
      case 1:
        if (random_.OneIn(3)) Drop(a);
        return;
      case 2:
        return GrantRole(a, b);
      case 3:
        return RevokeRole(a, b);
      case 4:
        return Grant(a);
      case 5:
        return Revoke(a);
      default:
        if (random_.OneIn(4)) RevokeAll();
    }
  }

  void Compare() {
    state_.Verify();
    for (int i = 0; i < 8; ++i) {
      const std::string name = Name();
      const Resource resource = AnyResource();
      const std::optional<PermissionSet> permissions = state_.PermissionsOn(name, resource);
      ASSERT_EQ(permissions.has_value(), model_.Has(name)) << name;
      if (!permissions) continue;
      ASSERT_EQ(state_.IsSuperuser(name), model_.IsSuperuser(name)) << name;
      PermissionSet::All().ForEach([&](Permission permission) {
        EXPECT_EQ(permissions->Has(permission), model_.May(name, permission, resource))
            << name << " " << roles::ToString(permission) << " " << resource.ToString();
      });
      const auto reached = state_.RolesOf(name);
      for (const auto& [other, is_superuser] : model_.names) {
        EXPECT_EQ(reached->contains(other), model_.Reaches(name, other)) << name << " " << other;
      }
    }
  }

 private:
  std::string Name() { return std::string(1, static_cast<char>('a' + random_.Below(6))); }
  Resource AnyResource() {
    const std::string keyspace = "k" + std::to_string(random_.Below(2));
    switch (random_.Below(6)) {
      case 0:
        return Resource(ResourceKind::kData);
      case 1:
        return Resource::Keyspace(keyspace);
      case 2:
        return Resource(ResourceKind::kRole);
      case 3:
        return Resource::Role(Name());
      default:
        return Resource::Table(keyspace, "t" + std::to_string(random_.Below(2)));
    }
  }

  void Create(const std::string& name) {
    if (model_.Has(name)) return;
    const bool is_superuser = random_.OneIn(8);
    state_.Put(name, true, is_superuser, std::nullopt);
    model_.names.emplace_back(name, is_superuser);
  }
  void Drop(const std::string& name) {
    if (!model_.Has(name)) return;
    state_.Drop(name);
    std::erase_if(model_.names, [&](const auto& entry) { return entry.first == name; });
    std::erase_if(model_.edges,
                  [&](const auto& edge) { return edge.first == name || edge.second == name; });
    std::erase_if(model_.grants, [&](const Granted& grant) {
      return grant.role == name || grant.resource == Resource::Role(name);
    });
  }
  void GrantRole(const std::string& role, const std::string& member) {
    const bool may = model_.Has(role) && model_.Has(member) && !model_.Reaches(member, role) &&
                     !model_.Reaches(role, member);
    EXPECT_EQ(!state_.GrantRole(role, member).has_value(), may) << role << " " << member;
    if (may) model_.edges.emplace_back(role, member);
  }
  void RevokeRole(const std::string& role, const std::string& member) {
    const std::pair edge(role, member);
    const bool is_there = std::ranges::count(model_.edges, edge) > 0;
    const bool is_own = role == member && model_.Has(role);
    EXPECT_EQ(!state_.RevokeRole(role, member).has_value(), is_there || is_own);
    std::erase(model_.edges, edge);
  }
  void Grant(const std::string& name) {
    if (!model_.Has(name)) return;
    const Granted grant{name, AnyResource(), static_cast<Permission>(random_.Below(8))};
    if (!grant.resource.ApplicablePermissions().Has(grant.permission)) return;
    state_.Grant(name, grant.resource, {grant.permission});
    model_.grants.push_back(grant);
  }
  void Revoke(const std::string& name) {
    const Resource resource = AnyResource();
    const auto permission = static_cast<Permission>(random_.Below(8));
    state_.Revoke(name, resource, {permission});
    std::erase_if(model_.grants, [&](const Granted& grant) {
      return grant.role == name && grant.resource == resource && grant.permission == permission;
    });
  }
  void RevokeAll() {
    const Resource resource = AnyResource();
    state_.RevokeAll(resource);
    const bool is_keyspace = resource.kind() == ResourceKind::kData && resource.parts().size() == 1;
    std::erase_if(model_.grants, [&](const Granted& grant) {
      return grant.resource == resource || (is_keyspace && grant.resource.is_table() &&
                                            grant.resource.parts()[0] == resource.parts()[0]);
    });
  }

  Random random_;
  RoleState state_;
  Model model_;
};

TEST(RoleStateModelTest, IsWhatWasGranted) {
  const uint64_t steps = testing::TestSteps(20'000);
  Walk walk(testing::TestSeed());
  for (uint64_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    walk.Step();
    walk.Compare();
  }
}

}  // namespace role_state_model_test
}  // namespace liststore
