// Addresses that are mapped before somebody relies on them.
#ifndef LISTSTORE_ENGINE_MEMORY_ADDRESS_RESERVE_H_
#define LISTSTORE_ENGINE_MEMORY_ADDRESS_RESERVE_H_

#include <cstddef>
#include <cstdint>

#include "engine/memory/system_memory.h"

namespace liststore::memory {

// One stretch of mapped memory that nobody has touched, from which pieces are cut once the system
// refuses. It takes no memory, only addresses. Single-threaded. 24 bytes.
class AddressReserve {
 public:
  explicit AddressReserve(SystemMemory& system) : system_(system) {}
  ~AddressReserve() { Clear(); }
  AddressReserve(const AddressReserve&) = delete;
  AddressReserve& operator=(const AddressReserve&) = delete;

  // Has at least `bytes` afterwards, a multiple of `alignment` at one; false: the system refuses,
  // and there is what there was.
  [[nodiscard]] bool Grow(size_t bytes, size_t alignment) {
    if (bytes_ >= bytes) return true;
    char* const at = system_.MapAligned(bytes, alignment, nullptr);
    if (at == nullptr) return false;
    Clear();
    at_ = at;
    bytes_ = bytes;
    return true;
  }

  // Cuts `bytes` off, at a multiple of `alignment` if that is within it; null: it has not as many.
  // They belong to the caller, who unmaps them.
  char* Cut(size_t bytes, size_t alignment) {
    const size_t before = -reinterpret_cast<uintptr_t>(at_) & (alignment - 1);
    if (bytes_ < before || bytes_ - before < bytes) return nullptr;
    if (before > 0) static_cast<void>(system_.Unmap(at_, before));
    char* const piece = at_ + before;
    at_ = piece + bytes;
    bytes_ -= before + bytes;
    return piece;
  }

  // Gives back what is beyond `bytes`.
  void ShrinkTo(size_t bytes) {
    if (bytes_ <= bytes) return;
    static_cast<void>(system_.Unmap(at_ + bytes, bytes_ - bytes));
    bytes_ = bytes;
  }

  void Clear() {
    if (bytes_ > 0) static_cast<void>(system_.Unmap(at_, bytes_));
    at_ = nullptr;
    bytes_ = 0;
  }

  size_t bytes() const { return bytes_; }

 private:
  SystemMemory& system_;
  char* at_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace liststore::memory

#endif  // LISTSTORE_ENGINE_MEMORY_ADDRESS_RESERVE_H_
