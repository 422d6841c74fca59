// LoginCheck: a password that a session's client has sent, compared on another thread.
#ifndef LISTSTORE_ENGINE_FACES_CQL_LOGIN_CHECK_H_
#define LISTSTORE_ENGINE_FACES_CQL_LOGIN_CHECK_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/faces/cql/connection_state.h"
#include "engine/faces/cql/long_statements.h"
#include "engine/network/session.h"
#include "engine/roles/authenticator.h"
#include "engine/runtime/event_loop.h"

namespace liststore::cql_face {

// Owned by a session, used on its loop only. A hash takes 2 ms, and as much as its role's hash asks
// for: hundreds of clients that guess at the same time would stop a loop for seconds. All of them
// together have the threads of one client of the pool.
class LoginCheck {
 public:
  // Everything outlives it.
  LoginCheck(runtime::EventLoop& loop, network::Client& client) : loop_(loop), client_(client) {}
  ~LoginCheck();
  LoginCheck(const LoginCheck&) = delete;
  LoginCheck& operator=(const LoginCheck&) = delete;

  // One has begun, and its end was not taken.
  bool is_under_way() const { return attempt_ != nullptr; }
  // Begins; the client is woken when it is done. False: too much waits for a thread.
  [[nodiscard]] bool Begin(LoginAttempt attempt, roles::Authenticator& authenticator,
                           LongWork& work);
  // What has been found out, once: nullptr while it is at work. std::bad_alloc: the heap refused it.
  std::unique_ptr<CheckedLogin> TakeDone();

 private:
  struct Attempt;

  runtime::EventLoop& loop_;
  network::Client& client_;
  std::shared_ptr<Attempt> attempt_;
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_LOGIN_CHECK_H_
