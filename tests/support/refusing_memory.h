// A machine that has only so many addresses, or refuses to have one mapping more.
#ifndef LISTSTORE_TESTS_SUPPORT_REFUSING_MEMORY_H_
#define LISTSTORE_TESTS_SUPPORT_REFUSING_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/memory/system_memory.h"

namespace liststore::testing {

// Any thread. What stays mapped because it was not unmapped counts on.
class RefusingMemory : public memory::SystemMemory {
 public:
  char* Map(size_t bytes, void* hint) override {
    if (mapped_.fetch_add(bytes) + bytes > limit_.load()) {
      mapped_.fetch_sub(bytes);
      ++refused_;
      return nullptr;
    }
    return SystemMemory::Map(bytes, hint);
  }
  bool Unmap(void* at, size_t bytes) override {
    if (keeps_.load()) {
      Drop(at, bytes);
      return false;
    }
    mapped_.fetch_sub(bytes);
    return SystemMemory::Unmap(at, bytes);
  }

  void set_limit(uint64_t bytes) { limit_ = bytes; }
  // From now on nothing is unmapped.
  void set_keeps(bool keeps) { keeps_ = keeps; }
  uint64_t mapped() const { return mapped_.load(); }
  uint64_t refused() const { return refused_.load(); }

 private:
  std::atomic<uint64_t> limit_{UINT64_MAX};
  std::atomic<bool> keeps_{false};
  std::atomic<uint64_t> mapped_{0};
  std::atomic<uint64_t> refused_{0};
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_REFUSING_MEMORY_H_
