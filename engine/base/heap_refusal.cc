#include "engine/base/heap_refusal.h"

namespace liststore {

absl::Status HeapRefused() noexcept {
  try {
    return absl::ResourceExhaustedError(
        "the heap refuses memory: the process needs more than the machine gives it");
  } catch (const std::bad_alloc&) {
    return absl::Status(absl::StatusCode::kResourceExhausted, "");  // takes none
  }
}

}  // namespace liststore
