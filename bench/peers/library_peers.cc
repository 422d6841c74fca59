#include "bench/peers/library_peers.h"

namespace liststore {

std::vector<BenchPeer> LibraryPeers() {
  return {
#ifdef LISTSTORE_WITH_ROCKSDB
      RocksdbPeer(),
#endif
#ifdef LISTSTORE_WITH_LMDB
      LmdbPeer(),
#endif
#ifdef LISTSTORE_WITH_SQLITE
      SqlitePeer(),
#endif
  };
}

}  // namespace liststore
