#include "engine/network/server.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore::network {
namespace {

// Until connections whose clients do not read are dropped.
constexpr std::chrono::milliseconds kStopTime(500);

}  // namespace

Server::Server(const ServerOptions& options, const ConnectionLimits& connections)
    : limits_(options.limits),
      now_(options.now ? options.now : [] { return std::chrono::steady_clock::now(); }),
      budget_(options.client_memory_bytes),
      admission_(connections),
      shared_{.limits = limits_,
              .budget = budget_,
              .counters = counters_,
              .now = now_,
              .make_room = [this] { MakeRoom(); },
              .gate = options.gate} {}

absl::StatusOr<std::unique_ptr<Server>> Server::Create(const ServerOptions& options) {
  LS_CHECK(options.loops >= 1 && options.limits.requests_max >= 1, "a server can do something");
  const ConnectionLimits connections =
      Admission::Resolve(options.connections, FileLimit(), options.loops);
  std::unique_ptr<Server> server(new Server(options, connections));
  for (uint32_t number = 0; number < options.loops; ++number) {
    const auto background = [server = server.get(), number, next = options.background] {
      server->groups_[number]->Tick();
      return next && next();
    };
    LS_ASSIGN_OR_RETURN(auto loop, runtime::EventLoop::Create(number, background));
    server->loops_.push_back(std::move(loop));
    server->groups_.push_back(
        std::make_unique<ConnectionGroup>(*server->loops_.back(), server->shared_));
  }
  const auto listen_on = [server = server.get()] {
    server->NoteAcceptingTick();
    for (const auto& listener : server->listeners_) listener->Tick();
    return false;
  };
  LS_ASSIGN_OR_RETURN(server->accepting_, runtime::EventLoop::Create(options.loops, listen_on));
  server->close_ports_.emplace(*server->accepting_, [server = server.get()] {
    for (const auto& listener : server->listeners_) listener->Close();
    // After the adoption of what was just accepted.
    for (const auto& group : server->groups_) group->BeginStop();
  });
  return server;
}

absl::StatusOr<uint16_t> Server::Listen(const std::string& address, uint16_t port,
                                        std::vector<SessionFactory*> face, LoopChoice choice,
                                        const TlsAcceptor* tls) {
  LS_CHECK(!runs_ && face.size() == groups_.size(), "a face has a factory for each loop");
  const auto take = [this, face = std::move(face), choice, tls, in_turn = size_t{0}](
                        Descriptor socket, const Listener::Peer& peer) mutable {
    Admission::Ticket ticket = admission_.Enter(peer.address);
    if (!ticket.refusal().empty()) ++counters_.refused_connections;
    if (ticket.is_void()) return;
    const size_t count = groups_.size();
    const size_t loop = choice == LoopChoice::kByPeerPort ? peer.port % count : in_turn++ % count;
    groups_[loop]->Adopt(std::move(socket), *face[loop], tls, std::move(ticket));
  };
  LS_ASSIGN_OR_RETURN(auto listener, Listener::Open(*accepting_, address, port, take));
  listeners_.push_back(std::move(listener));
  return listeners_.back()->port();
}

absl::Status Server::Start() {
  LS_CHECK(!std::exchange(runs_, true), "a server is started once");
  for (const auto& listener : listeners_) listener->Start();
  NoteAcceptingTick();
  absl::Status started;
  for (auto loop = loops_.begin(); started.ok() && loop != loops_.end(); ++loop) {
    started = (*loop)->Start();
  }
  if (started.ok()) started = accepting_->Start();
  if (started.ok()) return started;
  // Nobody has been accepted.
  runs_ = false;
  for (const auto& loop : loops_) loop->Stop();
  for (const auto& loop : loops_) loop->Join();
  return started;
}

void Server::NoteAcceptingTick() {
  accepting_ticked_at_.store(now_().time_since_epoch().count(), std::memory_order_relaxed);
}

std::chrono::nanoseconds Server::LongestTurn() const {
  Instant oldest(Instant::duration(accepting_ticked_at_.load(std::memory_order_relaxed)));
  for (const auto& group : groups_) oldest = std::min(oldest, group->ticked_at());
  return std::max<std::chrono::nanoseconds>(now_() - oldest, std::chrono::nanoseconds(0));
}

void Server::CheckTimes() {
  for (const auto& group : groups_) group->CheckTimes();
}

void Server::MakeRoom() {
  if (const auto loop = budget_.CondemnLargest()) groups_[*loop]->EndCondemned();
}

Server::~Server() { Stop(); }

void Server::Stop() {
  if (!std::exchange(runs_, false)) return;
  for (const auto& loop : loops_) {
    LS_CHECK(!loop->IsCurrent(), "a server is stopped from outside");
  }
  close_ports_->Ask();
  const auto deadline = std::chrono::steady_clock::now() + kStopTime;
  for (const auto& group : groups_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (!group->WaitUntilEmpty(std::max(left, std::chrono::milliseconds(0)))) group->AbortAll();
  }
  for (const auto& group : groups_) {
    // A request that runs is the only thing to wait for now.
    while (!group->WaitUntilEmpty(kStopTime)) group->AbortAll();
  }
  accepting_->Stop();
  accepting_->Join();
  for (const auto& loop : loops_) loop->Stop();
  for (const auto& loop : loops_) loop->Join();
}

size_t Server::connection_count() const {
  size_t count = 0;
  for (const auto& group : groups_) count += group->connection_count();
  return count;
}

}  // namespace liststore::network
