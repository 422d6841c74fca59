// What `liststore bench embedded` compares the store with, one at a time.
#ifndef LISTSTORE_BENCH_EMBEDDED_PEER_H_
#define LISTSTORE_BENCH_EMBEDDED_PEER_H_

#include <memory>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "bench/embedded/bench_client.h"
#include "bench/embedded/embedded_options.h"

namespace liststore {

struct BenchPeer {
  std::string_view name;   // as --peer takes it, and in keys of the JSON output
  std::string_view title;  // "the plain structure"
  bool any_thread;         // false: its clients must be used by one thread at a time
  // An empty one, for the lists that `options` say.
  absl::StatusOr<std::unique_ptr<BenchTarget>> (*open)(const BenchEmbeddedOptions& options);
};

// InvalidArgument: there is none of that name; the message lists those that there are.
absl::StatusOr<const BenchPeer*> FindPeer(std::span<const BenchPeer> peers, std::string_view name);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_PEER_H_
