// FileCalls: what files are made of, call by call as the kernel has them, so that tests can put
// faults in between.
#ifndef LISTSTORE_ENGINE_DISK_FILE_CALLS_H_
#define LISTSTORE_ENGINE_DISK_FILE_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <string>

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
  };
  virtual int Open(const std::string& path, OpenFor purpose) = 0;
  virtual int Close(int file) = 0;
  // Bytes moved; fewer than asked for is no error.
  virtual int64_t Read(int file, char* to, size_t bytes) = 0;
  virtual int64_t Write(int file, const char* from, size_t bytes) = 0;
  // Cuts the file to nothing.
  virtual int Empty(int file) = 0;
  virtual int Sync(int file) = 0;
  // Without waiting; -EWOULDBLOCK: another process or descriptor has the lock. Ends with Close.
  virtual int Lock(int file) = 0;
  // 1: `path` names this very file. 0: another one, or none.
  virtual int IsAt(int file, const std::string& path) = 0;
  virtual int Rename(const std::string& from, const std::string& to) = 0;
  virtual int Remove(const std::string& path) = 0;
};

// The kernel's. One for everybody: it holds no state.
FileCalls& KernelFileCalls();

}  // namespace liststore::disk

#endif  // LISTSTORE_ENGINE_DISK_FILE_CALLS_H_
