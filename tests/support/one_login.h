// OneLogin: one role with a password, for tests of what logs in.
#ifndef LISTSTORE_TESTS_SUPPORT_ONE_LOGIN_H_
#define LISTSTORE_TESTS_SUPPORT_ONE_LOGIN_H_

#include <string>
#include <utility>

#include "engine/roles/authenticator.h"
#include "engine/roles/password_hash.h"
#include "engine/roles/role_state.h"
#include "engine/roles/role_store.h"

namespace liststore::testing {

class OneLogin {
 public:
  // One whose password takes `salted_hash`, as crypt(3) writes it.
  struct Hashed {
    std::string salted_hash;
  };
  OneLogin(const std::string& name, const std::string& password)
      : OneLogin(name, Hashed{roles::HashPassword(password)}) {}
  OneLogin(const std::string& name, const Hashed& hashed)
      : store_({.asks_for_passwords = true}, StateOf(name, hashed.salted_hash)),
        authenticator_(store_) {}

  roles::Authenticator* authenticator() { return &authenticator_; }

 private:
  static roles::RoleState StateOf(const std::string& name, const std::string& salted_hash) {
    roles::RoleState state;
    state.Put(name, /*can_login=*/true, /*is_superuser=*/true, salted_hash);
    return state;
  }

  roles::RoleStore store_;
  roles::Authenticator authenticator_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_ONE_LOGIN_H_
