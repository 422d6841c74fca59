// The paging state of a Rows result: opaque to clients, which send it back to have the next page,
// maybe on another connection and after a change of the schema.
//
//   version(1) flags(1) statement digest(8) remaining rows(8) remaining rows of the partition(8)
//   partition key length(4) partition key [clustering key, the rest] checksum(8)
#ifndef LISTSTORE_ENGINE_PROTOCOL_PAGING_STATE_H_
#define LISTSTORE_ENGINE_PROTOCOL_PAGING_STATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/protocol/error_code.h"

namespace liststore::protocol {

// "No limit", of either kind.
inline constexpr uint64_t kRowsUnlimited = ~uint64_t{0};

// Where a page ended.
struct PagingState {
  // Hash64 of what the state belongs to: keyspace, text and bound values. Another statement's state
  // is refused.
  uint64_t statement_digest = 0;
  // The partition that was read last, serialised (model/partition_key.h).
  std::string_view partition_key;
  // The row of it that was read last, encoded (model/clustering_encoding.h); absent: go on behind
  // the partition.
  std::optional<std::string_view> clustering_key;
  // What is left of LIMIT, and of PER PARTITION LIMIT in this partition.
  uint64_t rows_remaining = kRowsUnlimited;
  uint64_t partition_rows_remaining = kRowsUnlimited;

  bool operator==(const PagingState&) const = default;
};

// Appends the bytes for the client: 38 and the keys. A partition key has at most
// kSerializedKeyBytesMax.
void AppendPagingState(const PagingState& state, std::string& out);

// The state back, its keys as views into `bytes`. Refused with kProtocolError when the bytes are
// not what AppendPagingState made (`Invalid value for the paging state`), or belong to a statement
// of another digest (`The paging state belongs to another statement`).
[[nodiscard]] std::optional<ProtocolError> DecodePagingState(std::string_view bytes,
                                                             uint64_t statement_digest,
                                                             PagingState& state);

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_PAGING_STATE_H_
