#include "engine/roles/resource.h"

#include <gtest/gtest.h>

#include <string>

namespace liststore {
namespace resource_test {

using roles::Permission;
using roles::PermissionSet;
using roles::Resource;
using roles::ResourceKind;

struct Example {
  Resource resource;
  std::string name, text;
  std::string parent;  // its name; empty: none
};

TEST(ResourceTest, NamesTextsAndParents) {
  const Example examples[] = {
      {Resource(ResourceKind::kData), "data", "<all keyspaces>", ""},
      {Resource::Keyspace("ks"), "data/ks", "<keyspace ks>", "data"},
      {Resource::Table("ks", "t"), "data/ks/t", "<table ks.t>", "data/ks"},
      {Resource(ResourceKind::kRole), "roles", "<all roles>", ""},
      {Resource::Role("bob"), "roles/bob", "<role bob>", "roles"},
      {Resource(ResourceKind::kFunctions), "functions", "<all functions>", ""},
      {Resource::FunctionsIn("ks"), "functions/ks", "<all functions in ks>", "functions"},
      {Resource::Function("ks", "f", {"int", "text"}), "functions/ks/f/int/text",
       "<function ks.f(int,text,)>", "functions/ks"},
      {Resource::Function("ks", "f", {}), "functions/ks/f", "<function ks.f()>", "functions/ks"},
  };
  for (const Example& example : examples) {
    EXPECT_EQ(example.resource.Name(), example.name);
    EXPECT_EQ(example.resource.ToString(), example.text);
    const auto parent = example.resource.Parent();
    EXPECT_EQ(parent ? parent->Name() : "", example.parent) << example.name;
  }
}

TEST(ResourceTest, WhatIsApplicable) {
  using enum Permission;
  EXPECT_EQ(Resource::Table("ks", "t").ApplicablePermissions(),
            (PermissionSet{kAlter, kDrop, kSelect, kModify, kAuthorize}));
  EXPECT_EQ(Resource::Keyspace("ks").ApplicablePermissions(),
            (PermissionSet{kCreate, kAlter, kDrop, kSelect, kModify, kAuthorize}));
  EXPECT_EQ(Resource(ResourceKind::kRole).ApplicablePermissions(),
            (PermissionSet{kCreate, kAlter, kDrop, kAuthorize, kDescribe}));
  EXPECT_EQ(Resource::Role("r").ApplicablePermissions(),
            (PermissionSet{kAlter, kDrop, kAuthorize}));
  EXPECT_EQ(Resource::FunctionsIn("ks").ApplicablePermissions(),
            (PermissionSet{kCreate, kAlter, kDrop, kAuthorize, kExecute}));
  EXPECT_EQ(Resource::Function("ks", "f", {}).ApplicablePermissions(),
            (PermissionSet{kAlter, kDrop, kAuthorize, kExecute}));
}

TEST(PermissionSetTest, IsASet) {
  PermissionSet set = {Permission::kSelect};
  EXPECT_TRUE(set.Has(Permission::kSelect));
  EXPECT_FALSE(set.Has(Permission::kModify));
  set.Add({Permission::kModify, Permission::kDrop});
  std::string words;
  set.ForEach(
      [&words](Permission permission) { words.append(roles::ToString(permission)).append(" "); });
  EXPECT_EQ(words, "DROP SELECT MODIFY ");
  EXPECT_EQ(set.And({Permission::kDrop, Permission::kCreate}), PermissionSet{Permission::kDrop});
  set.Remove(PermissionSet::All());
  EXPECT_TRUE(set.empty());
}

}  // namespace resource_test
}  // namespace liststore
