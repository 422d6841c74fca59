// SavedStoreWriter: the file header, blocks and end record of a saved store, into a ByteSink.
#ifndef LISTSTORE_ENGINE_SNAPSHOT_SAVED_STORE_WRITER_H_
#define LISTSTORE_ENGINE_SNAPSHOT_SAVED_STORE_WRITER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "engine/disk/byte_stream.h"
#include "engine/snapshot/block_compression.h"
#include "engine/snapshot/lists_encoder.h"
#include "engine/snapshot/saved_format.h"
#include "liststore/options.h"

namespace liststore::snapshot {

// Begin, then any blocks, then End. Used by one thread. Errors are the sink's; after one nothing
// more may be written.
class SavedStoreWriter {
 public:
  explicit SavedStoreWriter(disk::ByteSink& sink,
                            SnapshotCompression compression = SnapshotCompression::kNone)
      : sink_(sink), compresses_(compression == SnapshotCompression::kZstd) {}

  absl::Status Begin(uint64_t saved_at_nanos, Origin origin,
                     const FileFormat& format = kSavedStore);
  // The encoder's finished blocks, which it forgets.
  absl::Status WriteLists(ListsEncoder& encoder);
  // Lists so far whose key begins with `component` are gone.
  absl::Status WriteTruncation(std::string_view component);
  absl::Status WriteFeatures(std::span<const Feature> features);
  absl::Status End(const Totals& totals);
  // A block of any kind; `block` has kBlockHeaderBytes in front of its payload.
  absl::Status WriteBlock(BlockKind kind, std::string& block);

 private:
  // `block` is as it is to be stored, but for its header.
  absl::Status Append(uint32_t kind, std::string& block);

  disk::ByteSink& sink_;
  const bool compresses_;
  BlockCompressor compressor_;
  std::string compressed_;
  uint64_t next_block_ = 0;
};

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_SAVED_STORE_WRITER_H_
