// Authenticator: whether a name and a password are those of a role that may log in.
#ifndef LISTSTORE_ENGINE_ROLES_AUTHENTICATOR_H_
#define LISTSTORE_ENGINE_ROLES_AUTHENTICATOR_H_

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/md5.h"
#include "engine/base/mutex.h"
#include "engine/roles/role_store.h"

namespace liststore::roles {

// Thread-safe. Hashing takes milliseconds, so that who has logged in once is recognised
// by a digest of the password under a secret of this process: a pool of connections costs one hash.
// Wrong passwords are always hashed, those of names that are no roles too: the time does not tell
// which names are some.
class Authenticator {
 public:
  // `store` outlives it.
  explicit Authenticator(const RoleStore& store);
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  // nullopt: they may come in. Else why not, in the words of ScyllaDB
  // auth/password_authenticator.cc and service/client_state.cc, check_user_can_login.
  std::optional<std::string> LogIn(std::string_view name, std::string_view password);
  // LogIn will hash: milliseconds, or as long as the role's hash asks for. Else microseconds.
  bool TakesLong(std::string_view name, std::string_view password);

 private:
  // Those who have logged in; when there are more all are hashed again.
  static constexpr size_t kKnownMax = 1000;

  struct Known {
    std::string salted_hash;
    Md5Digest digest;
  };
  Md5Digest DigestOf(const std::string& salted_hash, std::string_view password) const;
  bool IsKnown(std::string_view name, const std::string& salted_hash, const Md5Digest& digest);

  const RoleStore& store_;
  const std::string secret_;
  const std::string nobodys_hash_;  // of what nobody knows
  Mutex mutex_;
  std::map<std::string, Known, std::less<>> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::roles

#endif  // LISTSTORE_ENGINE_ROLES_AUTHENTICATOR_H_
