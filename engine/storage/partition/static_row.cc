#include "engine/storage/partition/static_row.h"

#include <cstring>

#include "engine/base/check.h"

namespace liststore::storage {

void StaticRow::Decode(RowBody& body) const {
  if (empty()) {
    body.Clear();
  } else {
    body.DecodeComplex({block_, bytes_});
  }
}

bool StaticRow::LiveAt(int64_t now_seconds) const {
  return !empty() && RowBody::OutlineOf({block_, bytes_}, now_seconds).live;
}

void StaticRow::AppendLive(int64_t now_seconds, RowBody::LiveCells& cells) const {
  Liveness no_marker;
  if (!empty()) RowBody::AppendLive({block_, bytes_}, now_seconds, no_marker, cells);
}

void StaticRow::Put(memory::Arena& arena, std::string_view encoded, uint32_t event) {
  LS_CHECK(encoded.size() <= UINT32_MAX, "a row is shorter than 4 GiB");
  if (encoded.size() > block_bytes_ || (encoded.empty() && !empty())) {
    if (!empty()) arena.Free(block_, block_bytes_);
    block_ = nullptr;
    block_bytes_ = 0;
  }
  event_ = event;
  bytes_ = static_cast<uint32_t>(encoded.size());
  if (encoded.empty()) {
    LS_DCHECK(event == kNeverExpires, "nothing happens to what is not there");
    return;
  }
  if (empty()) {
    block_bytes_ = static_cast<uint32_t>(memory::Arena::BlockBytes(encoded.size()));
    block_ = static_cast<char*>(arena.Allocate(block_bytes_, memory::Arena::Mobility::kFixed));
  }
  std::memcpy(block_, encoded.data(), encoded.size());
}

}  // namespace liststore::storage
