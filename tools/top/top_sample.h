// What the tables of `liststore.*` say at one instant, as far as `liststore top` shows it.
#ifndef LISTSTORE_TOOLS_TOP_TOP_SAMPLE_H_
#define LISTSTORE_TOOLS_TOP_TOP_SAMPLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "programs/client/cql_client.h"

namespace liststore {

struct TopSample {
  // Of liststore.requests.
  struct Request {
    std::string op, table, outcome;
    int64_t duration_us = 0;
  };
  // Of liststore.memory, without single connections.
  struct Owner {
    std::string name;
    int64_t bytes = 0;
    int64_t limit_bytes = 0;  // 0: none
  };
  // Of liststore.data.
  struct Data {
    int64_t keyspaces = 0, tables = 0, rows = 0, bytes = 0;
  };
  // Of liststore.slow_turns.
  struct SlowTurn {
    int64_t number = 0, took_us = 0, waited_for_core_us = 0;
    std::string work;
  };

  // Of liststore.hot_partitions.
  struct HotPartition {
    std::string table, key;
    int64_t reads = 0, writes = 0, seconds = 0;  // in which they came
  };

  // By the clock of this machine, in seconds since any instant.
  double at_seconds = 0;
  // How the server's clock goes; empty: the server has no instruments, and no journal and data.
  std::string clock_mode;
  bool has_journal = false;
  // Of the newest request, as the journal numbers them; absent: there was none yet.
  std::optional<int64_t> newest_request;
  // Of those since the sample before, the newest of the journal: kRequestsMax at most.
  std::vector<Request> requests;
  std::vector<Owner> memory;
  std::map<std::string, int64_t> counters;
  std::optional<Data> data;
  // Newest first.
  std::vector<SlowTurn> slow_turns;
  // The hottest first; kHotPartitionsMax at most.
  std::vector<HotPartition> hot_partitions;

  static constexpr int64_t kRequestsMax = 2000;
  static constexpr int64_t kHotPartitionsMax = 8;
};

// Asks the server. `after`: the newest request that was seen; absent: none of them is read. Statuses
// are the client's; tables that the server does not have are none.
absl::StatusOr<TopSample> ReadTopSample(CqlClient& client, std::optional<int64_t> after);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_TOP_TOP_SAMPLE_H_
