// DataDirectory: where a server keeps what it has: one process's at a time.
//
//   LOCK                                  taken by who uses the directory
//   snapshot-0000000000000017.snapshot    everything at one time; the highest number is the newest
//   log-0003-0000000000000017.log         commitlog/log_format.h
//   MARKED                                empty; see SetMarked
#ifndef LISTSTORE_ENGINE_DURABLE_DATA_DIRECTORY_H_
#define LISTSTORE_ENGINE_DURABLE_DATA_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/disk/file_calls.h"

namespace liststore::durable {

// Movable; gives the lock back when it goes. Any thread, but for moves.
class DataDirectory {
 public:
  // Makes the directory where it is missing (mode 0700; not those above it) and takes its lock.
  // Unavailable: another process has it. NotFound, PermissionDenied and others: the disk's words.
  static absl::StatusOr<DataDirectory> Open(const std::string& path,
                                            disk::FileCalls& calls = disk::KernelFileCalls());
  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory& operator=(DataDirectory&& other) = delete;
  ~DataDirectory();

  const std::string& path() const { return path_; }
  disk::FileCalls& calls() const { return *calls_; }
  std::string SnapshotPath(uint64_t number) const;
  // It has neither snapshots nor logs.
  absl::StatusOr<bool> IsEmpty() const;
  // Numbers of the snapshots that there are, ascending.
  absl::StatusOr<std::vector<uint64_t>> Snapshots() const;
  // Those with lower numbers go, but for `kept`.
  absl::Status RemoveSnapshotsBefore(uint64_t number, uint64_t kept = 0) const;
  // Its logs may have marks and returns: whoever replays them looks for these first.
  absl::StatusOr<bool> IsMarked() const;
  // Is synchronised. Taken back once no log has any.
  absl::Status SetMarked() const;
  absl::Status ClearMarked() const;

 private:
  DataDirectory(std::string path, disk::FileCalls& calls, int lock)
      : path_(std::move(path)), calls_(&calls), lock_(lock) {}

  std::string path_;
  disk::FileCalls* calls_;
  int lock_;  // -1: given away
};

std::optional<uint64_t> ParseSnapshotName(std::string_view file_name);

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_DATA_DIRECTORY_H_
