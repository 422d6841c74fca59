// A handler whose answers are told by the text of the query, so that tests of connections need no
// statements.
#ifndef LISTSTORE_TESTS_FACES_CQL_FAKE_HANDLER_H_
#define LISTSTORE_TESTS_FACES_CQL_FAKE_HANDLER_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <string>

#include "engine/base/mutex.h"
#include "engine/execute/request_handler.h"
#include "engine/faces/cql/cql_face.h"
#include "engine/faces/cql/event_hub.h"
#include "engine/network/server.h"

namespace liststore::testing {

// QUERY of
//   void         Void
//   bytes N      a RESULT whose body is N times 'x'
//   use K        Set_keyspace, and the connection has it
//   state        Set_keyspace of "keyspace user driver shard"
//   change K     Schema_change of the keyspace, and an EVENT for everybody
//   wait         Void, when Release was called
//   delay N T    a RESULT whose body is T, N milliseconds later
//   silence      no answer
//   close        the connection ends
// and of anything else an ERROR kSyntax with the text. Answers of one call go out in reverse
// order when asked. EXECUTE: Void.
class FakeHandler final : public execute::RequestHandler {
 public:
  explicit FakeHandler(cql_face::EventHub& events) : events_(events) {}

  execute::ConnectionOrders Handle(std::span<execute::RequestView> requests,
                                   execute::ClientState& client, OutputBuffer& out) override;

  // Any thread.
  void AnswerInReverse() { reverse_ = true; }
  // A request waits.
  void AwaitWaiting();
  void Release();
  size_t calls() const { return calls_; }
  size_t requests() const { return requests_; }
  size_t largest_call() const { return largest_call_; }

 private:
  void Answer(execute::RequestView& request, execute::ClientState& client, OutputBuffer& out,
              execute::ConnectionOrders& orders);
  void Wait();

  cql_face::EventHub& events_;
  std::atomic<bool> reverse_{false};
  std::atomic<size_t> calls_{0};
  std::atomic<size_t> requests_{0};
  std::atomic<size_t> largest_call_{0};
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool waiting_ ABSL_GUARDED_BY(mutex_) = false;
  bool released_ ABSL_GUARDED_BY(mutex_) = false;
};

// A server in front of a FakeHandler, on free ports of this machine.
class FakeServer {
 public:
  // Ends the test program when it cannot start.
  explicit FakeServer(cql_face::CqlFaceOptions options = {},
                      const network::ServerOptions& server = {});

  ~FakeServer();

  FakeHandler& handler() { return handler_; }
  cql_face::EventHub& events() { return events_; }
  const cql_face::CqlFace& face() const { return *face_; }
  const cql_face::ConnectedClients& clients() const { return clients_; }
  network::Server& server() { return *server_; }
  uint16_t port() const { return face_->cql_port(); }
  uint16_t shard_aware_port() const { return face_->shard_aware_port(); }
  // Until so many connections exist: a client learns of its own before the server does.
  void AwaitConnections(size_t count) const;

 private:
  cql_face::EventHub events_;
  cql_face::ConnectedClients clients_;
  FakeHandler handler_{events_};
  std::unique_ptr<cql_face::CqlFace> face_;
  std::unique_ptr<network::Server> server_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_FACES_CQL_FAKE_HANDLER_H_
