// The peers of `liststore bench embedded` that need no library.
#ifndef LISTSTORE_BENCH_PEERS_BUILT_IN_PEERS_H_
#define LISTSTORE_BENCH_PEERS_BUILT_IN_PEERS_H_

#include <cstddef>
#include <memory>
#include <span>

#include "bench/embedded/bench_client.h"
#include "bench/embedded/peer.h"

namespace liststore {

// `plain`, a hash map of ordered maps (bench/peers/plain_store.h), and
// `bare`, blocks of rows and nothing else (bench/peers/bare_store.h).
std::span<const BenchPeer> BuiltInPeers();

// `plain` as a cache of at most `lists_max` lists; 0: of as many as come.
std::unique_ptr<BenchTarget> NewPlainTarget(size_t lists_max);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_BUILT_IN_PEERS_H_
