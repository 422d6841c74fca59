// Every operator new of the program counted, for tests of what must not touch the heap. Linking
// counting_new.cc and hooked_new.cc replaces the operators of the whole program, which therefore is one
// of its own.
#pragma once

#include <cstdint>

namespace liststore::testing {

// Calls of any operator new since the program started, by all threads.
uint64_t CountOfNew();

}  // namespace liststore::testing
