#include "engine/serve/role_setup.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/roles/password_hash.h"

namespace liststore {
namespace {

constexpr std::string_view kPackage = "org.apache.cassandra.auth.";
// Source: ScyllaDB auth/password_authenticator.cc, DEFAULT_USER_NAME and DEFAULT_USER_PASSWORD.
constexpr std::string_view kDefaultName = "cassandra";
constexpr std::string_view kDefaultPassword = "cassandra";

// Whether the option names `on`; else it names `off`. With or without their package.
absl::StatusOr<bool> IsOn(const settings::ScyllaConfig& config, std::string_view option,
                          std::string_view on, std::string_view off) {
  const std::string& text = config.of(option).text;
  std::string_view name = text;
  if (name.starts_with(kPackage)) name.remove_prefix(kPackage.size());
  if (name == on || name == off) return name == on;
  return absl::InvalidArgumentError(absl::StrCat(ToAbsl(option), " is '", text, "', not ",
                                                 ToAbsl(off), " or ", ToAbsl(on),
                                                 ": there are no others here"));
}

// Somebody who may do everything can log in: the default superuser is for a server that has none, and
// does not come back when it was dropped. Source: ScyllaDB auth/password_authenticator.cc,
// create_default_if_missing.
bool HasSuperuser(const roles::RoleState& state, bool by_password) {
  return std::ranges::any_of(state.roles(), [&](const auto& of_name) {
    const roles::Role& role = of_name.second;
    return role.is_superuser && role.can_login && (role.salted_hash || !by_password);
  });
}

}  // namespace

absl::StatusOr<std::shared_ptr<roles::RoleStore>> MakeRoles(const CqlServerOptions& options,
                                                            const settings::ScyllaConfig& config,
                                                            const roles::RoleState* kept) {
  roles::RoleRules rules;
  LS_ASSIGN_OR_RETURN(
      rules.asks_for_passwords,
      IsOn(config, "authenticator", "PasswordAuthenticator", "AllowAllAuthenticator"));
  LS_ASSIGN_OR_RETURN(rules.checks_permissions,
                      IsOn(config, "authorizer", "CassandraAuthorizer", "AllowAllAuthorizer"));
  std::string name(kDefaultName);
  std::optional<std::string> hash;
  if (!options.user.empty()) {
    rules.asks_for_passwords = true;
    name = options.user;
    hash = roles::HashPassword(options.password);
  } else if (rules.asks_for_passwords) {
    const std::string& chosen = config.of("auth_superuser_name").text;
    if (!chosen.empty()) name = chosen;
    const std::string& salted = config.of("auth_superuser_salted_password").text;
    if (const auto problem = roles::ProblemOfHash(salted)) {
      return absl::InvalidArgumentError(absl::StrCat("auth_superuser_salted_password: ", *problem));
    }
    hash = salted.empty() ? roles::HashPassword(kDefaultPassword) : salted;
  }
  roles::RoleState state;
  if (kept != nullptr) state = *kept;
  const bool names_user = !options.user.empty();
  if (names_user || !HasSuperuser(state, rules.asks_for_passwords)) {
    state.Put(name, /*can_login=*/true, /*is_superuser=*/true, std::move(hash));
  }
  return std::make_shared<roles::RoleStore>(rules, std::move(state));
}

}  // namespace liststore
