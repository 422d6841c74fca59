#include "engine/faces/cql/server.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/protocol/scylla_options.h"

namespace liststore {
namespace {

// Until connections whose clients do not read are dropped.
constexpr std::chrono::milliseconds kStopTime(500);

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      RequestHandler& handler, EventHub& events) {
  LS_CHECK(options.shards >= 1, "a server has a shard");
  RaiseFileLimit();
  std::unique_ptr<Server> server(new Server(handler));
  LS_RETURN_IF_ERROR(server->Open(options, events));
  return server;
}

absl::Status Server::Open(const ServerOptions& options, EventHub& events) {
  context_.credentials = options.credentials;
  context_.clients = options.clients;
  context_.body_bytes_max = options.body_bytes_max;
  for (uint32_t shard = 0; shard < options.shards; ++shard) {
    LS_ASSIGN_OR_RETURN(auto loop, EventLoop::Create(shard, options.background));
    loops_.push_back(std::move(loop));
    factories_.push_back(std::make_unique<CqlSessionFactory>(*loops_.back(), context_));
    groups_.push_back(std::make_unique<network::ConnectionGroup>(*loops_.back(), limits_));
  }
  LS_RETURN_IF_ERROR(OpenListeners(options));
  FillSupported(options);
  // Nothing fails from here on, and nobody can have connected before all is in its place.
  for (const auto& factory : factories_) {
    events.Subscribe([factory = factory.get()](const PushedEvent& event) { factory->Push(event); });
  }
  cql_listener_->Start();
  if (shard_aware_listener_ != nullptr) shard_aware_listener_->Start();
  for (const auto& loop : loops_) loop->Start();
  runs_ = true;
  return absl::OkStatus();
}

absl::Status Server::OpenListeners(const ServerOptions& options) {
  // Drivers that do not know shards, or look for one that they have no connection to yet, get the
  // next one each time: that way they have seen all of them soonest.
  LS_ASSIGN_OR_RETURN(
      cql_listener_,
      Listener::Open(*loops_[0], options.address, options.cql_port, [this](int fd, uint16_t) {
        groups_[next_group_]->Adopt(fd, *factories_[next_group_]);
        next_group_ = (next_group_ + 1) % static_cast<uint32_t>(groups_.size());
      }));
  if (!options.listens_shard_aware) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(shard_aware_listener_, OpenShardAware(options));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Listener>> Server::OpenShardAware(const ServerOptions& options) {
  const auto open = [&](uint16_t port) {
    // Source of the rule: ScyllaDB docs/dev/protocols.md, shard-aware port.
    return Listener::Open(*loops_[0], options.address, port, [this](int fd, uint16_t peer_port) {
      const size_t shard = peer_port % groups_.size();
      groups_[shard]->Adopt(fd, *factories_[shard]);
    });
  };
  if (options.shard_aware_port.has_value()) return open(*options.shard_aware_port);
  if (options.cql_port == 0) return open(0);
  auto listener = open(kShardAwarePort);
  return absl::IsAlreadyExists(listener.status()) ? open(0) : std::move(listener);
}

void Server::FillSupported(const ServerOptions& options) {
  if (!options.looks_like_scylla) {
    context_.supported.assign(options.shards,
                              protocol::CassandraSupported(options.cassandra_cql_version));
    return;
  }
  context_.extensions.lwt_mark = true;
  context_.extensions.rate_limit_error = true;
  protocol::ShardingOptions sharding;
  sharding.shard_count = options.shards;
  sharding.host_id = options.host_id;
  sharding.extensions = context_.extensions;
  if (shard_aware_listener_ != nullptr) sharding.shard_aware_port = shard_aware_listener_->port();
  for (uint32_t shard = 0; shard < options.shards; ++shard) {
    sharding.shard = shard;
    context_.supported.push_back(protocol::ScyllaSupported(sharding));
  }
}

Server::~Server() { Stop(); }

void Server::Stop() {
  if (!std::exchange(runs_, false)) return;
  for (const auto& loop : loops_) {
    LS_CHECK(!loop->IsCurrent(), "a server is stopped from outside");
  }
  loops_[0]->Post([this] {
    cql_listener_->Close();
    if (shard_aware_listener_ != nullptr) shard_aware_listener_->Close();
    // Behind the adoption of what was just accepted.
    for (const auto& group : groups_) group->BeginStop();
  });
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
  for (const auto& loop : loops_) loop->Stop();
  for (const auto& loop : loops_) loop->Join();
}

size_t Server::connection_count() const {
  size_t count = 0;
  for (const auto& group : groups_) count += group->connection_count();
  return count;
}

}  // namespace liststore
