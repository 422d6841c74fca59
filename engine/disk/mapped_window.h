// MappedWindow: a piece of a file in memory, so that what is written to it takes no call of the
// kernel.
#ifndef LISTSTORE_ENGINE_DISK_MAPPED_WINDOW_H_
#define LISTSTORE_ENGINE_DISK_MAPPED_WINDOW_H_

#include <cstddef>
#include <cstdint>

#include "engine/disk/file_calls.h"

namespace liststore::disk {

// Bytes that were stored are in the page cache, as those of a write are: they outlive the process,
// however it ends, and a synchronisation of the file takes them along. Pages come from the kernel when
// they are stored to first, about a microsecond for 4 KiB.
//
// What a write would say by an error, a store says by SIGBUS, which ends a process: the disk is gone,
// or the file was cut. So the first window sets a handler for SIGBUS. In a window it puts memory of no file in the
// place of the page, notes the failure, and the store goes on; SIGBUS for any other reason goes to the
// handler that was there before, or ends the process. A thread that stores must not block SIGBUS
// (StartThread does not).
//
// Of one thread at a time. A process has at most kWindowsMax that are mapped; the next is refused.
class MappedWindow {
 public:
  static constexpr size_t kWindowsMax = 256;

  // `calls` outlives it.
  explicit MappedWindow(FileCalls& calls) : calls_(calls) {}
  ~MappedWindow() { Unmap(); }
  MappedWindow(const MappedWindow&) = delete;
  MappedWindow& operator=(const MappedWindow&) = delete;

  // The `bytes` of `file` at `offset`, a multiple of the page's size, in the place of what was mapped before.
  // There have to be so many. False: the system, or `calls`, does not map it, and nothing is mapped.
  bool Map(int file, uint64_t offset, size_t bytes);
  void Unmap();
  bool is_mapped() const { return begin_ != nullptr; }
  // Where the byte at `offset` of the file lies; nullptr: not in the window.
  char* At(uint64_t offset) const {
    return offset - offset_ < bytes_ ? begin_ + (offset - offset_) : nullptr;
  }
  uint64_t end() const { return offset_ + bytes_; }
  // Something that was stored is not in the file.
  bool has_failed() const;

 private:
  FileCalls& calls_;
  char* begin_ = nullptr;
  uint64_t offset_ = 0;
  size_t bytes_ = 0;  // 0: nothing is mapped
  size_t place_ = 0;  // among those that the handler knows
};

}  // namespace liststore::disk

#endif  // LISTSTORE_ENGINE_DISK_MAPPED_WINDOW_H_
