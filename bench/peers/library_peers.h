// Peers that take a library: those that were there when this was built.
#ifndef LISTSTORE_BENCH_PEERS_LIBRARY_PEERS_H_
#define LISTSTORE_BENCH_PEERS_LIBRARY_PEERS_H_

#include <vector>

#include "bench/embedded/peer.h"

namespace liststore {

std::vector<BenchPeer> LibraryPeers();

// Each in a file of its name, compiled with its library. All keep a row for each item, under the
// list's key and the item's in 24 bytes, with the value and the second at which it ends; they run
// in memory, without a log, and are not synchronised with any disk.
BenchPeer LmdbPeer();
BenchPeer RocksdbPeer();
BenchPeer SqlitePeer();

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_LIBRARY_PEERS_H_
