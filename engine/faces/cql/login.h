// Login: a client on its way in: when its attempts to log in are looked at, and what becomes of them.
#ifndef LISTSTORE_ENGINE_FACES_CQL_LOGIN_H_
#define LISTSTORE_ENGINE_FACES_CQL_LOGIN_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "engine/faces/cql/connection_state.h"
#include "engine/faces/cql/login_check.h"
#include "engine/faces/cql/server_context.h"
#include "engine/network/session.h"
#include "engine/runtime/event_loop.h"

namespace liststore::cql_face {

// Owned by a session, used on its loop only. What it returns is what the session waits for. An
// attempt waits for its time when its address has failed (LoginGuard); it is dispatched then, which
// answers it or leaves it in ConnectionState::login; there it waits until fewer passwords of its
// address are hashed, and for its own (LoginCheck). Nothing is looked at that came behind it.
class Login {
 public:
  using Result = network::Session::Result;

  // Everything outlives it.
  Login(runtime::EventLoop& loop, network::Client& client, const ServerContext& server,
        ConnectionState& state)
      : server_(server), state_(state), check_(loop, client) {}
  ~Login();
  Login(const Login&) = delete;
  Login& operator=(const Login&) = delete;

  // An attempt was dispatched and has no answer.
  bool is_under_way() const { return check_.is_under_way() || state_.login; }
  // The server stops: nobody waits any more.
  void Stop() { stops_ = true; }

  // Something has arrived. nullopt: it may be dispatched, and is refused if it is an attempt that is
  // not to be heard.
  std::optional<Result> Admit();
  // Begins with the attempt that was dispatched last.
  Result Begin(const network::Turn& turn);
  // Goes on with what is under way; what others of its address have found out meanwhile counts for it.
  // nullopt: nothing is, or it was answered.
  std::optional<Result> GoOn(const network::Turn& turn);

 private:
  enum class Wait : uint8_t {
    kNo,
    kYes,
    kRefused
  };
  // What the guard says.
  Wait WaitForTime();
  void StopWaiting();
  // Has `state_.login` checked, when its turn has come.
  Result Continue(const network::Turn& turn);
  std::optional<Result> Finish(const network::Turn& turn);
  // Answers it; nullopt: more may come.
  std::optional<Result> Conclude(const CheckedLogin& login, const network::Turn& turn);
  static Result LookAgainIn(std::chrono::nanoseconds time);

  const ServerContext& server_;
  ConnectionState& state_;
  LoginCheck check_;
  // When the attempt is looked at; kNever: none waits for its time.
  network::Instant at_ = network::kNever;
  bool stops_ = false;
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_LOGIN_H_
