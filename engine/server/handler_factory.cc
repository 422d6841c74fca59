#include "engine/server/handler_factory.h"

#include <utility>

#include "engine/control/clock_table.h"
#include "engine/control/data_table.h"
#include "engine/control/server_clock.h"
#include "engine/cql/system_schema_tables.h"
#include "engine/cql/system_tables.h"
#include "engine/server/query_processor.h"

namespace liststore {
namespace {

// The statements of a server, with the tables and the clock that they see.
class StatementHandler final : public RequestHandler {
 public:
  explicit StatementHandler(const HandlerContext& context)
      : clock_(context.manual_clock != nullptr ? ServerClock(context.manual_clock)
                                               : ServerClock(context.clock)) {
    AddSystemTables(tables_, context.looks_like_scylla, &context.clients);
    AddSystemSchemaTables(tables_, context.looks_like_scylla);
    tables_.Add(std::make_unique<ClockTable>(clock_));
    DataTableOptions data;
    data.serves_list_store = context.serves_list_store;
    data.on_schema_change = [this](std::span<const SchemaDifference> differences) {
      for (const SchemaDifference& difference : differences) {
        processor_->NoteSchemaDifference(difference);
      }
    };
    tables_.Add(std::make_unique<DataTable>(context.engine, clock_, std::move(data)));
    QueryProcessorOptions options;
    options.replace_client_timestamps = !context.honours_client_timestamps;
    options.node.host_id = context.host_id;
    options.node.looks_like_scylla = context.looks_like_scylla;
    options.node.start_seconds = static_cast<int32_t>(clock_.NowNanos() / 1'000'000'000);
    options.on_schema_change = [&events = context.events](const protocol::SchemaChange& change) {
      events.Publish(change);
    };
    processor_ =
        std::make_unique<QueryProcessor>(context.engine, clock_, tables_, std::move(options));
  }

  void Handle(std::span<const PendingRequest> requests, ClientState& client,
              protocol::OutputBuffer& out) override {
    processor_->Handle(requests, client, out);
  }

 private:
  ServerClock clock_;
  VirtualTables tables_;
  std::unique_ptr<QueryProcessor> processor_;
};

}  // namespace

std::unique_ptr<RequestHandler> MakeRequestHandler(const HandlerContext& context) {
  return std::make_unique<StatementHandler>(context);
}

}  // namespace liststore
