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
  OneLogin(const std::string& name, const std::string& password)
      : store_({.asks_for_passwords = true}, StateOf(name, password)), authenticator_(store_) {}

  roles::Authenticator* authenticator() { return &authenticator_; }

 private:
  static roles::RoleState StateOf(const std::string& name, const std::string& password) {
    roles::RoleState state;
    state.Put(name, /*can_login=*/true, /*is_superuser=*/true, roles::HashPassword(password));
    return state;
  }

  roles::RoleStore store_;
  roles::Authenticator authenticator_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_ONE_LOGIN_H_
