// Address space and pages of the system, for the page pool.
#ifndef LISTSTORE_ENGINE_MEMORY_SYSTEM_MEMORY_H_
#define LISTSTORE_ENGINE_MEMORY_SYSTEM_MEMORY_H_

#include <cstddef>

namespace liststore::memory {

// Where a pool has its memory from. What the system may refuse is virtual, so that tests can refuse
// it. Thread-safe.
class SystemMemory {
 public:
  SystemMemory() = default;
  virtual ~SystemMemory() = default;
  SystemMemory(const SystemMemory&) = delete;
  SystemMemory& operator=(const SystemMemory&) = delete;

  // The one that asks the system.
  static SystemMemory& Instance();

  // `bytes` of zeros that take no memory until they are touched, unless the process locks what it
  // maps; at `hint` if that is free. Null: the system refuses, by a limit of address space or of
  // locked memory, by the number of mappings, or because it promises no more than it has.
  virtual char* Map(size_t bytes, void* hint);
  // The same at a multiple of `alignment`. At `hint` in the usual case: one system call, not three.
  char* MapAligned(size_t bytes, size_t alignment, void* hint);
  // False: the system refuses to have one mapping more, in which this one would leave a hole. The
  // memory is given back all the same, as far as it is not locked; the addresses stay mapped.
  virtual bool Unmap(void* at, size_t bytes);

  // In pages of 2 MiB, at the first touch or when the system puts small ones together later, holes
  // among them filled; or never so. The system may not know how; the memory works without it.
  void AskForHugePages(void* at, size_t bytes, bool huge);
  // Gives the pages back, as far as the system lets it; the content is anything from then on.
  void Drop(void* at, size_t bytes);
};

}  // namespace liststore::memory

#endif  // LISTSTORE_ENGINE_MEMORY_SYSTEM_MEMORY_H_
