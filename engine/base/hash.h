// xxHash behind one name. Used for fingerprints and checksums, never for placement: that is the
// token's (model/token.h).
#ifndef LISTSTORE_ENGINE_BASE_HASH_H_
#define LISTSTORE_ENGINE_BASE_HASH_H_

#include <cstdint>
#include <string_view>

namespace liststore {

// XXH3-64 of `bytes`. 4-10 ns for 54 bytes.
uint64_t Hash64(std::string_view bytes, uint64_t seed = 0);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_HASH_H_
