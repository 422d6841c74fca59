#include "bench/wire/list_server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/load/closed_load.h"
#include "bench/wire/wire_sources.h"
#include "engine/base/machine_limits.h"
#include "engine/base/status_macros.h"
#include "programs/client/cql_client.h"
#include "programs/client/list_model.h"

namespace liststore {
namespace {

constexpr uint32_t kLoadConnections = 8;
constexpr size_t kLoadInFlight = 4;  // batches of a connection

}  // namespace

uint64_t PopulatedBytesFor(uint64_t lists, uint64_t items_per_list, uint64_t value_bytes) {
  constexpr uint64_t kBytesOfRow = 50;
  constexpr uint64_t kBytesOfList = 200;
  return 2 * lists * (kBytesOfList + items_per_list * (kBytesOfRow + value_bytes));
}

absl::Status CheckServerRoom(uint64_t populated_bytes, const std::string& populated) {
  // The server that is started has three quarters of the machine's memory, as any without
  // --memory-limit: it would end with words of options that nobody gave here.
  const uint64_t machine_bytes = ReadMachineLimits({.cores = false}).memory_bytes;
  const uint64_t limit_bytes = DefaultMemoryLimitBytes(machine_bytes);
  if (machine_bytes == 0 || populated_bytes <= limit_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(populated, " more than the ", limit_bytes,
                   " bytes that the server may take, three quarters of the machine's memory"));
}

absl::Status ConnectAll(const std::string& server, const ClientTlsOptions& tls, uint32_t count,
                        CqlLoadTarget::Clients& clients) {
  for (uint32_t i = 0; i < count; ++i) {
    LS_ASSIGN_OR_RETURN(std::unique_ptr<CqlClient> client, CqlClient::Connect(server, {}, tls));
    clients.push_back(std::move(client));
  }
  return absl::OkStatus();
}

absl::Status LoadOverWire(const CqlLoadTarget::Clients& clients, const GrowingLists& lists,
                          std::string_view insert, double* seconds) {
  LoadSource source(lists, insert);
  CqlLoadTarget target(clients, kLoadInFlight, {&source});
  do {
    ClosedRun run;
    LS_RETURN_IF_ERROR(ClosedLoad(target).Run(0, nullptr, &run));
    *seconds += run.seconds;
  } while (source.waits());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ListServer>> ListServer::Start(
    int core, uint64_t populated_bytes, uint32_t connections,
    const std::vector<std::string>& arguments) {
  LS_ASSIGN_OR_RETURN(std::unique_ptr<ServerProcess> process,
                      ServerProcess::Start(core, populated_bytes, "/proc/self/exe", arguments));
  std::unique_ptr<ListServer> server(new ListServer(std::move(process)));
  LS_RETURN_IF_ERROR(server->Prepare(connections));
  return server;
}

absl::Status ListServer::Prepare(uint32_t connections) {
  LS_RETURN_IF_ERROR(ConnectAll(process_->address(), {}, connections, clients_));
  for (const std::string& statement : ListModelSchema()) {
    LS_RETURN_IF_ERROR(clients_[0]->Query(statement).status());
  }
  LS_ASSIGN_OR_RETURN(insert_, clients_[0]->Prepare(kInsertItemStatement));
  LS_ASSIGN_OR_RETURN(select_, clients_[0]->Prepare(kSelectItemsStatement));
  return absl::OkStatus();
}

absl::Status ListServer::Load(const GrowingLists& lists) {
  CqlLoadTarget::Clients clients;
  LS_RETURN_IF_ERROR(ConnectAll(
      process_->address(), {},
      std::min<uint32_t>(kLoadConnections, static_cast<uint32_t>(clients_.size())), clients));
  double seconds = 0;
  return LoadOverWire(clients, lists, insert_, &seconds);
}

}  // namespace liststore
