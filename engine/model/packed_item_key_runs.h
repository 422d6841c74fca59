// The ways to unpack a run of item keys, for UnpackItemKeys, which takes the fastest that the
// machine has, and for the test that they all give the same.
#ifndef LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_RUNS_H_
#define LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_RUNS_H_

#include <array>
#include <cstddef>

#include "engine/model/packed_item_key.h"

namespace liststore {

struct RunUnpacker {
  using Function = void (*)(const char* packed, size_t packed_stride, size_t count, char* cells,
                            size_t cell_stride);

  const char* name = "";
  Function unpack = nullptr;  // as UnpackItemKeys
  bool is_supported = false;  // by this machine; else it must not be called
};

inline constexpr size_t kRunUnpackers = 3;

// The slowest first, which every machine has.
std::array<RunUnpacker, kRunUnpackers> RunUnpackers();

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_RUNS_H_
