// What a call of the library answers where the heap refuses: std::bad_alloc ends here.
//
//   absl::Status ListStore::Some(...) try {
//     ...
//   } catch (const std::bad_alloc&) {
//     return HeapRefused();
//   }
#ifndef LISTSTORE_ENGINE_BASE_HEAP_REFUSAL_H_
#define LISTSTORE_ENGINE_BASE_HEAP_REFUSAL_H_

#include <new>  // for who includes this: std::bad_alloc

#include "absl/status/status.h"

namespace liststore {

// ResourceExhausted, with a text if the heap has that much again.
absl::Status HeapRefused() noexcept;

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_HEAP_REFUSAL_H_
