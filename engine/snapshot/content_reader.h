// ContentReader: what a block of rows holds, taken from the front.
#ifndef LISTSTORE_ENGINE_SNAPSHOT_CONTENT_READER_H_
#define LISTSTORE_ENGINE_SNAPSHOT_CONTENT_READER_H_

#include "engine/base/byte_coding.h"
#include "engine/model/cell.h"

namespace liststore::snapshot {

class ContentReader : public ByteReader {
 public:
  using ByteReader::ByteReader;

  // Of PutLiveness and PutTombstone, encoding.h.
  Liveness TakeLiveness() {
    Liveness liveness;
    liveness.timestamp.micros = Take<int64_t>();
    liveness.expiry_seconds = Take<int64_t>();
    liveness.ttl_seconds = Take<int64_t>();
    return liveness;
  }
  Tombstone TakeTombstone() {
    Tombstone tombstone;
    tombstone.timestamp.micros = Take<int64_t>();
    tombstone.deletion_seconds = Take<int64_t>();
    return tombstone;
  }
};

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_CONTENT_READER_H_
