// The paging state of a Rows result: opaque to clients, which send it back to have the next page,
// maybe on another connection, with another statement, after a change of the schema or a new start
// of the server. It says where to go on, and nothing of what was asked.
//
//   version(1) flags(1) remaining rows(8) rows of the partition(8)
//   partition key length(4) partition key [clustering key, the rest] checksum(8)
#ifndef LISTSTORE_ENGINE_PROTOCOL_PAGING_STATE_H_
#define LISTSTORE_ENGINE_PROTOCOL_PAGING_STATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace liststore::protocol {

// "No limit".
inline constexpr uint64_t kRowsUnlimited = ~uint64_t{0};

// Where a page ended.
struct PagingState {
  // The partition that was read last, serialised (model/partition_key.h).
  std::string_view partition_key;
  // The row of it that was read last, encoded (model/clustering_encoding.h); absent: go on behind
  // the partition.
  std::optional<std::string_view> clustering_key;
  // What is left of LIMIT.
  uint64_t rows_remaining = kRowsUnlimited;
  // What the pages so far have of that partition, where PER PARTITION LIMIT counts it.
  uint64_t partition_rows = 0;

  bool operator==(const PagingState&) const = default;
};

// Appends the bytes for the client: 30 and the keys. A partition key has at most
// kSerializedKeyBytesMax.
void AppendPagingState(const PagingState& state, std::string& out);

// The state back, its keys as views into `bytes`; nullopt: they are not what AppendPagingState
// made. Whether they are keys of the table is another question.
[[nodiscard]] std::optional<PagingState> DecodePagingState(std::string_view bytes);

// What is said of such bytes, with Invalid: the connection goes on.
inline constexpr char kInvalidPagingState[] = "Invalid value for the paging state";

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_PAGING_STATE_H_
