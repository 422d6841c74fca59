#include "engine/cql/values/key_bytes.h"

#include <string>

namespace liststore::cql {

CqlError KeyTooLong(size_t bytes) {
  return CqlError::Invalid("Key length of " + std::to_string(bytes) +
                           " is longer than maximum of " + std::to_string(kKeyBytesMax));
}

}  // namespace liststore::cql
