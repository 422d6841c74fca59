// Reads a saved store, checking everything on the way.
#ifndef LISTSTORE_ENGINE_SNAPSHOT_SAVED_STORE_READER_H_
#define LISTSTORE_ENGINE_SNAPSHOT_SAVED_STORE_READER_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/disk/byte_stream.h"
#include "engine/model/hot_row.h"
#include "engine/model/stored_row.h"
#include "engine/snapshot/saved_format.h"

namespace liststore::snapshot {

class BlockReader;

// What a file holds, in its order. What is passed is valid during the call. An error ends the
// reading; the reader puts block, offset and list in front of its message.
class ContentSink {
 public:
  virtual ~ContentSink() = default;
  // First of all.
  virtual void OnOrigin(Origin origin) = 0;
  // Some rows of a list: a long one comes in pieces. Keys are packed where they can be, and cells
  // belong to column 0.
  virtual absl::Status OnList(const StoredPartition& list, std::span<const StoredRow> rows) = 0;
  // The same where all of them are of the hot shape, with packed keys, as nearly all rows are. Calls
  // OnList unless it is overridden.
  virtual absl::Status OnHotList(const StoredPartition& list, std::span<const HotRow> rows);
  // Lists so far whose key begins with this component are gone.
  virtual absl::Status OnTruncation(std::string_view component) = 0;
  virtual absl::Status OnFeature(const Feature& feature) = 0;
};

struct ReadResult {
  Totals totals;
  uint64_t saved_at_nanos = 0;
  uint64_t bytes = 0;
};

// Reads all of `source` into `sink`. Memory: one block, as long as its bytes are really there, and
// the rows of one record.
//
// InvalidArgument: not a saved store. FailedPrecondition: one of a newer version. DataLoss: damaged
// or cut off; the message says at which offset, in which block, what was expected and what was
// found. Other errors are the source's and the sink's. What the sink has heard by then counts for
// nothing: only OK means that the file is whole.
absl::StatusOr<ReadResult> ReadSavedStore(disk::ByteSource& source, ContentSink& sink);
// The same in two steps, for who knows first that it is a saved store: `blocks` has read its header.
absl::StatusOr<ReadResult> ReadContent(BlockReader& blocks, ContentSink& sink);

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_SAVED_STORE_READER_H_
