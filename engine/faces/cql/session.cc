#include "engine/faces/cql/session.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "engine/faces/cql/handlers.h"

namespace liststore::cql_face {
namespace {

// A session that is woken looks again all the same: a connection always waits for something.
constexpr std::chrono::seconds kLookTime(1);
// Until other passwords of the same address are hashed.
constexpr std::chrono::milliseconds kLoginLookTime(5);

uint64_t NumberOf(const ConnectedClients::Id& id) { return uint64_t{id.first} << 48 | id.second; }

}  // namespace

CqlSession::CqlSession(CqlLoop& loop, network::Client& client, network::ClientAddress address)
    : loop_(loop),
      client_(client),
      id_(loop.shard, loop.next_id++),
      state_(loop.server.body_bytes_max),
      long_statements_(loop.event_loop, client, *loop.server.handler, loop.server.long_work.get(),
                       NumberOf(id_)),
      login_check_(loop.event_loop, client) {
  state_.client.shard = loop.shard;
  state_.client.peer_address = std::move(address.peer);
  state_.client.peer_port = address.peer_port;
  state_.client.local_address = std::move(address.local);
}

CqlSession::~CqlSession() {
  StopWaitingToLogIn();
  if (login_check_.is_under_way()) loop_.server.logins->EndCheck(state_.client.peer_address);
  loop_.registered.erase(this);
  if (loop_.server.clients != nullptr) loop_.server.clients->Remove(id_);
}

network::Session::Result CqlSession::OnBytes(std::string_view received, const network::Turn& turn) {
  Result result = Answer(received, turn);
  result.held_bytes = delayed_bytes_ + state_.postponed.capacity() + long_statements_.held_bytes();
  result.owes_answers =
      !long_statements_.empty() || !delayed_.empty() || login_check_.is_under_way() || state_.login;
  return result;
}

network::Session::Result CqlSession::Answer(std::string_view received, const network::Turn& turn) {
  if (!delayed_.empty() && !AppendDue(turn)) return {.waits_for = WaitsFor::kTurn};
  if (!long_statements_.empty()) {
    if (stops_) long_statements_.Abandon(turn.answers);
    execute::ConnectionOrders orders;
    long_statements_.TakeDone(turn, state_, orders);
    if (orders.close) return {.waits_for = WaitsFor::kEnd};
    if (!orders.delayed.empty()) Delay(std::move(orders.delayed));
    if (turn.IsSpent()) return {.waits_for = WaitsFor::kTurn};
  }
  if (delayed_bytes_ > kDelayedBytesMax || long_statements_.holds_back()) {
    return WaitForOthers(kLookTime);
  }
  if (login_check_.is_under_way()) {
    if (const std::optional<Result> waits = FinishLogin(turn)) return *waits;
  }
  // An attempt that others of its address were before. What these have found out counts for it.
  if (state_.login) return ContinueLogin(turn);
  if (state_.phase == protocol::ConnectionPhase::kAuthenticating && !received.empty()) {
    switch (WaitToLogIn()) {
      case LoginWait::kNo:
        break;
      case LoginWait::kYes:
        return {.waits_for = WaitsFor::kTime, .wakes_at = login_at_};
      case LoginWait::kRefused:
        state_.refuses_logins = true;
    }
  }
  return Dispatch(received, turn);
}

std::optional<network::Session::Result> CqlSession::FinishLogin(const network::Turn& turn) {
  absl::Cleanup end = [&] { loop_.server.logins->EndCheck(state_.client.peer_address); };
  const std::unique_ptr<CheckedLogin> done = login_check_.TakeDone();
  if (done == nullptr) {
    std::move(end).Cancel();
    if (stops_) return Result{.waits_for = WaitsFor::kEnd};
    return WaitForOthers(kLookTime);
  }
  std::move(end).Invoke();
  return ConcludeLogin(*done, turn);
}

std::optional<network::Session::Result> CqlSession::ConcludeLogin(const CheckedLogin& login,
                                                                  const network::Turn& turn) {
  AnswerLogin(login, loop_.server, state_, turn.answers);
  if (state_.phase == protocol::ConnectionPhase::kReady) List();
  if (state_.failed_logins < loop_.server.logins->limits().failures_max) return std::nullopt;
  return Result{.waits_for = WaitsFor::kEnd};
}

network::Session::Result CqlSession::ContinueLogin(const network::Turn& turn) {
  if (stops_) return {.waits_for = WaitsFor::kEnd};
  switch (WaitToLogIn()) {
    case LoginWait::kNo:
      return BeginLogin(turn);
    case LoginWait::kYes:
      return {.waits_for = WaitsFor::kTime, .wakes_at = login_at_};
    case LoginWait::kRefused:
      break;
  }
  RefuseLogin(*std::exchange(state_.login, std::nullopt), loop_.server, state_, turn.answers);
  return {.waits_for = WaitsFor::kEnd};
}

network::Session::Result CqlSession::BeginLogin(const network::Turn& turn) {
  roles::Authenticator& authenticator = *loop_.server.authenticator;
  if (!authenticator.TakesLong(state_.login->user, state_.login->password)) {
    CheckedLogin known{*std::exchange(state_.login, std::nullopt), std::nullopt};
    known.refusal = authenticator.LogIn(known.attempt.user, known.attempt.password);
    return ConcludeLogin(known, turn).value_or(Result{.waits_for = WaitsFor::kTurn});
  }
  const std::string& address = state_.client.peer_address;
  if (!loop_.server.logins->BeginCheck(address)) return WaitForOthers(kLoginLookTime);
  LoginAttempt attempt = *std::exchange(state_.login, std::nullopt);
  absl::Cleanup end = [&] { loop_.server.logins->EndCheck(address); };
  if (login_check_.Begin(attempt, authenticator, *loop_.server.long_work)) {
    std::move(end).Cancel();
    return WaitForOthers(kLookTime);
  }
  std::move(end).Invoke();
  RefuseLogin(attempt, loop_.server, state_, turn.answers);
  return {.waits_for = WaitsFor::kTurn};
}

network::Session::Result CqlSession::WaitForOthers(std::chrono::nanoseconds time) const {
  network::Instant wakes_at = std::chrono::steady_clock::now() + time;
  if (!delayed_.empty()) wakes_at = std::min(wakes_at, delayed_.begin()->first);
  return {.waits_for = WaitsFor::kTime, .wakes_at = wakes_at};
}

network::Session::Result CqlSession::Dispatch(std::string_view received,
                                              const network::Turn& turn) {
  const protocol::ConnectionPhase phase = state_.phase;
  const EventTypes registered = state_.registered;
  if (loop_.server.long_work != nullptr) state_.client.place = loop_.patience.Place();
  Dispatcher::Result dispatched = loop_.dispatcher.Dispatch(received, state_, turn);
  // Before the client can know.
  if (state_.phase != phase) List();
  if (state_.registered != registered) loop_.registered.insert(this);
  if (!dispatched.delayed.empty()) Delay(std::move(dispatched.delayed));
  for (DeferredRequest& request : dispatched.deferred) {
    loop_.patience.NoteDeferral();
    long_statements_.Add(std::move(request), state_, turn.answers);
  }
  if (stops_ && !long_statements_.empty()) long_statements_.Abandon(turn.answers);
  Result result;
  if (!delayed_.empty()) result.wakes_at = delayed_.begin()->first;
  if (dispatched.close) {
    result.waits_for = WaitsFor::kEnd;
  } else if (state_.login) {
    result = BeginLogin(turn);
  } else if (stops_ && !delayed_.empty()) {
    result.waits_for = WaitsFor::kTurn;
  } else if (delayed_bytes_ > kDelayedBytesMax || long_statements_.holds_back()) {
    result = WaitForOthers(kLookTime);
  } else if (dispatched.wait.count() > 0 && !stops_) {
    result = WaitForOthers(dispatched.wait);
  } else if (dispatched.more_waits) {
    result.waits_for = WaitsFor::kTurn;
  }
  result.consumed = dispatched.consumed;
  result.bytes_missing = dispatched.bytes_missing;
  return result;
}

CqlSession::LoginWait CqlSession::WaitToLogIn() {
  const auto now = std::chrono::steady_clock::now();
  if (login_at_ == network::kNever) {
    const auto delay = loop_.server.logins->Enter(state_.client.peer_address, now);
    if (delay.count() == 0) return LoginWait::kNo;
    if (delay.count() < 0) return LoginWait::kRefused;
    login_at_ = now + delay;
  }
  if (now < login_at_ && !stops_) return LoginWait::kYes;
  StopWaitingToLogIn();
  return LoginWait::kNo;
}

void CqlSession::StopWaitingToLogIn() {
  if (std::exchange(login_at_, network::kNever) == network::kNever) return;
  loop_.server.logins->Leave(state_.client.peer_address);
}

bool CqlSession::AppendDue(const network::Turn& turn) {
  const auto now = std::chrono::steady_clock::now();
  while (!delayed_.empty() && (stops_ || delayed_.begin()->first <= now)) {
    turn.answers.Append(delayed_.begin()->second);
    delayed_bytes_ -= delayed_.begin()->second.size();
    delayed_.erase(delayed_.begin());
    if (turn.IsSpent()) return false;
  }
  return true;
}

void CqlSession::Delay(std::vector<execute::DelayedAnswer> answers) {
  const auto now = std::chrono::steady_clock::now();
  for (execute::DelayedAnswer& answer : answers) {
    delayed_bytes_ += answer.frames.size();
    delayed_.emplace(now + answer.delay, std::move(answer.frames));
  }
}

void CqlSession::List() {
  if (loop_.server.clients == nullptr) return;
  if (auto tls = client_.tls(); tls && state_.client.tls_protocol.empty()) {
    state_.client.tls_protocol = std::move(tls->protocol);
    state_.client.tls_cipher_suite = std::move(tls->cipher_suite);
  }
  loop_.server.clients->Put(id_, state_.client);
}

void CqlSession::Push(const PushedEvent& event) {
  if ((state_.registered & BitOf(event.type)) == 0) return;
  client_.Push(event.FrameFor(state_.client.protocol_version));
}

network::Session::Result RefusingSession::OnBytes(std::string_view received,
                                                  const network::Turn& turn) {
  protocol::Frame frame;
  switch (cutter_.Next(received, frame)) {
    case protocol::FrameCutter::Outcome::kIncomplete:
      return {.bytes_missing = cutter_.bytes_missing()};
    case protocol::FrameCutter::Outcome::kRefused:
      protocol::EncodeRefusal(turn.answers, cutter_.refusal());
      break;
    case protocol::FrameCutter::Outcome::kFrame:
      protocol::ResponseContext context;
      context.version = frame.header.version;
      context.stream = frame.header.stream;
      protocol::EncodeError(turn.answers, context,
                            protocol::ProtocolError{protocol::ErrorCode::kOverloaded, refusal_});
  }
  return {.waits_for = WaitsFor::kEnd};
}

std::unique_ptr<network::Session> CqlSessionFactory::Make(network::Client& client,
                                                          network::ClientAddress address) {
  return std::make_unique<CqlSession>(loop_, client, std::move(address));
}

void CqlSessionFactory::Push(const EventHub::Event& event) noexcept {
  {
    const MutexLock lock(mutex_);
    try {
      if (event != nullptr) events_.push_back(event);
      has_lost_events_ |= event == nullptr;
    } catch (const std::bad_alloc&) {
      has_lost_events_ = true;
    }
  }
  tells_.Ask();
}

void CqlSessionFactory::TellSessions() {
  std::vector<EventHub::Event> events;
  bool has_lost_events = false;
  {
    const MutexLock lock(mutex_);
    events.swap(events_);
    has_lost_events = std::exchange(has_lost_events_, false);
  }
  // A session goes some time after its connection has ended: the set stays as it is meanwhile.
  for (const EventHub::Event& event : events) {
    for (CqlSession* session : loop_.registered) session->Push(*event);
  }
  if (!has_lost_events) return;
  for (CqlSession* session : loop_.registered) session->MissEvent();
}

}  // namespace liststore::cql_face
