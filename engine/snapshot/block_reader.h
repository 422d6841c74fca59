// BlockReader: a saved store block by block, with every checksum compared.
#ifndef LISTSTORE_ENGINE_SNAPSHOT_BLOCK_READER_H_
#define LISTSTORE_ENGINE_SNAPSHOT_BLOCK_READER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "engine/disk/byte_stream.h"
#include "engine/snapshot/block_compression.h"
#include "engine/snapshot/saved_format.h"

namespace liststore::snapshot {

// A block whose bytes are those that were written.
struct Block {
  BlockKind kind = BlockKind::kEnd;
  uint64_t number = 0;
  uint64_t payload_at = 0;   // offset in the file
  std::string_view payload;  // valid until the next one is read
  bool compressed = false;   // the payload is as it is stored
};

// Makes stored blocks what they were. One thread.
class BlockUnpacker {
 public:
  // A block that is not compressed stays as it is. Else its payload is valid until the next call. DataLoss: it
  // does not decompress. Throws std::bad_alloc.
  absl::Status Unpack(Block& block);

 private:
  BlockDecompressor decompressor_;
  std::string plain_;
};

// Used by one thread.
class BlockReader {
 public:
  explicit BlockReader(disk::ByteSource& source, const FileFormat& format = kSavedStore)
      : source_(source), format_(format) {}

  // First; InvalidArgument, FailedPrecondition, DataLoss as ReadSavedStore.
  absl::Status ReadFileHeader();
  uint64_t saved_at_nanos() const { return saved_at_nanos_; }
  Origin origin() const { return origin_; }
  // DataLoss: damaged, or the file ends.
  absl::Status ReadBlock(Block& block);
  // The same for who unpacks it elsewhere.
  absl::Status ReadStoredBlock(Block& block);
  // Behind the end record. DataLoss: something follows.
  absl::Status ReadEnd();

  uint64_t offset() const { return offset_; }

 private:
  // Fills `to` with `bytes`; DataLoss when the file has fewer, which names `what` was cut off.
  absl::Status ReadAll(char* to, size_t bytes, const char* what);
  absl::Status ReadPayload(size_t bytes);

  disk::ByteSource& source_;
  const FileFormat& format_;
  uint64_t offset_ = 0;
  uint64_t saved_at_nanos_ = 0;
  Origin origin_ = Origin::kUnknown;
  bool may_be_compressed_ = false;
  uint64_t next_block_ = 0;
  std::string payload_;
  BlockUnpacker unpacker_;
};

// "saved store damaged at offset 96, block 1: <text>".
absl::Status Damaged(uint64_t offset, uint64_t block, std::string_view text);

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_BLOCK_READER_H_
