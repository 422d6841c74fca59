// A partition of a table by its key, and where that lives.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_REF_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_REF_H_

#include <cstdint>
#include <string_view>

namespace liststore::storage {

// Where a partition key lives within a lane: see Router::PlaceOf.
class AddressOf {
 public:
  virtual ~AddressOf() = default;
  virtual uint64_t operator()(std::string_view partition_key) const = 0;
};

// A partition key with its address, computed once per command.
struct PartitionRef {
  std::string_view key;  // serialised form
  uint64_t address = 0;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_REF_H_
