// Passwords as ScyllaDB keeps them: salted and hashed by crypt(3).
#ifndef LISTSTORE_ENGINE_ROLES_PASSWORD_HASH_H_
#define LISTSTORE_ENGINE_ROLES_PASSWORD_HASH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace liststore::roles {

// What crypt(3) takes.
inline constexpr size_t kPasswordBytesMax = 511;
// Of a hash that is made elsewhere: others who log in wait for it.
inline constexpr uint64_t kHashRoundsMax = 100'000;
inline constexpr int kBcryptCostMax = 12;

// "$6$salt$hash": SHA-512 with 5,000 rounds and 16 random characters of salt, which is what
// ScyllaDB takes on Linux (auth/passwords.cc). `password` has kPasswordBytesMax at most, of which
// those before a NUL count. 1.5 to 4 ms; thread-safe.
std::string HashPassword(std::string_view password);

enum class PasswordCheck : uint8_t {
  kRight,
  kWrong,
  kFailed,  // it cannot be told: the hash is none that is checked, or the password too long
};
// Hashes of bcrypt, SHA-512, SHA-256 and MD5, the schemes of ScyllaDB's auth/passwords.cc, within
// the bounds above. As long as the hash asks for; thread-safe.
PasswordCheck CheckPassword(std::string_view password, const std::string& salted_hash);

// Why a hash is not kept: it asks for more work than is done. nullopt: it is, whatever it is.
std::optional<std::string> ProblemOfHash(std::string_view salted_hash);

}  // namespace liststore::roles

#endif  // LISTSTORE_ENGINE_ROLES_PASSWORD_HASH_H_
