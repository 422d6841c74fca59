// RoleStore: the roles of a server. Readers take a snapshot; changes replace it.
#ifndef LISTSTORE_ENGINE_ROLES_ROLE_STORE_H_
#define LISTSTORE_ENGINE_ROLES_ROLE_STORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "engine/base/mutex.h"
#include "engine/roles/role_state.h"

namespace liststore::roles {

// What a server does with its roles; constant while it runs.
struct RoleRules {
  // Clients log in: ScyllaDB's PasswordAuthenticator, else its AllowAllAuthenticator.
  bool asks_for_passwords = false;
  // Its CassandraAuthorizer, else its AllowAllAuthorizer.
  bool checks_permissions = false;
};

// Who is told of every change of roles, before it can be seen.
class RoleJournal {
 public:
  virtual ~RoleJournal() = default;
  // False: it cannot be kept, and is not to be.
  virtual bool Note(const RoleState& before, const RoleState& after) = 0;
};

// Thread-safe. Changes are O(roles and grants), one at a time; looks at the version cost a load.
class RoleStore {
 public:
  // Of all roles and grants: what is beyond is refused.
  static constexpr size_t kBytesMax = size_t{16} << 20;

  RoleStore(const RoleRules& rules, RoleState start);
  // As a ScyllaDB where nobody has to log in: role cassandra, a superuser without a password.
  RoleStore();
  RoleStore(const RoleStore&) = delete;
  RoleStore& operator=(const RoleStore&) = delete;

  // Outlives the store, or is taken back by nullptr. Before there are changes.
  void set_journal(RoleJournal* journal) { journal_ = journal; }

  const RoleRules& rules() const { return rules_; }
  // Never nullptr.
  std::shared_ptr<const RoleState> snapshot() const;
  // The same behind every change whose journal was told of it before the call. Waits for a change that is
  // under way; not within one.
  std::shared_ptr<const RoleState> SettledSnapshot();
  // Of the snapshot that is taken now, or an earlier one: other than before when something has
  // changed. At least 1.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

  enum class Outcome : uint8_t {
    kUnchanged,  // `change` said so
    kChanged,
    kTooLarge,  // more than kBytesMax; nothing has changed
    kNotKept,   // the journal says no; nothing has changed
  };
  // Hands `change` a copy, and publishes what it has made of it when it returns true.
  Outcome Change(absl::FunctionRef<bool(RoleState&)> change);

  // The roles as they are now are those that Reset goes back to; without a mark it goes back to
  // those of the start.
  void Mark();
  void Forget();
  void Reset();
  // The same, if `with` says yes, which is called with the roles that Reset goes back to. Meanwhile nobody changes
  // any, and `with` calls nothing of the store.
  void ResetIf(absl::FunctionRef<bool(const RoleState&)> with);

 private:
  using Snapshot = std::shared_ptr<const RoleState>;
  void Publish(Snapshot next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);

  const RoleRules rules_;
  const Snapshot start_;
  RoleJournal* journal_ = nullptr;
  Mutex change_mutex_;
  Snapshot mark_ ABSL_GUARDED_BY(change_mutex_);  // nullptr: none
  mutable Mutex mutex_;
  Snapshot current_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> version_{1};
};

}  // namespace liststore::roles

#endif  // LISTSTORE_ENGINE_ROLES_ROLE_STORE_H_
