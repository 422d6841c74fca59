// The saved store's format: numbers that writer and reader share. docs/saved_store.md describes it
// byte by byte. Everything is little-endian.
//
//   file header 64 | blocks: header 32, payload | ... | the last block is the end record
#ifndef LISTSTORE_ENGINE_SNAPSHOT_SAVED_FORMAT_H_
#define LISTSTORE_ENGINE_SNAPSHOT_SAVED_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace liststore::snapshot {

// A byte above 127, a line end of each kind and the end of text of old systems: a file that went
// through a transfer of text is told at once.
inline constexpr std::string_view kMagic("\x89LSS\r\n\x1a\n", 8);

// Files of blocks: what is in them is told by how they begin.
struct FileFormat {
  std::string_view magic;
  std::string_view name;            // as messages have it
  uint32_t version = 0;             // without compressed blocks
  uint32_t compressed_version = 0;  // with them; no larger one is read
  uint32_t first_kind = 0;          // of its blocks, up to the last, and the end
  uint32_t last_kind = 0;
};

// File header: magic 8, version 4, header bytes 4, instant 8, flags 8, origin 1, zero 23,
// checksum 8.
inline constexpr size_t kFileHeaderBytes = 64;
inline constexpr size_t kVersionAt = 8;
inline constexpr size_t kHeaderBytesAt = 12;
inline constexpr size_t kSavedAtAt = 16;
inline constexpr size_t kFlagsAt = 24;
inline constexpr size_t kOriginAt = 32;
inline constexpr size_t kFileChecksumAt = 56;

// What the store that was saved was: what its lists being complete means, and what is said by a
// list that is not in the file. A reader takes a number that it does not know for kUnknown.
enum class Origin : uint8_t {
  kUnknown = 0,      // written before origins were: of no list is it known whether it is complete
  kOwn = 1,          // all there was, and never evicted
  kOwnEvicting = 2,  // all there was, and may have evicted other lists
  kCopies = 3,       // copies of lists that live elsewhere
};

// Block header: kind 4, payload bytes 4, block number 8, checksum of the payload 8, checksum of the
// 24 bytes before 8.
// The kind's top bit: the payload is compressed (block_compression.h), and that is what the lengths and checksums
// of its header are of.
inline constexpr uint32_t kCompressedBlock = uint32_t{1} << 31;
inline constexpr size_t kBlockHeaderBytes = 32;
inline constexpr size_t kPayloadBytesAt = 4;
inline constexpr size_t kBlockNumberAt = 8;
inline constexpr size_t kPayloadChecksumAt = 16;
inline constexpr size_t kBlockChecksumAt = 24;

enum class BlockKind : uint32_t {
  kLists = 1,
  kTruncation = 2,
  kFeatures = 3,
  kEnd = 4,
  // Of a snapshot of everything (rows_format.h), which has none of the others but the end.
  kDefinitions = 5,
  kRows = 6,
  kParts = 7,
};

inline constexpr FileFormat kSavedStore{kMagic, "saved store", 1, 2, 1, 4};
// A snapshot of everything (rows_format.h).
inline constexpr FileFormat kFullSnapshot{
    std::string_view("\x89LSA\r\n\x1a\n", 8), "snapshot", 1, 2, 4, 7};

// A block of lists is closed once its payload has this many bytes: large enough for the disk, small
// enough for a reader's cache.
inline constexpr size_t kBlockBytes = size_t{256} << 10;
// No payload is longer. One row always fits: a value comes in one CQL frame of at most 256 MiB.
inline constexpr size_t kPayloadBytesMax = size_t{512} << 20;

// List record: key bytes 4, flags 2, extension bytes 2, ranges 4, rows 4, then key and extension.
inline constexpr size_t kListHeadBytes = 16;
inline constexpr uint16_t kListForeignTimestamps = 1;
inline constexpr uint16_t kListTombstone = 2;
inline constexpr uint16_t kListContinues = 4;
inline constexpr uint16_t kListFlags = 7;
// Extensions are fields: kind 1, bytes 1, then those.
inline constexpr uint8_t kPresenceField = 1;  // flags 1, fresh until 8
inline constexpr uint8_t kPresenceFieldBytes = 9;
inline constexpr uint8_t kPresencePartial = 1;
inline constexpr uint8_t kPresenceKeptEmpty = 2;

// Row: kind 1, then
//   hot: value bytes 4, expiry 4, TTL 4, timestamp 8, packed key 24, value
//   other: flags 1, cells 2, key bytes 4, key, marker 24, tombstone 16, cells
inline constexpr char kHotRow = 1;
inline constexpr char kOtherRow = 2;
inline constexpr size_t kHotRowBytes = 45;
inline constexpr size_t kOtherRowBytes = 8;
inline constexpr uint8_t kRowMarker = 1;
inline constexpr uint8_t kRowTombstone = 2;

// Feature records.
inline constexpr char kFeature = 1;
inline constexpr char kFeatureVersion = 2;

inline constexpr size_t kEndBytes = 40;

// What a file holds; the end record but for the last field.
struct Totals {
  uint64_t lists = 0;
  uint64_t rows = 0;
  uint64_t features = 0;
  uint64_t feature_versions = 0;
  int64_t last_timestamp_micros = 0;  // no lane had given out a later one
};

struct FeatureVersion {
  std::string version;
  int64_t ttl_seconds = 0;
  bool own_ttl = false;
};
struct Feature {
  std::string entity_type;
  std::string feature;
  int64_t ttl_seconds = 0;
  std::vector<FeatureVersion> versions;
};

// XXH3-64 of `bytes`, seeded with what they belong to, so that a block that stands in another's
// place does not pass.
uint64_t Checksum(std::string_view bytes, uint64_t seed);

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_SAVED_FORMAT_H_
