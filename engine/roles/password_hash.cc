#include "engine/roles/password_hash.h"

#include <crypt.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>

#include "engine/base/check.h"

namespace liststore::roles {
namespace {

constexpr std::string_view kRounds = "rounds=";

enum class Scheme : uint8_t {
  kBcrypt,
  kSha,
  kMd5,
  kOther
};

Scheme SchemeOf(std::string_view hash) {
  for (const std::string_view prefix : {"$2a$", "$2b$", "$2x$", "$2y$"}) {
    if (hash.starts_with(prefix)) return Scheme::kBcrypt;
  }
  if (hash.starts_with("$5$") || hash.starts_with("$6$")) return Scheme::kSha;
  return hash.starts_with("$1$") ? Scheme::kMd5 : Scheme::kOther;
}

// The number at the front; the largest there is where it does not fit.
uint64_t NumberAt(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc::result_out_of_range ? UINT64_MAX : number;
}

// nullopt: crypt(3) takes no such setting.
std::optional<std::string> Crypt(std::string_view password, const std::string& setting) {
  if (password.size() > kPasswordBytesMax) return std::nullopt;
  const std::string text(password);
  // 32 KiB, too much for a stack and too rare to be kept.
  const auto data = std::make_unique<crypt_data>();
  const char* const hash = crypt_r(text.c_str(), setting.c_str(), data.get());
  if (hash == nullptr || hash[0] == '*') return std::nullopt;
  return std::string(hash);
}

std::string RandomSalt() {
  // 64 of them, so that no byte is likelier than another.
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./";
  std::string salt(16, '\0');
  LS_CHECK(getrandom(salt.data(), salt.size(), 0) == std::ssize(salt),
           "the system has random bytes, and gives up to 256 at once");
  for (char& c : salt) c = kCharacters[static_cast<unsigned char>(c) % kCharacters.size()];
  return salt;
}

// The time does not tell where two differ.
bool IsSame(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

std::string HashPassword(std::string_view password) {
  LS_CHECK(password.size() <= kPasswordBytesMax, "who sets a password has looked at its length");
  const std::optional<std::string> hash = Crypt(password, "$6$" + RandomSalt());
  LS_CHECK(hash.has_value(), "libcrypt has SHA-512");
  return *hash;
}

PasswordCheck CheckPassword(std::string_view password, const std::string& salted_hash) {
  if (SchemeOf(salted_hash) == Scheme::kOther || ProblemOfHash(salted_hash)) {
    return PasswordCheck::kFailed;
  }
  const std::optional<std::string> hash = Crypt(password, salted_hash);
  if (!hash) return PasswordCheck::kFailed;
  return IsSame(*hash, salted_hash) ? PasswordCheck::kRight : PasswordCheck::kWrong;
}

std::optional<std::string> ProblemOfHash(std::string_view salted_hash) {
  const auto asks_for = [](const std::string& what, const std::string& most) {
    return "HASHED PASSWORD asks for " + what + ", more than " + most +
           ": while one client logs in others wait";
  };
  switch (SchemeOf(salted_hash)) {
    case Scheme::kBcrypt: {
      const uint64_t cost = NumberAt(salted_hash.substr(4));
      if (cost <= kBcryptCostMax) return std::nullopt;
      return asks_for("a bcrypt cost of " + std::to_string(cost), std::to_string(kBcryptCostMax));
    }
    case Scheme::kSha: {
      const std::string_view setting = salted_hash.substr(3);
      if (!setting.starts_with(kRounds)) return std::nullopt;
      const uint64_t rounds = NumberAt(setting.substr(kRounds.size()));
      if (rounds <= kHashRoundsMax) return std::nullopt;
      return asks_for(std::to_string(rounds) + " rounds", std::to_string(kHashRoundsMax));
    }
    case Scheme::kMd5:
    case Scheme::kOther:
      return std::nullopt;
  }
  LS_UNREACHABLE("there is no other scheme");
}

}  // namespace liststore::roles
