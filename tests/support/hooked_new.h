// Every operator new of the program asks LetAllocate first. Linking hooked_new.cc replaces the
// operators of the whole program, which therefore is one of its own; who links it defines the
// function.
#pragma once

namespace liststore::testing {

// False: this allocation is refused. Any thread; allocates nothing itself.
bool LetAllocate() noexcept;

}  // namespace liststore::testing
