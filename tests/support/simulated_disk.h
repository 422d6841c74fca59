// SimulatedDisk: files in memory that know what was synchronised. A loss of power, by a seed, keeps
// of the rest what it likes, sector by sector and name by name: writes are lost, in any order, and so
// are files whose directory was not synchronised. Each call can be made to fail.
//
// One directory for all: names are whole paths. Sectors of 512 bytes are written whole or not at all.
#ifndef LISTSTORE_TESTS_SUPPORT_SIMULATED_DISK_H_
#define LISTSTORE_TESTS_SUPPORT_SIMULATED_DISK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/disk/file_calls.h"

namespace liststore::testing {

// Thread-safe, but for what tests set.
class SimulatedDisk final : public disk::FileCalls {
 public:
  enum class Call : uint8_t {
    kOpen,
    kClose,
    kRead,
    kWrite,
    kSize,
    kCut,
    kAllocate,
    kSync,  // of a file or its data
    kSyncDirectory,
    kLock,
    kIsAt,
    kRename,
    kRemove,
    kList,
  };

  int Open(const std::string& path, OpenFor purpose) override;
  int Close(int file) override;
  int64_t Read(int file, char* to, size_t bytes) override;
  int64_t Write(int file, const char* from, size_t bytes) override;
  int64_t ReadAt(int file, char* to, size_t bytes, uint64_t offset) override;
  int64_t WriteAt(int file, const char* from, size_t bytes, uint64_t offset) override;
  int64_t Size(int file) override;
  int Empty(int file) override { return Cut(file, 0); }
  int Cut(int file, uint64_t bytes) override;
  int Allocate(int file, uint64_t bytes) override;
  int Sync(int file) override;
  int SyncData(int file) override { return Sync(file); }
  int Lock(int file) override;
  int IsAt(int file, const std::string& path) override;
  int Rename(const std::string& from, const std::string& to) override;
  int Remove(const std::string& path) override;
  int List(const std::string& path, std::vector<std::string>& names) override;

  // Asked before each call, with its number from 0: a -errno that it answers, having done nothing (a
  // Sync that fails may have done some of it, but for -EBADF; a Close is done all the same), or 0. Set while no other
  // thread is in a call.
  std::function<int(Call, int64_t number)> fault;
  int64_t calls() const;
  // No write moves more at once.
  size_t write_bytes_max = SIZE_MAX;
  // Bytes for all files; -ENOSPC beyond.
  uint64_t capacity = UINT64_MAX;

  // The power is lost and comes back: all descriptors are gone, and what was not synchronised is kept
  // or not as `seed` says.
  void LosePower(uint64_t seed);
  // The process ends, by force: all descriptors are gone, nothing else.
  void EndProcess();

  // The content of a file as a process reads it.
  std::string Content(const std::string& path) const;
  void SetContent(const std::string& path, std::string content);
  std::vector<std::string> Paths() const;
  size_t open_files() const;

 private:
  static constexpr size_t kSectorBytes = 512;

  struct File {
    std::string content;
    std::string synced;        // as it was when it was synchronised
    std::set<uint64_t> dirty;  // sectors written since
    bool locked = false;
  };
  struct Descriptor {
    std::shared_ptr<File> file;  // none: the directory
    std::string path;
    uint64_t offset = 0;
    bool has_lock = false;
  };

  int FaultOf(Call call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int64_t WriteHere(File& file, const char* from, size_t bytes, uint64_t offset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Fits(uint64_t more) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoseContent(File& file, uint64_t seed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Descriptor* Find(int file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<File>> names_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<File>> synced_names_ ABSL_GUARDED_BY(mutex_);
  std::map<int, Descriptor> open_ ABSL_GUARDED_BY(mutex_);
  int next_descriptor_ ABSL_GUARDED_BY(mutex_) = 3;
  int64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_SIMULATED_DISK_H_
