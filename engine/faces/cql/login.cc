#include "engine/faces/cql/login.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "engine/faces/cql/handlers.h"

namespace liststore::cql_face {
namespace {

// A session that is woken looks again all the same: a connection always waits for something.
constexpr std::chrono::seconds kCheckLookTime(1);
// Until other passwords of the same address are hashed.
constexpr std::chrono::milliseconds kOthersLookTime(5);

using WaitsFor = network::Session::WaitsFor;

}  // namespace

Login::~Login() {
  StopWaiting();
  if (check_.is_under_way()) server_.logins->EndCheck(state_.client.peer_address);
}

std::optional<Login::Result> Login::Admit() {
  if (state_.phase != protocol::ConnectionPhase::kAuthenticating) return std::nullopt;
  const Wait wait = WaitForTime();
  if (wait == Wait::kYes) return Result{.waits_for = WaitsFor::kTime, .wakes_at = at_};
  if (wait == Wait::kRefused) state_.refuses_logins = true;
  return std::nullopt;
}

std::optional<Login::Result> Login::GoOn(const network::Turn& turn) {
  if (check_.is_under_way()) return Finish(turn);
  if (state_.login) return Continue(turn);
  return std::nullopt;
}

Login::Result Login::Begin(const network::Turn& turn) {
  roles::Authenticator& authenticator = *server_.authenticator;
  if (!authenticator.TakesLong(state_.login->user, state_.login->password)) {
    CheckedLogin known{*std::exchange(state_.login, std::nullopt), std::nullopt};
    known.refusal = authenticator.LogIn(known.attempt.user, known.attempt.password);
    return Conclude(known, turn).value_or(Result{.waits_for = WaitsFor::kTurn});
  }
  const std::string& address = state_.client.peer_address;
  if (!server_.logins->BeginCheck(address)) return LookAgainIn(kOthersLookTime);
  LoginAttempt attempt = *std::exchange(state_.login, std::nullopt);
  absl::Cleanup end = [&] { server_.logins->EndCheck(address); };
  if (check_.Begin(attempt, authenticator, *server_.long_work)) {
    std::move(end).Cancel();
    return LookAgainIn(kCheckLookTime);
  }
  std::move(end).Invoke();
  RefuseLogin(attempt, server_, state_, turn.answers);
  return {.waits_for = WaitsFor::kTurn};
}

Login::Result Login::Continue(const network::Turn& turn) {
  if (stops_) return {.waits_for = WaitsFor::kEnd};
  switch (WaitForTime()) {
    case Wait::kNo:
      return Begin(turn);
    case Wait::kYes:
      return {.waits_for = WaitsFor::kTime, .wakes_at = at_};
    case Wait::kRefused:
      break;
  }
  RefuseLogin(*std::exchange(state_.login, std::nullopt), server_, state_, turn.answers);
  return {.waits_for = WaitsFor::kEnd};
}

std::optional<Login::Result> Login::Finish(const network::Turn& turn) {
  absl::Cleanup end = [&] { server_.logins->EndCheck(state_.client.peer_address); };
  const std::unique_ptr<CheckedLogin> done = check_.TakeDone();
  if (done == nullptr) {
    std::move(end).Cancel();
    if (stops_) return Result{.waits_for = WaitsFor::kEnd};
    return LookAgainIn(kCheckLookTime);
  }
  std::move(end).Invoke();
  return Conclude(*done, turn);
}

std::optional<Login::Result> Login::Conclude(const CheckedLogin& login, const network::Turn& turn) {
  AnswerLogin(login, server_, state_, turn.answers);
  if (state_.failed_logins < server_.logins->limits().failures_max) return std::nullopt;
  return Result{.waits_for = WaitsFor::kEnd};
}

Login::Wait Login::WaitForTime() {
  const auto now = std::chrono::steady_clock::now();
  if (at_ == network::kNever) {
    const auto delay = server_.logins->Enter(state_.client.peer_address, now);
    if (delay.count() == 0) return Wait::kNo;
    if (delay.count() < 0) return Wait::kRefused;
    at_ = now + delay;
  }
  if (now < at_ && !stops_) return Wait::kYes;
  StopWaiting();
  return Wait::kNo;
}

void Login::StopWaiting() {
  if (std::exchange(at_, network::kNever) == network::kNever) return;
  server_.logins->Leave(state_.client.peer_address);
}

Login::Result Login::LookAgainIn(std::chrono::nanoseconds time) {
  return {.waits_for = WaitsFor::kTime, .wakes_at = std::chrono::steady_clock::now() + time};
}

}  // namespace liststore::cql_face
