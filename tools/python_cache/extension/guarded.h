// What Python calls: each function of this module that can lack memory or run a callback is called
// through here. No C++ exception reaches Python's frames, which are C, and what callbacks raise
// belongs to the call in which they did.
#ifndef LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_GUARDED_H_
#define LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_GUARDED_H_

#include <new>
#include <type_traits>

#include "tools/python_cache/extension/errors.h"
#include "tools/python_cache/extension/python.h"

namespace liststore::python {

// No memory is a MemoryError. `Result` is PyObject*, or int (0, or -1 with an error set).
template <auto kCall, typename Result, typename... Arguments>
Result GuardedCall(Arguments... arguments) noexcept {
  CallbackErrors errors;
  Result result{};
  try {
    result = kCall(arguments...);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    if constexpr (std::is_same_v<Result, int>) result = -1;
  }
  if (!errors.RaiseInterrupt()) return result;
  if constexpr (std::is_same_v<Result, int>) {
    return -1;
  } else {
    Py_XDECREF(result);
    return nullptr;
  }
}

template <auto kCall, typename Result, typename... Arguments>
void* GuardedSlot(Result (*)(Arguments...)) {
  Result (*const guarded)(Arguments...) = &GuardedCall<kCall, Result, Arguments...>;
  return reinterpret_cast<void*>(guarded);
}

// For a table of methods, of members, and of slots.
template <auto kCall>
PyCFunction Method() {
  return reinterpret_cast<PyCFunction>(GuardedSlot<kCall>(kCall));
}
template <auto kCall>
getter Getter() {
  return reinterpret_cast<getter>(GuardedSlot<kCall>(kCall));
}
template <auto kCall>
void* SafeSlot() {
  return GuardedSlot<kCall>(kCall);
}

}  // namespace liststore::python

#endif  // LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_GUARDED_H_
