// A server of this program's own that holds lists, and connections to it, for benchmarks that ask
// nothing but the statements of the list model.
#ifndef LISTSTORE_BENCH_WIRE_LIST_SERVER_H_
#define LISTSTORE_BENCH_WIRE_LIST_SERVER_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/load/server_process.h"
#include "bench/measure/growing_lists.h"
#include "bench/wire/cql_load_target.h"
#include "programs/client/client_tls.h"

namespace liststore {

// What is made ready for so many lists: twice what they take. While all of them grow to the next
// size of block, what they leave behind is of no use to others.
uint64_t PopulatedBytesFor(uint64_t lists, uint64_t items_per_list, uint64_t value_bytes);
// Whether a server without --memory-limit may take that. InvalidArgument says how much it may, behind
// `populated`, which is what was asked for in words: "--populate is 123,".
absl::Status CheckServerRoom(uint64_t populated_bytes, const std::string& populated);

absl::Status ConnectAll(const std::string& server, const ClientTlsOptions& tls, uint32_t count,
                        CqlLoadTarget::Clients& clients);
// Each of the lists by one batch of `insert`, a prepared statement.
absl::Status LoadOverWire(const CqlLoadTarget::Clients& clients, const GrowingLists& lists,
                          std::string_view insert, double* seconds);

// Ends with this object. One thread.
class ListServer {
 public:
  // One shard on `core`, with the tables of the list model, empty. `arguments`: more of `serve`.
  static absl::StatusOr<std::unique_ptr<ListServer>> Start(
      int core, uint64_t populated_bytes, uint32_t connections,
      const std::vector<std::string>& arguments);

  // Over connections of its own, few enough not to be refused.
  absl::Status Load(const GrowingLists& lists);

  const CqlLoadTarget::Clients& clients() const { return clients_; }
  // Prepared statements: an addition of one item, a read of the newest ones.
  const std::string& insert() const { return insert_; }
  const std::string& select() const { return select_; }
  pid_t pid() const { return process_->pid(); }

 private:
  explicit ListServer(std::unique_ptr<ServerProcess> process) : process_(std::move(process)) {}
  absl::Status Prepare(uint32_t connections);

  const std::unique_ptr<ServerProcess> process_;
  CqlLoadTarget::Clients clients_;
  std::string insert_, select_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_WIRE_LIST_SERVER_H_
