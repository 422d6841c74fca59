// Resource: what permissions are of: data, roles, functions.
#ifndef LISTSTORE_ENGINE_ROLES_RESOURCE_H_
#define LISTSTORE_ENGINE_ROLES_RESOURCE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/roles/permission.h"

namespace liststore::roles {

enum class ResourceKind : uint8_t {
  kData,
  kRole,
  kFunctions
};

// A value. All of a kind, or a part of it: who may do something with all may do it with each part.
// Source: ScyllaDB auth/resource.cc.
class Resource {
 public:
  // All keyspaces, roles or functions.
  explicit Resource(ResourceKind kind) : kind_(kind) {}
  static Resource Keyspace(std::string name) { return {ResourceKind::kData, {std::move(name)}}; }
  static Resource Table(std::string keyspace, std::string name) {
    return {ResourceKind::kData, {std::move(keyspace), std::move(name)}};
  }
  static Resource Role(std::string name) { return {ResourceKind::kRole, {std::move(name)}}; }
  static Resource FunctionsIn(std::string keyspace) {
    return {ResourceKind::kFunctions, {std::move(keyspace)}};
  }
  // `arguments`: types as they were written.
  static Resource Function(std::string keyspace, std::string name,
                           const std::vector<std::string>& arguments);

  ResourceKind kind() const { return kind_; }
  // Keyspace and table; role; keyspace, function and types. None: all of the kind.
  const std::vector<std::string>& parts() const { return parts_; }
  bool is_table() const { return kind_ == ResourceKind::kData && parts_.size() == 2; }

  // "data/ks/t": as tables of the system have it.
  std::string Name() const;
  // "<table ks.t>": as messages have it.
  std::string ToString() const;
  // What it is a part of; nullopt: of nothing.
  std::optional<Resource> Parent() const;
  // What can be permitted of it.
  PermissionSet ApplicablePermissions() const;

  auto operator<=>(const Resource&) const = default;

 private:
  Resource(ResourceKind kind, std::vector<std::string> parts)
      : kind_(kind), parts_(std::move(parts)) {}

  ResourceKind kind_;
  std::vector<std::string> parts_;
};

}  // namespace liststore::roles

#endif  // LISTSTORE_ENGINE_ROLES_RESOURCE_H_
