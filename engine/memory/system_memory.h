// Address space and pages of the system, for the page pool.
#ifndef LISTSTORE_ENGINE_MEMORY_SYSTEM_MEMORY_H_
#define LISTSTORE_ENGINE_MEMORY_SYSTEM_MEMORY_H_

#include <cstddef>

namespace liststore::memory {

// `bytes` of zeros that take no memory until they are touched; at `hint` if that is free. Never
// null: the end of the address space is the end of the process.
char* MapMemory(size_t bytes, void* hint);
// The same at a multiple of `alignment`. At `hint` in the usual case: one system call, not three.
char* MapMemoryAligned(size_t bytes, size_t alignment, void* hint);
void UnmapMemory(void* at, size_t bytes);

// Before the first touch: in pages of 2 MiB, or never so. The system may not know how; the memory
// works without it.
void AskForHugePages(void* at, size_t bytes, bool huge);

// Gives the pages back; they are zero when they are touched again.
void DropMemory(void* at, size_t bytes);

}  // namespace liststore::memory

#endif  // LISTSTORE_ENGINE_MEMORY_SYSTEM_MEMORY_H_
