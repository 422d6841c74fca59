#include "engine/faces/cql/session.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "engine/protocol/response.h"

namespace liststore::cql_face {
namespace {

// A session that is woken looks again all the same: a connection always waits for something.
constexpr std::chrono::seconds kLookTime(1);

uint64_t NumberOf(const ConnectedClients::Id& id) { return uint64_t{id.first} << 48 | id.second; }

}  // namespace

CqlSession::CqlSession(CqlLoop& loop, network::Client& client, network::ClientAddress address)
    : loop_(loop),
      client_(client),
      id_(loop.shard, loop.next_id++),
      state_(loop.server.body_bytes_max),
      long_statements_(loop.event_loop, client, *loop.server.handler, loop.server.long_work.get(),
                       NumberOf(id_)),
      login_(loop.event_loop, client, loop.server, state_) {
  state_.client.shard = loop.shard;
  state_.client.peer_address = std::move(address.peer);
  state_.client.peer_port = address.peer_port;
  state_.client.local_address = std::move(address.local);
  TellOfConnection(/*is_open=*/true);
}

CqlSession::~CqlSession() {
  TellOfConnection(/*is_open=*/false);
  loop_.registered.erase(this);
  if (loop_.server.clients != nullptr) loop_.server.clients->Remove(id_);
}

network::Session::Result CqlSession::OnBytes(std::string_view received, const network::Turn& turn) {
  Result result = Answer(received, turn);
  result.held_bytes = delayed_bytes_ + state_.postponed.capacity() + long_statements_.held_bytes();
  result.owes_answers = !long_statements_.empty() || !delayed_.empty() || login_.is_under_way();
  result.has_written = std::exchange(state_.client.has_written, false);
  return result;
}

network::Session::Result CqlSession::Answer(std::string_view received, const network::Turn& turn) {
  if (!delayed_.empty() && !AppendDue(turn)) return {.waits_for = WaitsFor::kTurn};
  if (!long_statements_.empty()) {
    if (stops_) long_statements_.Abandon(state_, turn.answers);
    execute::ConnectionOrders orders;
    long_statements_.TakeDone(turn, state_, orders);
    if (orders.close) return {.waits_for = WaitsFor::kEnd};
    if (!orders.delayed.empty()) Delay(std::move(orders.delayed));
    if (turn.IsSpent()) return {.waits_for = WaitsFor::kTurn};
  }
  if (delayed_bytes_ > kDelayedBytesMax || long_statements_.holds_back()) {
    return WaitForOthers(kLookTime);
  }
  if (login_.is_under_way()) {
    const std::optional<Result> waits = login_.GoOn(turn);
    if (IsEstablished()) List();
    if (waits) return *waits;
  }
  if (!IsEstablished() && !received.empty()) {
    if (const std::optional<Result> waits = login_.Admit()) return *waits;
  }
  return Dispatch(received, turn);
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
  state_.client.read_at = turn.begun_at();
  if (loop_.server.long_work != nullptr) state_.client.place = loop_.patience.Place();
  Dispatcher::Result dispatched = loop_.dispatcher.Dispatch(received, state_, turn);
  // Before the client can know.
  if (state_.phase != phase) List();
  if (state_.registered != registered) loop_.registered.insert(this);
  if (!dispatched.delayed.empty()) Delay(std::move(dispatched.delayed));
  for (DeferredRequest& request : dispatched.deferred) {
    // What was known by its bytes has cost the loop nothing.
    if (request.deferral != execute::Deferral::kLarge) loop_.patience.NoteDeferral();
    long_statements_.Add(std::move(request), state_, turn.answers);
  }
  if (stops_ && !long_statements_.empty()) long_statements_.Abandon(state_, turn.answers);
  Result result;
  if (!delayed_.empty()) result.wakes_at = delayed_.begin()->first;
  if (dispatched.close) {
    result.waits_for = WaitsFor::kEnd;
  } else if (state_.login) {
    result = login_.Begin(turn);
    if (IsEstablished()) List();
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

bool CqlSession::AppendDue(const network::Turn& turn) {
  const auto now = std::chrono::steady_clock::now();
  while (!delayed_.empty() && (stops_ || delayed_.begin()->first <= now)) {
    state_.client.has_written = true;  // for all that is known here
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

void CqlSession::TellOfConnection(bool is_open) const noexcept {
  if (!loop_.server.on_connection) return;
  try {
    const std::string address = state_.client.PeerText();
    loop_.server.on_connection({.is_open = is_open,
                                .protocol = "CQL",
                                .client = address,
                                .user = state_.client.user,
                                .driver = state_.client.driver_name});
  } catch (const std::bad_alloc&) {
    // Connections end for that very reason: what cannot be told is left out.
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
