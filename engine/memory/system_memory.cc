#include "engine/memory/system_memory.h"

#include <sys/mman.h>

#include <cstdint>

#include "engine/base/check.h"
#include "engine/memory/memory_poison.h"

namespace liststore::memory {

char* MapMemory(size_t bytes, void* hint) {
  void* at = ::mmap(hint, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  LS_CHECK(at != MAP_FAILED, "the system has address space and memory left");
  return static_cast<char*>(at);
}

char* MapMemoryAligned(size_t bytes, size_t alignment, void* hint) {
  if (hint != nullptr) {
    char* at = MapMemory(bytes, hint);
    if (reinterpret_cast<uintptr_t>(at) % alignment == 0) return at;
    UnmapMemory(at, bytes);
  }
  char* at = MapMemory(bytes + alignment, nullptr);
  const size_t before = -reinterpret_cast<uintptr_t>(at) & (alignment - 1);
  if (before > 0) UnmapMemory(at, before);
  UnmapMemory(at + before + bytes, alignment - before);
  return at + before;
}

void UnmapMemory(void* at, size_t bytes) {
  UnpoisonMemory(at, bytes);  // the addresses may come back to somebody else
  LS_CHECK(::munmap(at, bytes) == 0, "a mapping of ours can be unmapped");
}

void AskForHugePages(void* at, size_t bytes, bool huge) {
  static_cast<void>(::madvise(at, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
}

void DropMemory(void* at, size_t bytes) {
  LS_CHECK(::madvise(at, bytes, MADV_DONTNEED) == 0, "free memory can be dropped");
}

}  // namespace liststore::memory
