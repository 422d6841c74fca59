// One allocation refused, for tests of what the library does then. Linking refusing_new.cc and
// hooked_new.cc with --wrap=realloc replaces operator new and realloc of the whole program, which
// therefore is one of its own.
#pragma once

#include <cstdint>

namespace liststore::testing {

// Allocations of the calling thread are neither counted nor refused from now on: of a client beside
// the server that is tested.
void SpareThisThread();

// From construction to End, or to the end of the scope, the `nth` call of any operator new, counted
// from 1 over all threads that are not spared, throws std::bad_alloc (the nothrow forms and realloc
// give null); `onwards`: and all calls after it. One at a time.
class RefusedNew {
 public:
  explicit RefusedNew(uint64_t nth, bool onwards = false);
  ~RefusedNew() { End(); }
  RefusedNew(const RefusedNew&) = delete;
  RefusedNew& operator=(const RefusedNew&) = delete;

  // Whether it came so far.
  bool End();
};

}  // namespace liststore::testing
