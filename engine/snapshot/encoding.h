// Appending what a block of rows holds.
#ifndef LISTSTORE_ENGINE_SNAPSHOT_ENCODING_H_
#define LISTSTORE_ENGINE_SNAPSHOT_ENCODING_H_

#include <cstdint>
#include <string>

#include "engine/base/byte_coding.h"
#include "engine/model/cell.h"

namespace liststore::snapshot {

// Timestamp 8, expiry 8, TTL 8.
inline void PutLiveness(std::string& out, const Liveness& liveness) {
  Put<int64_t>(out, liveness.timestamp.micros);
  Put<int64_t>(out, liveness.expiry_seconds);
  Put<int64_t>(out, liveness.ttl_seconds);
}

// Timestamp 8, instant of the deletion 8.
inline void PutTombstone(std::string& out, const Tombstone& tombstone) {
  Put<int64_t>(out, tombstone.timestamp.micros);
  Put<int64_t>(out, tombstone.deletion_seconds);
}

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_ENCODING_H_
