// Where statements are plugged into the server: the one place that knows which RequestHandler it
// is.
#ifndef LISTSTORE_ENGINE_SERVE_HANDLER_FACTORY_H_
#define LISTSTORE_ENGINE_SERVE_HANDLER_FACTORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/execute/feature_tally.h"
#include "engine/execute/request_handler.h"
#include "engine/execute/statement_cache.h"
#include "engine/execute/write/write_set.h"
#include "engine/faces/cql/event_hub.h"
#include "engine/instruments/counters_table.h"
#include "engine/instruments/hot_partitions.h"
#include "engine/instruments/journal.h"
#include "engine/instruments/memory_table.h"
#include "engine/instruments/request_metrics.h"
#include "engine/instruments/slow_requests.h"
#include "engine/instruments/slow_turns.h"
#include "engine/instruments/snapshots_table.h"
#include "engine/keeping/keeper.h"
#include "engine/model/types/uuid.h"
#include "engine/roles/role_store.h"
#include "engine/settings/live_settings.h"
#include "engine/shard/engine.h"
#include "liststore/cql_server.h"
#include "liststore/server_clock.h"

namespace liststore {

// What a handler is made of. Everything outlives it.
struct HandlerContext {
  shard::Engine& engine;
  // To be told of every change of the schema.
  cql_face::EventHub& events;
  // Who is connected, for system.clients.
  const cql::ClientDirectory& clients;
  // Where clients of CQL are answered, "127.0.0.1:9042". Asked while the server runs.
  std::function<std::vector<std::string>()> cql_addresses;
  ServerClock& clock;
  // Where features are counted that statements ask for in vain.
  execute::FeatureTally& tally;
  // Where requests are written down.
  instruments::Journal& journal;
  // Where requests are counted; nullptr: nowhere.
  instruments::RequestMetrics* metrics = nullptr;
  // Who is told of slow ones; nullptr: nobody.
  const instruments::SlowRequests* slow_requests = nullptr;
  // Where is noted which partitions are asked for.
  instruments::HotPartitions& hot_partitions;
  // Where is noted what takes a loop long.
  instruments::SlowTurns& slow_turns;
  // Who is told of changes of the schema beside; may be empty.
  std::function<void(const CqlSchemaNotice&)> on_schema_change = {};
  // What it says of itself beside; see NodeLook.
  cql::NodeFacts node = {};
  uint32_t cassandra_major = 4;
  Uuid host_id = {};  // of system.local and SUPPORTED
  uint32_t shards = 1;
  // The engine is a list store's.
  bool serves_list_store = false;
  bool looks_like_scylla = true;
  std::shared_ptr<settings::LiveSettings> settings =
      std::make_shared<settings::LiveSettings>(settings::ScyllaConfig());
  std::shared_ptr<roles::RoleStore> roles = std::make_shared<roles::RoleStore>();
  cql::Dialect dialect = {};
  CqlServerOptions::ClientTimestamps client_timestamps =
      CqlServerOptions::ClientTimestamps::kByClock;
  // Of a result without pages.
  size_t result_bytes_max = SIZE_MAX;
  // Of those that are prepared.
  size_t statement_bytes_max = execute::StatementCache::kBytesMax;
  // As of execute::QueryProcessorOptions.
  size_t cells_max = execute::WriteSet::kCellsMax;
  size_t batch_statements_max = SIZE_MAX;
  size_t json_values_max = SIZE_MAX;
  // The tables by which tests look at a server and change what it does.
  bool has_instruments = true;
  // For liststore.memory and liststore.counters. Asked while the server runs.
  std::function<std::vector<instruments::MemoryUse>()> memory_uses = {};
  instruments::ChangeLimit change_limit = {};
  std::function<std::vector<instruments::Counter>()> counters = {};
  // Where everything is kept; nullptr: nowhere.
  keeping::Keeper* keeper = nullptr;
  // For liststore.snapshots.
  instruments::SnapshotCalls snapshots = {};
};

class StatementHandler : public execute::RequestHandler {
 public:
  // How often the data went back to what it was: whoever remembers what was written forgets it when this
  // changes. Thread-safe.
  virtual uint64_t resets() const = 0;
  // That prepared statements take.
  virtual size_t statement_bytes() const = 0;
  virtual size_t statement_count() const = 0;
  virtual size_t statement_bytes_max() const = 0;
  virtual execute::StatementCache::Lookups statement_lookups() const = 0;
  virtual void set_statement_bytes_max(size_t bytes) = 0;
};

std::unique_ptr<StatementHandler> MakeStatementHandler(const HandlerContext& context);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_HANDLER_FACTORY_H_
