#include "engine/faces/cql/cql_face.h"

#include <algorithm>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/scylla_options.h"

namespace liststore::cql_face {

absl::StatusOr<std::unique_ptr<CqlFace>> CqlFace::Open(network::Server& server,
                                                       const CqlFaceOptions& options,
                                                       execute::RequestHandler& handler,
                                                       EventHub& events) {
  std::unique_ptr<CqlFace> face(new CqlFace);
  ServerContext& context = face->context_;
  context.handler = &handler;
  context.authenticator = options.authenticator;
  context.clients = options.clients;
  context.on_connection = options.on_connection;
  context.counters = &server.counters();
  context.budget = &server.budget();
  context.logins = std::make_unique<LoginGuard>(options.logins);
  if (options.long_threads > 0) {
    context.long_work = std::make_unique<LongWork>(options.long_threads, options.long_queued_max,
                                                   options.long_result_bytes_max,
                                                   options.work_bytes_max, options.on_work_given);
  }
  context.batch_values_max = options.batch_values_max;
  context.body_bytes_max = static_cast<uint32_t>(
      std::min<size_t>(server.limits().input_bytes_max, protocol::kFrameBodyBytesMax));
  for (uint32_t shard = 0; shard < server.loop_count(); ++shard) {
    face->factories_.push_back(std::make_unique<CqlSessionFactory>(server.loop(shard), context));
  }
  LS_RETURN_IF_ERROR(face->Listen(server, options));
  face->FillSupported(options);
  // Nothing fails from here on, and nobody is connected before the server starts.
  for (const auto& factory : face->factories_) {
    events.Subscribe(
        [factory = factory.get()](const EventHub::Event& event) { factory->Push(event); });
  }
  return face;
}

absl::Status CqlFace::Listen(network::Server& server, const CqlFaceOptions& options) {
  // Drivers that do not know shards, or look for one that they have no connection to yet, get the
  // next one each time: that way they have seen all of them soonest.
  const auto listen = [&](uint16_t port, const network::TlsAcceptor* tls) {
    return server.Listen(options.address, port, Factories(), network::LoopChoice::kNextInTurn, tls);
  };
  LS_ASSIGN_OR_RETURN(cql_port_,
                      listen(options.cql_port, options.tls_port ? nullptr : options.tls));
  if (options.tls != nullptr) {
    tls_port_ = cql_port_;
    if (options.tls_port) {
      LS_ASSIGN_OR_RETURN(tls_port_, listen(*options.tls_port, options.tls));
    }
  }
  return options.listens_shard_aware ? ListenShardAware(server, options) : absl::OkStatus();
}

absl::Status CqlFace::ListenShardAware(network::Server& server, const CqlFaceOptions& options) {
  const auto listen = [&](uint16_t port, const network::TlsAcceptor* tls) {
    // Source of the rule: ScyllaDB docs/dev/protocols.md, shard-aware port.
    return server.Listen(options.address, port, Factories(), network::LoopChoice::kByPeerPort, tls);
  };
  const bool is_plain = options.tls_shard_aware_port.has_value() || options.tls == nullptr;
  const network::TlsAcceptor* const tls = is_plain ? nullptr : options.tls;
  const bool may_be_any = !options.shard_aware_port.has_value();
  const uint16_t wanted =
      options.shard_aware_port.value_or(options.cql_port == 0 ? 0 : kShardAwarePort);
  auto port = listen(wanted, tls);
  if (may_be_any && absl::IsAlreadyExists(port.status())) port = listen(0, tls);
  LS_ASSIGN_OR_RETURN(shard_aware_port_, std::move(port));
  if (options.tls == nullptr) return absl::OkStatus();
  tls_shard_aware_port_ = shard_aware_port_;
  if (is_plain) {
    LS_ASSIGN_OR_RETURN(tls_shard_aware_port_, listen(*options.tls_shard_aware_port, options.tls));
  }
  return absl::OkStatus();
}

std::vector<network::SessionFactory*> CqlFace::Factories() const {
  std::vector<network::SessionFactory*> factories;
  for (const auto& factory : factories_) factories.push_back(factory.get());
  return factories;
}

void CqlFace::FillSupported(const CqlFaceOptions& options) {
  const auto shards = static_cast<uint32_t>(factories_.size());
  if (!options.looks_like_scylla) {
    context_.supported.assign(shards, protocol::CassandraSupported(options.cassandra_cql_version));
    return;
  }
  context_.extensions.lwt_mark = true;
  context_.extensions.rate_limit_error = true;
  protocol::ShardingOptions sharding;
  sharding.shard_count = shards;
  sharding.host_id = options.host_id;
  sharding.extensions = context_.extensions;
  if (shard_aware_port_ != tls_shard_aware_port_) sharding.shard_aware_port = shard_aware_port_;
  if (tls_shard_aware_port_ != 0) sharding.shard_aware_port_ssl = tls_shard_aware_port_;
  for (uint32_t shard = 0; shard < shards; ++shard) {
    sharding.shard = shard;
    context_.supported.push_back(protocol::ScyllaSupported(sharding));
  }
}

}  // namespace liststore::cql_face
