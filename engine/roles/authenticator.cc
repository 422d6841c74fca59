#include "engine/roles/authenticator.h"

#include <sys/random.h>

#include <memory>
#include <utility>

#include "engine/base/check.h"
#include "engine/roles/password_hash.h"

namespace liststore::roles {
namespace {

constexpr char kIncorrect[] = "Username and/or password are incorrect";

std::string RandomBytes() {
  std::string bytes(32, '\0');
  LS_CHECK(getrandom(bytes.data(), bytes.size(), 0) == std::ssize(bytes),
           "the system has random bytes, and gives up to 256 at once");
  return bytes;
}

}  // namespace

Authenticator::Authenticator(const RoleStore& store)
    : store_(store), secret_(RandomBytes()), nobodys_hash_(HashPassword(RandomBytes())) {}

// Nobody sees a digest, and without the secret none can be made: what is weak about MD5 is of no
// use here.
Md5Digest Authenticator::DigestOf(const std::string& salted_hash, std::string_view password) const {
  std::string text = secret_;
  text.append(std::to_string(salted_hash.size())).append(":").append(salted_hash).append(password);
  text += secret_;
  Md5Digest digest;
  Md5(text, digest.data());
  return digest;
}

bool Authenticator::IsKnown(std::string_view name, const std::string& salted_hash,
                            const Md5Digest& digest) {
  const MutexLock lock(mutex_);
  const auto at = known_.find(name);
  return at != known_.end() && at->second.salted_hash == salted_hash && at->second.digest == digest;
}

bool Authenticator::TakesLong(std::string_view name, std::string_view password) {
  const std::shared_ptr<const RoleState> roles = store_.snapshot();
  const Role* const role = roles->Find(name);
  if (role == nullptr || !role->salted_hash) return true;
  return !IsKnown(name, *role->salted_hash, DigestOf(*role->salted_hash, password));
}

std::optional<std::string> Authenticator::LogIn(std::string_view name, std::string_view password) {
  const std::shared_ptr<const RoleState> roles = store_.snapshot();
  const Role* const role = roles->Find(name);
  if (role == nullptr || !role->salted_hash) {
    CheckPassword(password, nobodys_hash_);
    return kIncorrect;
  }
  const std::string& hash = *role->salted_hash;
  const Md5Digest digest = DigestOf(hash, password);
  if (!IsKnown(name, hash, digest)) {
    switch (CheckPassword(password, hash)) {
      case PasswordCheck::kRight:
        break;
      case PasswordCheck::kWrong:
        return kIncorrect;
      case PasswordCheck::kFailed:
        return "Could not verify password";
    }
    const MutexLock lock(mutex_);
    if (known_.size() >= kKnownMax) known_.clear();
    known_.insert_or_assign(std::string(name), Known{hash, digest});
  }
  if (!role->can_login) return std::string(name) + " is not permitted to log in";
  return std::nullopt;
}

}  // namespace liststore::roles
