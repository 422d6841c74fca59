// PermissionCache: what a connection's role may do with the tables that it has used lately.
#ifndef LISTSTORE_ENGINE_ROLES_PERMISSION_CACHE_H_
#define LISTSTORE_ENGINE_ROLES_PERMISSION_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/model/schema.h"
#include "engine/roles/permission.h"

namespace liststore::roles {

// Of one role, on one thread. A look is two comparisons. Goes by definitions, which it keeps alive
// (kPlaces of them), and not by ids, which statements may choose: a definition is of one name.
class PermissionCache {
 public:
  // True: by the roles of this version the permission was found to be there. `version`: at least 1.
  bool Allows(uint64_t version, const TableDefinition& table, Permission permission) const {
    const Place& place = places_[PlaceOf(table)];
    return version == version_ && place.table.get() == &table && place.permissions.Has(permission);
  }
  // By the roles of `version`, or of a later one.
  void Put(uint64_t version, std::shared_ptr<const TableDefinition> table,
           PermissionSet permissions) {
    if (version != version_) places_ = {};
    version_ = version;
    Place& place = places_[PlaceOf(*table)];
    place = {std::move(table), permissions};
  }

 private:
  static constexpr size_t kPlaces = 8;

  struct Place {
    std::shared_ptr<const TableDefinition> table;
    PermissionSet permissions;
  };
  // Definitions are several cache lines apart.
  static size_t PlaceOf(const TableDefinition& table) {
    const auto address = reinterpret_cast<uintptr_t>(&table);
    return (address >> 6 ^ address >> 10) % kPlaces;
  }

  uint64_t version_ = 0;
  std::array<Place, kPlaces> places_ = {};
};

}  // namespace liststore::roles

#endif  // LISTSTORE_ENGINE_ROLES_PERMISSION_CACHE_H_
