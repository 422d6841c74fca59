#include "engine/memory/system_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#include "engine/memory/memory_poison.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24  // of Linux 5.18, which Debian 12's headers may not know
#endif

namespace liststore::memory {

SystemMemory& SystemMemory::Instance() {
  static SystemMemory system;  // has no state
  return system;
}

char* SystemMemory::Map(size_t bytes, void* hint) {
  void* at = ::mmap(hint, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
}

char* SystemMemory::MapAligned(size_t bytes, size_t alignment, void* hint) {
  if (hint != nullptr) {
    char* at = Map(bytes, hint);
    if (at == nullptr || reinterpret_cast<uintptr_t>(at) % alignment == 0) return at;
    static_cast<void>(Unmap(at, bytes));
  }
  char* at = Map(bytes + alignment, nullptr);
  if (at == nullptr) return nullptr;
  const size_t before = -reinterpret_cast<uintptr_t>(at) & (alignment - 1);
  if (before > 0) static_cast<void>(Unmap(at, before));
  static_cast<void>(Unmap(at + before + bytes, alignment - before));
  return at + before;
}

bool SystemMemory::Unmap(void* at, size_t bytes) {
  UnpoisonMemory(at, bytes);  // the addresses may come back to somebody else
  if (::munmap(at, bytes) == 0) return true;
  Drop(at, bytes);
  return false;
}

void SystemMemory::AskForHugePages(void* at, size_t bytes, bool huge) {
  static_cast<void>(::madvise(at, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
}

void SystemMemory::Drop(void* at, size_t bytes) {
  if (::madvise(at, bytes, MADV_DONTNEED) == 0 || errno != EINVAL) return;
  // The process has locked its memory. Older systems keep it then.
  static_cast<void>(::madvise(at, bytes, MADV_DONTNEED_LOCKED));
}

}  // namespace liststore::memory
