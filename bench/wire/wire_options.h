// What `liststore bench wire` measures.
#ifndef LISTSTORE_BENCH_WIRE_WIRE_OPTIONS_H_
#define LISTSTORE_BENCH_WIRE_WIRE_OPTIONS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "programs/client/client_tls.h"

namespace liststore {

struct BenchWireOptions {
  std::string via;  // HOST:PORT; empty: a server of its own
  // Over TLS; to a server of its own, which gets a certificate for the occasion, beside plain ones.
  ClientTlsOptions tls;
  uint64_t lists = 1'000'000;
  uint64_t items_per_list = 20;
  uint64_t value_bytes = 24;
  uint32_t connections = 8;
  double seconds = 2.0;  // of each measurement
  int rounds = 3;        // measurements of each kind; medians are reported
  double rate = 0;       // requests a second of the open loop; 0: by what was measured before
  uint64_t seed = 1;
  // Memory that the server makes ready before it is loaded; absent: twice what the lists take.
  std::optional<uint64_t> populate_bytes;
  bool no_index = false;   // leaves out the local index, which Cassandra does not have
  bool unchecked = false;  // does not look at what replies hold, but at their lengths
  pid_t server_pid = 0;    // of `via`, when it runs on this machine; 0: not known
  bool json = false;
  bool quick = false;  // one short round of each
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_WIRE_WIRE_OPTIONS_H_
