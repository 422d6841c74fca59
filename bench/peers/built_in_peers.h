// What `liststore bench embedded` compares the store with, one at a time.
#ifndef LISTSTORE_BENCH_PEERS_BUILT_IN_PEERS_H_
#define LISTSTORE_BENCH_PEERS_BUILT_IN_PEERS_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/embedded/bench_client.h"
#include "bench/embedded/embedded_bench.h"

namespace liststore {

struct BenchPeer {
  std::string_view name;   // as --peer takes it, and in keys of the JSON output
  std::string_view title;  // "the plain structure"
  bool any_thread;         // false: its clients must be used by one thread at a time
  // An empty one, for the lists that `options` say.
  absl::StatusOr<std::unique_ptr<BenchTarget>> (*open)(const BenchEmbeddedOptions& options);
};

// Those that need no library: `plain`, a hash map of ordered maps (bench/peers/plain_store.h), and
// `bare`, blocks of rows and nothing else (bench/peers/bare_store.h).
std::span<const BenchPeer> BuiltInPeers();

// `plain` as a cache of at most `lists_max` lists; 0: of as many as come.
std::unique_ptr<BenchTarget> NewPlainTarget(size_t lists_max);

// InvalidArgument: there is none of that name; the message lists those that there are.
absl::StatusOr<const BenchPeer*> FindPeer(std::span<const BenchPeer> peers, std::string_view name);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_BUILT_IN_PEERS_H_
