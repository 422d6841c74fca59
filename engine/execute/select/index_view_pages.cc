#include "engine/execute/select/index_view_pages.h"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include "engine/base/check.h"

namespace liststore::execute {

std::string PackValues(const std::vector<std::string_view>& values) {
  size_t bytes = 0;
  for (const std::string_view value : values) bytes += sizeof(uint32_t) + value.size();
  std::string packed;
  packed.reserve(bytes);
  for (const std::string_view value : values) {
    const auto size = static_cast<uint32_t>(value.size());
    packed.append(reinterpret_cast<const char*>(&size), sizeof size);
    packed.append(value);
  }
  return packed;
}

cql::VirtualRow UnpackValues(std::string_view packed) {
  cql::VirtualRow row;
  while (!packed.empty()) {
    uint32_t size = 0;
    LS_DCHECK(packed.size() >= sizeof size, "a length");
    std::memcpy(&size, packed.data(), sizeof size);
    packed.remove_prefix(sizeof size);
    row.emplace_back(packed.substr(0, size));
    packed.remove_prefix(size);
  }
  return row;
}

size_t IndexViewStretch::bytes() const {
  size_t bytes = 0;
  for (const IndexViewRow& row : rows) bytes += row.bytes();
  return bytes;
}

IndexViewPages::Stretch IndexViewPages::Find(
    absl::FunctionRef<bool(const IndexViewStretch&)> fits) {
  const MutexLock lock(mutex_);
  for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
    if (!fits(*kept->stretch)) continue;
    kept_.splice(kept_.begin(), kept_, kept);
    return kept_.front().stretch;
  }
  return nullptr;
}

void IndexViewPages::Put(Stretch stretch) {
  const size_t bytes = stretch->bytes();
  std::list<Kept> dropped;  // given back without the lock
  const MutexLock lock(mutex_);
  for (auto kept = kept_.begin(); kept != kept_.end();) {
    const auto at = kept++;
    const IndexViewStretch& other = *at->stretch;
    if (other.view != stretch->view || other.base->keyspace != stretch->base->keyspace) continue;
    if (other.base == stretch->base && other.marks == stretch->marks) continue;
    bytes_ -= at->bytes;
    dropped.splice(dropped.begin(), kept_, at);
  }
  kept_.push_front({std::move(stretch), bytes});
  bytes_ += bytes;
  while (bytes_ > bytes_max_.load(std::memory_order_relaxed) && kept_.size() > 1) {
    bytes_ -= kept_.back().bytes;
    dropped.splice(dropped.begin(), kept_, std::prev(kept_.end()));
  }
}

}  // namespace liststore::execute
