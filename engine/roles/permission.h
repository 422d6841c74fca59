// Permission: what may be done with a resource. PermissionSet: several of them.
#ifndef LISTSTORE_ENGINE_ROLES_PERMISSION_H_
#define LISTSTORE_ENGINE_ROLES_PERMISSION_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace liststore::roles {

// In the order of ScyllaDB auth/permission.hh, by which sets of them are sorted.
enum class Permission : uint8_t {
  kCreate,
  kAlter,
  kDrop,
  kSelect,
  kModify,     // INSERT, UPDATE, DELETE, TRUNCATE
  kAuthorize,  // GRANT and REVOKE
  kDescribe,   // of all roles: LIST ROLES shows all
  kExecute,    // of functions
};
inline constexpr size_t kPermissions = 8;

// "SELECT".
std::string_view ToString(Permission permission);

// A value; O(1).
class PermissionSet {
 public:
  constexpr PermissionSet() = default;
  constexpr PermissionSet(std::initializer_list<Permission> permissions) {
    for (const Permission permission : permissions) Add(permission);
  }
  static constexpr PermissionSet All() {
    PermissionSet all;
    all.bits_ = (1u << kPermissions) - 1;
    return all;
  }

  constexpr bool Has(Permission permission) const { return (bits_ & BitOf(permission)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr void Add(Permission permission) {
    bits_ = static_cast<uint8_t>(bits_ | BitOf(permission));
  }
  constexpr void Add(PermissionSet other) { bits_ = static_cast<uint8_t>(bits_ | other.bits_); }
  constexpr void Remove(PermissionSet other) {
    bits_ = static_cast<uint8_t>(bits_ & ~unsigned{other.bits_});
  }
  // What both have.
  constexpr PermissionSet And(PermissionSet other) const {
    other.bits_ = static_cast<uint8_t>(bits_ & other.bits_);
    return other;
  }
  // Calls visit(permission) for each, in their order.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (size_t i = 0; i < kPermissions; ++i) {
      const auto permission = static_cast<Permission>(i);
      if (Has(permission)) visit(permission);
    }
  }

  constexpr auto operator<=>(const PermissionSet&) const = default;

 private:
  static constexpr unsigned BitOf(Permission permission) {
    return 1u << static_cast<unsigned>(permission);
  }

  uint8_t bits_ = 0;
};

}  // namespace liststore::roles

#endif  // LISTSTORE_ENGINE_ROLES_PERMISSION_H_
