#include "engine/protocol/paging_state.h"

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/output_buffer.h"
#include "engine/model/partition_key.h"

namespace liststore::protocol {
namespace {

constexpr uint8_t kFormatVersion = 2;
// Bits of <flags>.
constexpr uint8_t kHasClusteringKey = 0x01;

constexpr size_t kRowsRemainingAt = 2;
constexpr size_t kPartitionRowsAt = 10;
constexpr size_t kPartitionKeyBytesAt = 18;
constexpr size_t kPartitionKeyAt = 22;
constexpr size_t kChecksumBytes = 8;

// Of all other bytes. Not meant to withstand somebody who forges one: a forged state is read like
// any other, and can name no more than a place to start reading at.
constexpr uint64_t kChecksumSeed = 0x70616765;  // "page"

}  // namespace

void AppendPagingState(const PagingState& state, std::string& out) {
  LS_CHECK(state.partition_key.size() <= kSerializedKeyBytesMax, "keys keep to their limit");
  const size_t begin = out.size();
  char header[kPartitionKeyAt];
  header[0] = static_cast<char>(kFormatVersion);
  header[1] = static_cast<char>(state.clustering_key ? kHasClusteringKey : 0);
  StoreBigEndian64(header + kRowsRemainingAt, state.rows_remaining);
  StoreBigEndian64(header + kPartitionRowsAt, state.partition_rows);
  StoreBigEndian32(header + kPartitionKeyBytesAt,
                   static_cast<uint32_t>(state.partition_key.size()));
  out.append(header, sizeof(header));
  out.append(state.partition_key);
  if (state.clustering_key) out.append(*state.clustering_key);
  char checksum[kChecksumBytes];
  StoreBigEndian64(checksum, Hash64(std::string_view(out).substr(begin), kChecksumSeed));
  out.append(checksum, sizeof(checksum));
}

std::optional<PagingState> DecodePagingState(std::string_view bytes) {
  if (bytes.size() < kPartitionKeyAt + kChecksumBytes) return std::nullopt;
  const char* const at = bytes.data();
  if (static_cast<uint8_t>(at[0]) != kFormatVersion) return std::nullopt;
  const std::string_view checked = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (LoadBigEndian64(at + checked.size()) != Hash64(checked, kChecksumSeed)) return std::nullopt;

  // From here on only a state that somebody has forged is damaged.
  const auto flags = static_cast<uint8_t>(at[1]);
  const size_t partition_key_bytes = LoadBigEndian32(at + kPartitionKeyBytesAt);
  const std::string_view keys = checked.substr(kPartitionKeyAt);
  const bool has_clustering_key = (flags & kHasClusteringKey) != 0;
  if ((flags & ~kHasClusteringKey) != 0 || partition_key_bytes > kSerializedKeyBytesMax ||
      partition_key_bytes > keys.size() ||
      (!has_clustering_key && partition_key_bytes != keys.size())) {
    return std::nullopt;
  }
  PagingState state;
  state.partition_key = keys.substr(0, partition_key_bytes);
  if (has_clustering_key) state.clustering_key = keys.substr(partition_key_bytes);
  state.rows_remaining = LoadBigEndian64(at + kRowsRemainingAt);
  state.partition_rows = LoadBigEndian64(at + kPartitionRowsAt);
  return state;
}

}  // namespace liststore::protocol
