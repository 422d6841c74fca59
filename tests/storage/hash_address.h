// Where tests of tables put their partitions: by a hash of the key.
#ifndef LISTSTORE_TESTS_STORAGE_HASH_ADDRESS_H_
#define LISTSTORE_TESTS_STORAGE_HASH_ADDRESS_H_

#include <cstdint>
#include <string_view>

#include "engine/base/hash.h"
#include "engine/storage/partition_ref.h"

namespace liststore {

class HashAddress final : public storage::AddressOf {
 public:
  uint64_t operator()(std::string_view partition_key) const override {
    return Hash64(partition_key);
  }
};

}  // namespace liststore

#endif  // LISTSTORE_TESTS_STORAGE_HASH_ADDRESS_H_
