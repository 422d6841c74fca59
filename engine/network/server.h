// Server: loops with their connections, and the ports on which clients of several protocols come.
#ifndef LISTSTORE_ENGINE_NETWORK_SERVER_H_
#define LISTSTORE_ENGINE_NETWORK_SERVER_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/network/admission.h"
#include "engine/network/answer_gate.h"
#include "engine/network/client_budget.h"
#include "engine/network/connection_group.h"
#include "engine/network/listener.h"
#include "engine/network/session.h"
#include "engine/network/tls.h"
#include "engine/runtime/errand.h"
#include "engine/runtime/event_loop.h"

namespace liststore::network {

struct ServerOptions {
  uint32_t loops = 1;
  SessionLimits limits = {};
  ConnectionLimits connections = {};
  // What all connections may hold together.
  uint64_t client_memory_bytes = uint64_t{1} << 30;
  // The time that SessionLimits are measured by; empty: the machine's. Called by every loop.
  std::function<Instant()> now = {};
  // Called by every loop; see EventLoop. May be empty.
  runtime::EventLoop::Background background = {};
  // By which answers leave that speak of writes; outlives the server. nullptr: they just do.
  AnswerGate* gate = nullptr;
};

// Which loop takes a connection that comes to a port; it keeps it for life.
enum class LoopChoice : uint8_t {
  kNextInTurn,
  kByPeerPort,  // the client's port modulo the loops: clients choose
};

// Created, then given ports, then started; ended by Stop or the destructor. All protocols share the
// loops, limits and shut-down. Owned by whoever created it, who outlives it with the faces. Any
// thread may ask for the count; Stop is called by one, which is none of the loops.
class Server {
 public:
  // ResourceExhausted: the process has no descriptors left.
  static absl::StatusOr<std::unique_ptr<Server>> Create(const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds a port whose clients get sessions of `face`: one factory for each loop, which outlive the
  // server. With `tls`, which outlives it too, all bytes of that port are TLS. Before Start. Returns
  // the port; errors are those of Listener::Open.
  absl::StatusOr<uint16_t> Listen(const std::string& address, uint16_t port,
                                  std::vector<SessionFactory*> face,
                                  LoopChoice choice = LoopChoice::kNextInTurn,
                                  const TlsAcceptor* tls = nullptr);
  // Begins to accept and starts the loops. Once. ResourceExhausted: the system has no thread for one
  // of them; nobody was accepted, and no loop runs.
  [[nodiscard]] absl::Status Start();
  // Closes the ports, answers what has arrived, ends all connections and the loops. Takes 0.1 s
  // when clients leave their side open, at most 0.5 s and the request that runs when they do not
  // read. Again, or before Start: nothing.
  void Stop();

  // Looks at once for connections that have taken too long: for tests that move the clock.
  void CheckTimes();

  uint32_t loop_count() const { return static_cast<uint32_t>(loops_.size()); }
  runtime::EventLoop& loop(uint32_t number) { return *loops_[number]; }
  const SessionLimits& limits() const { return limits_; }
  const ClientBudget& budget() const { return budget_; }
  ClientBudget& budget() { return budget_; }
  ClientCounters& counters() { return counters_; }
  size_t connection_count() const;
  // How long ago that one of the loops, the accepting one included, came by that has not for longest: a second
  // or so, and longer where one is busy with one thing. Any thread.
  std::chrono::nanoseconds LongestTurn() const;

 private:
  Server(const ServerOptions& options, const ConnectionLimits& connections);
  void NoteAcceptingTick();
  // Any loop: the connection that holds most is to end.
  void MakeRoom();

  const SessionLimits limits_;
  const std::function<Instant()> now_;
  ClientBudget budget_;
  ClientCounters counters_;
  Admission admission_;
  const ConnectionGroup::Shared shared_;
  // What loops are asked for outlives them.
  std::vector<std::unique_ptr<ConnectionGroup>> groups_;  // one for each loop
  std::optional<runtime::Errand> close_ports_;
  std::vector<std::unique_ptr<runtime::EventLoop>> loops_;
  // Of the listeners alone: clients are accepted whatever the others work on.
  std::unique_ptr<runtime::EventLoop> accepting_;
  std::atomic<Instant::rep> accepting_ticked_at_ = 0;
  std::vector<std::unique_ptr<Listener>> listeners_;
  bool runs_ = false;
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_SERVER_H_
