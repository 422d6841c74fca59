// CqlSession: a client that speaks CQL, and what the sessions of a loop share.
#ifndef LISTSTORE_ENGINE_FACES_CQL_SESSION_H_
#define LISTSTORE_ENGINE_FACES_CQL_SESSION_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/execute/request_handler.h"
#include "engine/faces/cql/connected_clients.h"
#include "engine/faces/cql/connection_state.h"
#include "engine/faces/cql/dispatcher.h"
#include "engine/faces/cql/event_hub.h"
#include "engine/faces/cql/login.h"
#include "engine/faces/cql/long_statements.h"
#include "engine/faces/cql/server_context.h"
#include "engine/network/session.h"
#include "engine/runtime/errand.h"
#include "engine/runtime/event_loop.h"

namespace liststore::cql_face {

class CqlSession;

// The loop's thread only.
struct CqlLoop {
  runtime::EventLoop& event_loop;
  const ServerContext& server;
  const uint32_t shard;  // the loop's number
  Dispatcher dispatcher{server};
  uint64_t next_id = 0;
  LoopPatience patience = {};
  // Sessions that want events.
  std::unordered_set<CqlSession*> registered = {};
};

// Owned by its connection, used on its loop only.
class CqlSession final : public network::Session {
 public:
  // `loop` and `client` outlive the session.
  CqlSession(CqlLoop& loop, network::Client& client, network::ClientAddress address);
  ~CqlSession() override;

  Result OnBytes(std::string_view received, const network::Turn& turn) override;
  void OnStop() override {
    stops_ = true;
    login_.Stop();
  }
  bool IsEstablished() const override { return state_.phase == protocol::ConnectionPhase::kReady; }
  // Sends an EVENT if the client has registered for its type.
  void Push(const PushedEvent& event);
  // An event has been lost: a client that waits for any is disconnected, and looks for itself when it
  // comes again.
  void MissEvent() { client_.Disconnect(); }

 private:
  Result Answer(std::string_view received, const network::Turn& turn);
  Result Dispatch(std::string_view received, const network::Turn& turn);
  // Until a statement that takes long is done, or an answer is due, or for `time` at most.
  Result WaitForOthers(std::chrono::nanoseconds time) const;
  // Appends delayed answers whose time has come; false: until the turn was spent.
  bool AppendDue(const network::Turn& turn);
  void Delay(std::vector<execute::DelayedAnswer> answers);
  void TellOfConnection(bool is_open) const noexcept;
  // Enters the client where clients are listed, or renews its entry.
  void List();

  CqlLoop& loop_;
  network::Client& client_;
  const ConnectedClients::Id id_;
  ConnectionState state_;
  // With more of them nothing is answered until the first has gone.
  static constexpr size_t kDelayedBytesMax = size_t{4} << 20;

  // By their time; those of the same time in the order they came in.
  std::multimap<network::Instant, std::string> delayed_;
  size_t delayed_bytes_ = 0;
  LongStatements long_statements_;
  Login login_;
  bool stops_ = false;
};

// A client that is not served: its first request is answered by the reason, as version and stream
// ask for it; then the connection ends.
class RefusingSession final : public network::Session {
 public:
  explicit RefusingSession(std::string refusal) : refusal_(std::move(refusal)) {}

  Result OnBytes(std::string_view received, const network::Turn& turn) override;
  void OnStop() override {}
  bool IsEstablished() const override { return false; }

 private:
  const std::string refusal_;
  protocol::FrameCutter cutter_{protocol::kLoginFrameBodyBytesMax};
};

// Owned by the face, one for each loop.
class CqlSessionFactory final : public network::SessionFactory {
 public:
  // Both outlive the factory.
  CqlSessionFactory(runtime::EventLoop& loop, const ServerContext& server)
      : loop_{.event_loop = loop, .server = server, .shard = loop.number()},
        tells_(loop, [this] { TellSessions(); }) {}

  std::unique_ptr<network::Session> Make(network::Client& client,
                                         network::ClientAddress address) override;
  std::unique_ptr<network::Session> MakeRefusing(std::string refusal) override {
    return std::make_unique<RefusingSession>(std::move(refusal));
  }
  // Sends an event to the sessions that registered for it, when the loop comes to it. Where there is
  // none, or the heap has no place for it, they are disconnected then. Any thread.
  void Push(const EventHub::Event& event) noexcept;

 private:
  // On the loop.
  void TellSessions();

  CqlLoop loop_;
  // What the loop has yet to tell.
  Mutex mutex_;
  std::vector<EventHub::Event> events_ ABSL_GUARDED_BY(mutex_);
  bool has_lost_events_ ABSL_GUARDED_BY(mutex_) = false;
  runtime::Errand tells_;
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_SESSION_H_
