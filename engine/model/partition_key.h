// The serialised form of a partition key, the "routing key" of the drivers: a single component is
// its bytes as they are; several are each a 2-byte big-endian length, the bytes, one zero byte.
#ifndef LISTSTORE_ENGINE_MODEL_PARTITION_KEY_H_
#define LISTSTORE_ENGINE_MODEL_PARTITION_KEY_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace liststore {

// A key's internal form adds 2 bytes a component; the sum may not pass this.
// Source: ScyllaDB `keys/compound.hh`, test/cqlpy/test_key_length.py.
inline constexpr size_t kKeyBytesMax = 65'535;
// No serialised key is longer: each of several components takes a byte more there, and there are no
// more of them than bounded bytes allow.
inline constexpr size_t kSerializedKeyBytesMax = kKeyBytesMax + kKeyBytesMax / 2;

// Appends the serialised form to `out`. Components must fit kKeyBytesMax (checked by the caller).
void AppendPartitionKey(std::span<const std::string_view> components, std::string& out);

// The components back, as views into `key`; nullopt when `key` is not `component_count` components.
std::optional<std::vector<std::string_view>> SplitPartitionKey(std::string_view key,
                                                               size_t component_count);

// The first component of a key of several components, as a view into `key`.
std::string_view FirstComponent(std::string_view composite_key);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_PARTITION_KEY_H_
