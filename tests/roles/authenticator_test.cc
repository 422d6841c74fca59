#include "engine/roles/authenticator.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/roles/password_hash.h"

namespace liststore {
namespace authenticator_test {

using roles::RoleState;

constexpr char kIncorrect[] = "Username and/or password are incorrect";

class AuthenticatorTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, bool can_login, std::optional<std::string> hash) {
    store_.Change([&](RoleState& state) {
      state.Put(name, can_login, false, std::move(hash));
      return true;
    });
  }

  roles::RoleStore store_;
  roles::Authenticator authenticator_{store_};
};

TEST_F(AuthenticatorTest, TakesTheRightPasswordAlone) {
  Put("bob", true, roles::HashPassword("secret"));
  // Twice: who was let in once is recognised.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(authenticator_.LogIn("bob", "secret"), std::nullopt);
    EXPECT_EQ(authenticator_.LogIn("bob", "Secret"), kIncorrect);
    EXPECT_EQ(authenticator_.LogIn("Bob", "secret"), kIncorrect);
    EXPECT_EQ(authenticator_.LogIn("cassandra", ""), kIncorrect) << "it has no password";
  }
}

TEST_F(AuthenticatorTest, ForgetsWhatIsNoLongerSo) {
  Put("bob", true, roles::HashPassword("secret"));
  EXPECT_EQ(authenticator_.LogIn("bob", "secret"), std::nullopt);
  Put("bob", true, roles::HashPassword("other"));
  EXPECT_EQ(authenticator_.LogIn("bob", "secret"), kIncorrect);
  EXPECT_EQ(authenticator_.LogIn("bob", "other"), std::nullopt);
  store_.Change([](RoleState& state) {
    state.Drop("bob");
    return true;
  });
  EXPECT_EQ(authenticator_.LogIn("bob", "other"), kIncorrect);
}

TEST_F(AuthenticatorTest, WhoMayNotLogInIsToldSoOnceThePasswordIsRight) {
  const std::string hash = roles::HashPassword("secret");
  Put("app", false, hash);
  EXPECT_EQ(authenticator_.LogIn("app", "wrong"), kIncorrect);
  EXPECT_EQ(authenticator_.LogIn("app", "secret"), "app is not permitted to log in");
  Put("app", true, hash);
  EXPECT_EQ(authenticator_.LogIn("app", "secret"), std::nullopt);
  Put("app", false, hash);
  EXPECT_EQ(authenticator_.LogIn("app", "secret"), "app is not permitted to log in");
}

TEST_F(AuthenticatorTest, AHashThatIsNoneLetsNobodyIn) {
  Put("bob", true, "not a hash");
  EXPECT_EQ(authenticator_.LogIn("bob", "not a hash"), "Could not verify password");
  Put("carol", true, "");
  EXPECT_EQ(authenticator_.LogIn("carol", ""), "Could not verify password");
}

}  // namespace authenticator_test
}  // namespace liststore
