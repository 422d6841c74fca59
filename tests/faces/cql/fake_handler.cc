#include "tests/faces/cql/fake_handler.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/base/check.h"

namespace liststore::testing {
namespace {

// `text` behind `prefix`, if that is how it begins.
bool Takes(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

execute::ConnectionOrders FakeHandler::Handle(std::span<execute::RequestView> requests,
                                              execute::ClientState& client, OutputBuffer& out) {
  LS_CHECK(!requests.empty() && requests.size() <= execute::kRequestsPerTurnMax,
           "a call has requests");
  ++calls_;
  requests_ += requests.size();
  largest_call_ = std::max(largest_call_.load(), requests.size());
  execute::ConnectionOrders orders;
  for (size_t i = 0; i < requests.size() && !orders.close; ++i) {
    Answer(requests[reverse_ ? requests.size() - 1 - i : i], client, out, orders);
  }
  return orders;
}

void FakeHandler::Answer(execute::RequestView& request, execute::ClientState& client,
                         OutputBuffer& out, execute::ConnectionOrders& orders) {
  const protocol::ResponseContext response = execute::ResponseContextOf(request.header(), client);
  if (request.kind() != execute::RequestKind::kQuery) {
    protocol::EncodeVoid(out, response);
    return;
  }
  std::string_view text = request.statement().text();
  if (Takes(text, "void")) {
    protocol::EncodeVoid(out, response);
  } else if (Takes(text, "bytes ")) {
    const size_t bytes = std::strtoul(std::string(text).c_str(), nullptr, 10);
    protocol::FrameEncoder frame(out, response, protocol::Opcode::kResult);
    std::memset(out.Extend(bytes), 'x', bytes);
    frame.Finish();
  } else if (Takes(text, "use ")) {
    client.keyspace = text;
    protocol::EncodeSetKeyspace(out, response, text);
  } else if (text == "state") {
    const std::string state = client.keyspace + " " + client.user + " " + client.driver_name + " " +
                              std::to_string(client.shard);
    protocol::EncodeSetKeyspace(out, response, state);
  } else if (Takes(text, "change ")) {
    protocol::SchemaChange change;
    change.keyspace = text;
    events_.Publish(change);
    protocol::EncodeSchemaChange(out, response, change);
  } else if (Takes(text, "delay ")) {
    char* end = nullptr;
    const std::string rest(text);
    const std::chrono::milliseconds delay(std::strtol(rest.c_str(), &end, 10));
    OutputBuffer later;
    protocol::FrameEncoder frame(later, response, protocol::Opcode::kResult);
    later.Append(end + 1);
    frame.Finish();
    orders.delayed.push_back({delay, std::string(later.view())});
  } else if (text == "close") {
    orders.close = true;
  } else if (text == "silence") {
  } else if (text == "wait") {
    Wait();
    protocol::EncodeVoid(out, response);
  } else {
    protocol::EncodeError(out, response,
                          protocol::ProtocolError{protocol::ErrorCode::kSyntax, std::string(text)});
  }
}

void FakeHandler::Wait() {
  MutexLock lock(mutex_);
  waiting_ = true;
  changed_.notify_all();
  while (!released_) changed_.wait(mutex_);
}

void FakeHandler::AwaitWaiting() {
  MutexLock lock(mutex_);
  while (!waiting_) changed_.wait(mutex_);
}

void FakeHandler::Release() {
  MutexLock lock(mutex_);
  released_ = true;
  changed_.notify_all();
}

FakeServer::FakeServer(cql_face::CqlFaceOptions options,
                       const network::ServerOptions& server_options) {
  options.clients = &clients_;
  auto server = network::Server::Create(server_options);
  LS_CHECK(server.ok(), "there are descriptors for loops");
  server_ = *std::move(server);
  auto face = cql_face::CqlFace::Open(*server_, options, handler_, events_);
  LS_CHECK(face.ok(), "a server starts on a free port");
  face_ = *std::move(face);
  LS_CHECK(server_->Start().ok(), "there are threads for loops");
}

FakeServer::~FakeServer() {
  server_->Stop();
  face_->Stop();
}

void FakeServer::AwaitConnections(size_t count) const {
  while (server_->connection_count() != count) std::this_thread::yield();
}

}  // namespace liststore::testing
