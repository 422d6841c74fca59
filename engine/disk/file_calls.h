// FileCalls: what files are made of, call by call as the kernel has them, so that tests can put
// faults in between.
#ifndef LISTSTORE_ENGINE_DISK_FILE_CALLS_H_
#define LISTSTORE_ENGINE_DISK_FILE_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace liststore::disk {

// Results are the call's own, or -errno where it failed; interrupted calls (EINTR) are made again.
// Thread-safe as the kernel is.
class FileCalls {
 public:
  virtual ~FileCalls() = default;

  enum class OpenFor {
    kReading,
    kWriting,    // made when it is missing, kept as it is when it is there; mode 0600
    kDirectory,  // to be synced
    kNew,        // read and written by offset; -EEXIST when it is there already; mode 0600
  };
  virtual int Open(const std::string& path, OpenFor purpose) = 0;
  virtual int Close(int file) = 0;
  // Bytes moved; fewer than asked for is no error.
  virtual int64_t Read(int file, char* to, size_t bytes) = 0;
  virtual int64_t Write(int file, const char* from, size_t bytes) = 0;
  // The same at an offset; what Read and Write go on from stays.
  virtual int64_t ReadAt(int file, char* to, size_t bytes, uint64_t offset) = 0;
  virtual int64_t WriteAt(int file, const char* from, size_t bytes, uint64_t offset) = 0;
  // The `bytes` of the file at `offset`, a multiple of the page's size, as memory that is shared with it.
  // nullptr: not mapped, for whatever reason; who writes goes on by WriteAt. By default so.
  virtual char* Map(int /*file*/, uint64_t /*offset*/, size_t /*bytes*/) { return nullptr; }
  // What Map gave.
  virtual void Unmap(char* /*begin*/, size_t /*bytes*/) {}
  // Bytes of the file.
  virtual int64_t Size(int file) = 0;
  // Cuts the file to nothing.
  virtual int Empty(int file) = 0;
  // Cuts the file to `bytes`.
  virtual int Cut(int file, uint64_t bytes) = 0;
  // Makes the file at least `bytes` long, zeros at its end, and sets room aside for all of it.
  // -ENOSPC: there is none. -EOPNOTSUPP: this file system cannot.
  virtual int Allocate(int file, uint64_t bytes) = 0;
  virtual int Sync(int file) = 0;
  // Of the file's content and size, no other attribute.
  virtual int SyncData(int file) = 0;
  // Without waiting; -EWOULDBLOCK: another process or descriptor has the lock. Ends with Close.
  virtual int Lock(int file) = 0;
  // 1: `path` names this very file. 0: another one, or none.
  virtual int IsAt(int file, const std::string& path) = 0;
  virtual int Rename(const std::string& from, const std::string& to) = 0;
  virtual int Remove(const std::string& path) = 0;
  // Names in the directory but "." and "..", in no order.
  virtual int List(const std::string& path, std::vector<std::string>& names) = 0;
};

// The kernel's. One for everybody: it holds no state.
FileCalls& KernelFileCalls();

}  // namespace liststore::disk

#endif  // LISTSTORE_ENGINE_DISK_FILE_CALLS_H_
