#include "liststore/cql_server.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/cql/syntax/unsupported.h"
#include "engine/disk/file_status.h"
#include "engine/execute/client_state.h"
#include "engine/execute/feature_tally.h"
#include "engine/execute/statement_cache.h"
#include "engine/faces/cql/cql_face.h"
#include "engine/faces/cql/event_hub.h"
#include "engine/faces/http/http_face.h"
#include "engine/instruments/counters_table.h"
#include "engine/instruments/journal.h"
#include "engine/instruments/request_metrics.h"
#include "engine/instruments/slow_requests.h"
#include "engine/instruments/slow_turns.h"
#include "engine/network/client_budget.h"
#include "engine/network/server.h"
#include "engine/network/session.h"
#include "engine/network/tls.h"
#include "engine/roles/authenticator.h"
#include "engine/serve/check_options.h"
#include "engine/serve/handler_factory.h"
#include "engine/serve/http_logins.h"
#include "engine/serve/memory_shares.h"
#include "engine/serve/metrics_page.h"
#include "engine/serve/node_look.h"
#include "engine/serve/role_setup.h"
#include "engine/serve/server_dynamodb.h"
#include "engine/serve/server_http.h"
#include "engine/serve/server_keeping.h"
#include "engine/serve/server_memory.h"
#include "engine/shard/engine.h"
#include "liststore/list_store.h"
#include "liststore/server_clock.h"
#include "liststore/version.h"

namespace liststore {
namespace {

// Units of reclamation between two looks at the sockets: some 25 us.
constexpr size_t kReclaimUnits = 256;
constexpr uint64_t kResultBytesMin = uint64_t{1} << 20;
// For what a client has sent, until others have their turn.
constexpr std::chrono::milliseconds kTurnTime(1);
// Threads for statements that take long: two for each loop.
constexpr uint32_t kLongThreadsMin = 4;
constexpr uint32_t kLongThreadsMax = 32;

// A request may take half of what the data may, and a quarter of what connections hold.
network::SessionLimits Limits(const CqlServerOptions& options, uint64_t memory_limit_bytes,
                              const ClientShares& shares) {
  network::SessionLimits limits;
  limits.input_bytes_max =
      std::min({uint64_t{limits.input_bytes_max}, memory_limit_bytes / 2, shares.connections / 4});
  limits.idle_time = std::chrono::seconds(options.idle_timeout_seconds);
  if (options.queue_time_max_ms != 0) {
    limits.queue_time_max = std::chrono::milliseconds(options.queue_time_max_ms);
  }
  limits.turn_time = kTurnTime;
  return limits;
}

cql_face::CqlFaceOptions ToFaceOptions(const CqlServerOptions& options, const NodeLook& look) {
  cql_face::CqlFaceOptions face;
  face.address = options.address;
  face.cql_port = options.cql_port;
  face.listens_shard_aware = options.shard_aware;
  face.shard_aware_port = options.shard_aware_port;
  face.tls_port = options.tls_port;
  face.tls_shard_aware_port = options.tls_shard_aware_port;
  face.looks_like_scylla = look.looks_like_scylla;
  return face;
}

// What clients see of the node, and what statements are judged by.
struct ServerLook {
  settings::ScyllaConfig config;
  NodeLook node;
};

absl::StatusOr<ServerLook> MakeLook(const CqlServerOptions& options) {
  ServerLook look;
  LS_ASSIGN_OR_RETURN(look.config, MakeScyllaConfig(options));
  LS_ASSIGN_OR_RETURN(look.node, MakeNodeLook(options, look.config));
  return look;
}

execute::FeatureTally::FirstMeeting FirstMeeting(const CqlServerOptions& options) {
  if (!options.on_notice) return {};
  return [on_notice = options.on_notice](cql::CqlFeature feature, std::string_view statement) {
    const cql::CqlFeatureFacts& facts = cql::FactsOf(feature);
    on_notice({facts.refused, facts.code, facts.name, facts.instead, statement});
  };
}

}  // namespace

// Members are made in their order, and go the other way: first the connections, last the data.
class CqlServer::Impl {
 public:
  static absl::Status RecoverDataDirectory(const CqlServerOptions& options) {
    LS_RETURN_IF_ERROR(CheckOptions(options));
    if (options.data_dir.empty()) return absl::InvalidArgumentError("no data_dir is given");
    // Opening it would make it.
    struct stat facts {};
    if (stat(options.data_dir.c_str(), &facts) != 0) {
      return disk::FileError("find", options.data_dir, -errno);
    }
    Impl impl(options);
    LS_RETURN_IF_ERROR(impl.OpenEngine(options));
    LS_ASSIGN_OR_RETURN(ServerLook look, MakeLook(options));
    LS_RETURN_IF_ERROR(impl.Recover(options, /*goes_on_behind_damage=*/true, look));
    ServerKeeping& keeping = impl.keeping_;
    LS_ASSIGN_OR_RETURN(impl.roles_, MakeRoles(options, look.config, keeping.recovered_roles()));
    LS_RETURN_IF_ERROR(keeping.Begin(*impl.engine_, *impl.roles_));
    return keeping.keeper()->TakeSnapshot().status();
  }

  static absl::StatusOr<std::unique_ptr<Impl>> Start(const CqlServerOptions& options) {
    LS_RETURN_IF_ERROR(CheckOptions(options));
    std::unique_ptr<Impl> impl(new Impl(options));
    LS_RETURN_IF_ERROR(impl->OpenEngine(options));
    LS_RETURN_IF_ERROR(impl->OpenServer(options));
    return impl;
  }

  ~Impl() { Stop(); }

  void Stop() {
    stops_.store(true, std::memory_order_relaxed);
    if (server_ != nullptr) server_->Stop();
    if (server_ != nullptr && cql_ != nullptr) cql_->Stop();
    if (server_ != nullptr && http_ != nullptr) http_->Stop();
    if (server_ != nullptr && dynamodb_ != nullptr) dynamodb_->Stop();
    // Nobody writes any more.
    keeping_.Stop();
  }
  ServerKeeping& keeping() { return keeping_; }
  ServerMemory& memory() { return *memory_; }
  network::Server& server() { return *server_; }
  const cql_face::CqlFace& cql() const { return *cql_; }
  uint16_t http_port() const { return http_ == nullptr ? 0 : http_->port(); }
  uint16_t dynamodb_port() const { return dynamodb_ == nullptr ? 0 : dynamodb_->port(); }
  const execute::FeatureTally& tally() const { return tally_; }
  network::TlsAcceptor* tls() { return tls_.get(); }
  // While the server runs, and when it has stopped.
  std::vector<instruments::Counter> Counters() const;

 private:
  explicit Impl(const CqlServerOptions& options)
      : shares_(options),
        keeping_(options, shares_.logs),
        tally_(FirstMeeting(options)),
        journal_(options.instruments ? options.journal_entries : 0, shares_.journal) {}

  void ChooseClock(const CqlServerOptions& options) {
    clock_ = options.server_clock;
    if (clock_ != nullptr) return;
    const Clock* followed = options.clock;
    if (followed == nullptr && options.store != nullptr) followed = &options.store->clock();
    if (options.manual_clock != nullptr) {
      own_clock_ = std::make_unique<ServerClock>(options.manual_clock);
    } else if (followed != nullptr) {
      own_clock_ = std::make_unique<ServerClock>(*followed);
    } else {
      own_clock_ = std::make_unique<ServerClock>();
    }
    clock_ = own_clock_.get();
  }

  absl::Status OpenEngine(const CqlServerOptions& options) {
    ChooseClock(options);
    slow_turns_ = std::make_unique<instruments::SlowTurns>(*clock_);
    if (options.store != nullptr) {
      if (options.store->keeps_files()) {
        return absl::FailedPreconditionError(
            "the store has a data_dir, which would not have what clients do to the schema");
      }
      engine_ = &options.store->engine();
      return absl::OkStatus();
    }
    shard::EngineOptions engine;
    engine.shards = options.shards;
    LS_ASSIGN_OR_RETURN(engine.memory_limit_bytes, RowsLimit(options));
    own_engine_ = std::make_unique<shard::Engine>(engine);
    if (options.memory_policy == MemoryPolicy::kEvict) own_engine_->EvictTablesOfUsers();
    engine_ = own_engine_.get();
    switch (engine_->Populate(options.populate_bytes)) {
      case memory::PagePool::Populated::kYes:
        break;
      case memory::PagePool::Populated::kOverLimit:
        return absl::InvalidArgumentError(absl::StrCat("populate_bytes is ", options.populate_bytes,
                                                       ", more than the memory limit of ",
                                                       engine.memory_limit_bytes));
      case memory::PagePool::Populated::kRefused:
        return absl::ResourceExhaustedError(
            absl::StrCat("populate_bytes is ", options.populate_bytes,
                         ", more than the machine gives the process"));
    }
    return engine_->StartMappingAhead();
  }

  absl::Status OpenServer(const CqlServerOptions& options) {
    LS_ASSIGN_OR_RETURN(ServerLook choice, MakeLook(options));
    LS_RETURN_IF_ERROR(Recover(options, /*goes_on_behind_damage=*/false, choice));
    const settings::ScyllaConfig& config = choice.config;
    const NodeLook& look = choice.node;
    hot_partitions_.emplace(engine_->router().shards());
    HandlerContext context{.engine = *engine_,
                           .events = events_,
                           .clients = clients_,
                           .cql_addresses = [this] { return cql_addresses_; },
                           .clock = *clock_,
                           .tally = tally_,
                           .journal = journal_,
                           .hot_partitions = *hot_partitions_,
                           .slow_turns = *slow_turns_};
    // Counted where somebody may look.
    if (options.http_port) metrics_.emplace(engine_->router().shards());
    context.metrics = metrics_ ? &*metrics_ : nullptr;
    if (options.slow_request_ms != 0 && options.on_slow_request) {
      slow_requests_.emplace(std::chrono::milliseconds(options.slow_request_ms),
                             options.on_slow_request);
      context.slow_requests = &*slow_requests_;
    }
    context.on_schema_change = options.on_schema_change;
    context.host_id = engine_->catalog().NewUuid();
    context.shards = engine_->router().shards();
    context.serves_list_store = options.store != nullptr;
    context.node = look.facts;
    LS_ASSIGN_OR_RETURN(roles_, MakeRoles(options, config, keeping_.recovered_roles()));
    LS_RETURN_IF_ERROR(keeping_.Begin(*engine_, *roles_));
    LS_RETURN_IF_ERROR(keeping_.TakeOver());
    context.keeper = keeping_.keeper();
    context.snapshots = keeping_.SnapshotCalls();
    authenticator_ = std::make_unique<roles::Authenticator>(*roles_);
    context.roles = roles_;
    context.cassandra_major = look.cassandra_major;
    context.looks_like_scylla = look.looks_like_scylla;
    context.dialect = look.dialect;
    const WorkShares work(options, shares_);
    context.dialect.tokens_max = work.tokens_max;
    context.dialect.plan_bytes_max = work.plan_bytes_max;
    context.cells_max = work.cells_max;
    context.batch_statements_max = work.statements_max;
    context.json_values_max = work.json_values_max;
    context.settings = std::make_shared<settings::LiveSettings>(config);
    context.client_timestamps = options.client_timestamps;
    // Each loop may work at one, beside what is held when requests are let in.
    context.result_bytes_max = std::max(shares_.connections / 4 / context.shards, kResultBytesMin);
    // What can be written can be read, with a key as long as it may be. What was recovered may have
    // more; a store of the program's has rows by its own rule.
    if (options.work_memory_bytes != 0 && options.store == nullptr) {
      engine_->SetRowBytesMax(context.result_bytes_max - 2 * (kKeyBytesMax + 1));
    }
    context.statement_bytes_max = shares_.statements;
    context.has_instruments = options.instruments;
    context.memory_uses = [this] { return memory_->Uses(); };
    // Who may do everything may do this as well, but not whoever comes by.
    if (options.instruments || roles_->rules().asks_for_passwords) {
      context.change_limit = [this](std::string_view kind, uint64_t bytes,
                                    std::vector<std::string>& warnings) {
        return memory_->ChangeLimit(kind, bytes, warnings);
      };
    }
    context.counters = [this] { return Counters(); };
    handler_ = MakeStatementHandler(context);

    network::ServerOptions server;
    server.loops = context.shards;
    server.limits = Limits(options, engine_->memory_limit_bytes(), shares_);
    server.gate = keeping_.gate();
    server.connections = {options.max_connections, options.max_connections_per_address};
    server.client_memory_bytes = shares_.connections;
    server.background = [this] {
      const auto begin = std::chrono::steady_clock::now();
      instruments::SlowTurns::LookNowAndThen(begin);
      const bool more_waits = WorkInBackground();
      slow_turns_->NoteEnd(begin, [this] {
        return instruments::SlowTurns::Work{CurrentLoop(), "memory given back"};
      });
      return more_waits;
    };
    LS_ASSIGN_OR_RETURN(server_, network::Server::Create(server));
    ServerMemory::Parts parts{.engine = *engine_,
                              .clock = *clock_,
                              .connections = server_->budget(),
                              .statements = *handler_,
                              .journal = journal_,
                              .hot_partitions = *hot_partitions_,
                              .log_bytes = {}};
    if (shares_.logs != 0) parts.log_bytes = [this] { return keeping_.buffered_bytes(); };
    memory_ = std::make_unique<ServerMemory>(options, parts, shares_.logs);

    cql_face::CqlFaceOptions cql = ToFaceOptions(options, look);
    if (!look.looks_like_scylla) cql.cassandra_cql_version = look.facts.cql_version;
    cql.host_id = context.host_id.ToString();
    cql.clients = &clients_;
    cql.on_connection = options.on_connection;
    if (options.tls) {
      LS_ASSIGN_OR_RETURN(tls_, network::TlsAcceptor::Create(*options.tls));
      cql.tls = tls_.get();
    }
    cql.long_threads = std::clamp(2 * context.shards, kLongThreadsMin, kLongThreadsMax);
    cql.work_bytes_max = work.bytes;
    cql.on_work_given = options.on_work_memory_freed;
    cql.batch_values_max = work.values_max;
    cql.long_result_bytes_max = std::max(shares_.connections / 4, kResultBytesMin);
    if (roles_->rules().asks_for_passwords) cql.authenticator = authenticator_.get();
    LS_ASSIGN_OR_RETURN(cql_, cql_face::CqlFace::Open(*server_, cql, *handler_, events_));
    for (const uint16_t port : {cql_->cql_port(), cql_->shard_aware_port(), cql_->tls_port(),
                                cql_->tls_shard_aware_port()}) {
      std::string address = absl::StrCat(cql.address, ":", port);
      const bool is_new = std::ranges::find(cql_addresses_, address) == cql_addresses_.end();
      if (port != 0 && is_new) cql_addresses_.push_back(std::move(address));
    }
    if (options.http_port) LS_RETURN_IF_ERROR(OpenHttp(options));
    if (options.dynamodb_port) LS_RETURN_IF_ERROR(OpenDynamodb(options));
    LS_RETURN_IF_ERROR(keeping_.StartSchedule());
    return server_->Start();
  }

  absl::Status OpenHttp(const CqlServerOptions& options) {
    ServerHttpParts parts{.server = *server_,
                          .statements = *handler_,
                          .tls = tls_.get(),
                          .log_in = {},
                          .on_connection = options.on_connection,
                          .result_bytes_max = std::max(shares_.connections / 4, kResultBytesMin),
                          .is_ready =
                              [this] {
                                return !stops_.load(std::memory_order_relaxed) &&
                                       !server_->budget().Refuses(0);
                              },
                          .metrics = {.engine = *engine_,
                                      .requests = *metrics_,
                                      .statements = *handler_,
                                      .memory_uses = [this] { return memory_->Uses(); },
                                      .counters = [this] { return Counters(); },
                                      .beside_loops = [this] { return BesideLoops(); },
                                      .clock = *clock_,
                                      .keeping = keeping_.SnapshotCalls().state,
                                      .version = kVersion}};
    if (roles_->rules().asks_for_passwords) {
      parts.log_in = LoginsOfHttp(cql_->logins(), *authenticator_);
    }
    LS_ASSIGN_OR_RETURN(http_,
                        liststore::OpenHttp(options.address, *options.http_port, std::move(parts)));
    return absl::OkStatus();
  }

  absl::Status OpenDynamodb(const CqlServerOptions& options) {
    LS_ASSIGN_OR_RETURN(
        dynamodb_, liststore::OpenDynamodb(
                       options.address, *options.dynamodb_port,
                       {.server = *server_,
                        .statements = *handler_,
                        .engine = *engine_,
                        .clock = *clock_,
                        .resets = [this] { return handler_->resets(); },
                        .tally = tally_,
                        .tls = tls_.get(),
                        .credentials = options.dynamodb_credentials,
                        .roles = roles_->rules().asks_for_passwords ? &*roles_ : nullptr,
                        .on_connection = options.on_connection,
                        .result_bytes_max = std::max(shares_.connections / 4, kResultBytesMin)}));
    return absl::OkStatus();
  }

  std::vector<MetricsSources::BesideLoops> BesideLoops() const {
    std::vector<MetricsSources::BesideLoops> all = {
        {"cql", cql_->waiting_long_statements(), cql_->running_long_statements()},
        {"http", http_->waiting_requests(), http_->running_requests()}};
    if (dynamodb_ != nullptr) {
      all.push_back({"dynamodb", dynamodb_->waiting_requests(), dynamodb_->running_requests()});
    }
    return all;
  }
  // A slice.
  bool WorkInBackground() {
    memory_->Tick();
    const uint64_t era = engine_->era();
    return engine_->Reclaim(clock_->NowNanos(), kReclaimUnits, era, /*may_wait=*/false) > 0;
  }
  // The number of the calling thread's.
  uint32_t CurrentLoop() const {
    uint32_t number = 0;
    while (number + 1 < server_->loop_count() && !server_->loop(number).IsCurrent()) ++number;
    return number;
  }

  // What is there is recovered, and the server looks like whom it was made like, unless it was said.
  absl::Status Recover(const CqlServerOptions& options, bool goes_on_behind_damage,
                       ServerLook& look) {
    std::optional<cql::Dialect> asked;
    if (!options.like.empty()) asked = look.node.dialect;
    LS_ASSIGN_OR_RETURN(const std::optional<cql::Dialect> made,
                        keeping_.Recover(options, asked, *engine_, *clock_, goes_on_behind_damage));
    if (!made || made->name == look.node.dialect.name) return absl::OkStatus();
    CqlServerOptions taken = options;
    taken.like = made->name;
    LS_ASSIGN_OR_RETURN(look, MakeLook(taken));
    if (options.on_keeping) {
      options.on_keeping(
          ToStd(absl::StrCat("goes on like ", taken.like, ", as the schema was made")));
    }
    return absl::OkStatus();
  }

  const ClientShares shares_;
  ServerKeeping keeping_;  // destroyed behind the engine
  execute::FeatureTally tally_;
  instruments::Journal journal_;
  std::unique_ptr<ServerClock> own_clock_;
  ServerClock* clock_ = nullptr;
  std::optional<instruments::RequestMetrics> metrics_;        // nullopt: nothing is counted
  std::unique_ptr<instruments::SlowTurns> slow_turns_;        // once there is a clock
  std::optional<instruments::HotPartitions> hot_partitions_;  // once the number of loops is known
  std::optional<instruments::SlowRequests> slow_requests_;    // nullopt: nobody is told of them
  std::unique_ptr<shard::Engine> own_engine_;
  shard::Engine* engine_ = nullptr;
  cql_face::EventHub events_;
  cql_face::ConnectedClients clients_;
  std::shared_ptr<roles::RoleStore> roles_;
  std::unique_ptr<roles::Authenticator> authenticator_;
  std::unique_ptr<StatementHandler> handler_;
  std::unique_ptr<ServerMemory> memory_;       // made before the loops run
  std::unique_ptr<network::TlsAcceptor> tls_;  // nullptr: none
  std::unique_ptr<cql_face::CqlFace> cql_;
  std::unique_ptr<http_face::HttpFace> http_;      // nullptr: none
  std::unique_ptr<http_face::HttpFace> dynamodb_;  // nullptr: none
  std::atomic<bool> stops_ = false;
  std::vector<std::string> cql_addresses_;  // constant once the server runs
  std::unique_ptr<network::Server> server_;
};

std::vector<instruments::Counter> CqlServer::Impl::Counters() const {
  const network::ClientCounters& clients = server_->counters();
  const auto count = [](const std::atomic<uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  return {{"connections", server_->connection_count()},
          {"connections_refused", count(clients.refused_connections)},
          {"connections_ended_in_handshake", count(clients.ended_in_handshake)},
          {"connections_ended_idle", count(clients.ended_idle)},
          {"connections_ended_not_reading", count(clients.ended_not_reading)},
          {"connections_ended_for_memory", count(clients.ended_for_memory)},
          {"logins_refused", cql_->refused_logins()},
          {"requests_refused_for_memory", count(clients.refused_requests)},
          {"requests_refused_for_queue_time", count(clients.refused_late)},
          {"writes_refused_for_memory", engine_->refused_writes()},
          {"partitions_evicted", engine_->evictions()},
          {"tls_handshakes", count(clients.tls_handshakes)},
          {"tls_handshakes_failed", count(clients.tls_handshakes_failed)},
          {"slow_turns", slow_turns_->count()},
          {"statements_long", cql_->long_statements()},
          {"statements_long_refused", cql_->refused_long_statements()},
          {"http_requests", http_ == nullptr ? 0 : http_->requests()},
          {"http_requests_refused", http_ == nullptr ? 0 : http_->refused()},
          {"dynamodb_requests", dynamodb_ == nullptr ? 0 : dynamodb_->requests()},
          {"dynamodb_requests_refused", dynamodb_ == nullptr ? 0 : dynamodb_->refused()}};
}

absl::StatusOr<std::unique_ptr<CqlServer>> CqlServer::Start(const CqlServerOptions& options) try {
  LS_ASSIGN_OR_RETURN(auto impl, Impl::Start(options));
  return std::unique_ptr<CqlServer>(new CqlServer(std::move(impl)));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

CqlServer::CqlServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CqlServer::~CqlServer() = default;

void CqlServer::Stop() { impl_->Stop(); }
absl::Status CqlServer::stop_status() const { return impl_->keeping().stop_status(); }

absl::Status CqlServer::TakeSnapshot() try {
  return impl_->keeping().TakeSnapshot();
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status CqlServer::RecoverDataDirectory(const CqlServerOptions& options) try {
  return Impl::RecoverDataDirectory(options);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

uint16_t CqlServer::cql_port() const { return impl_->cql().cql_port(); }
uint16_t CqlServer::shard_aware_port() const { return impl_->cql().shard_aware_port(); }
uint16_t CqlServer::tls_port() const { return impl_->cql().tls_port(); }
uint16_t CqlServer::tls_shard_aware_port() const { return impl_->cql().tls_shard_aware_port(); }
uint16_t CqlServer::http_port() const { return impl_->http_port(); }
uint16_t CqlServer::dynamodb_port() const { return impl_->dynamodb_port(); }

absl::Status CqlServer::ReloadTls() try {
  if (impl_->tls() == nullptr) {
    return absl::FailedPreconditionError("the server has no TLS whose files could be read again");
  }
  return impl_->tls()->Reload();
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::Status CqlServer::ReloadTls(const TlsOptions& tls) try {
  if (impl_->tls() == nullptr) {
    return absl::FailedPreconditionError("the server has no TLS that could have other files");
  }
  return impl_->tls()->Reload(tls);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

bool CqlServer::NoteResidentBytes(uint64_t bytes) try {
  return impl_->memory().NoteResident(bytes);
} catch (const std::bad_alloc&) {
  return false;  // the next look is another try
}
size_t CqlServer::connection_count() const { return impl_->server().connection_count(); }

std::vector<CqlCounter> CqlServer::Counters() const { return impl_->Counters(); }

std::chrono::nanoseconds CqlServer::LongestTurn() const { return impl_->server().LongestTurn(); }

uint64_t CqlServer::refusal_count() const { return impl_->tally().refusals(); }

std::vector<CqlRefusal> CqlServer::Refusals() const {
  std::vector<CqlRefusal> refusals;
  for (execute::FeatureTally::Entry& entry : impl_->tally().Met()) {
    const cql::CqlFeatureFacts& facts = cql::FactsOf(entry.feature);
    if (!facts.refused) continue;
    refusals.push_back({std::string(facts.code), std::string(facts.name),
                        std::move(entry.first_statement), entry.count});
  }
  return refusals;
}

}  // namespace liststore
