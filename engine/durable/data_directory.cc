#include "engine/durable/data_directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/commitlog/log_directory.h"
#include "engine/commitlog/segment_supply.h"
#include "engine/disk/file_status.h"

namespace liststore::durable {
namespace {

constexpr std::string_view kPrefix = "snapshot-";
constexpr std::string_view kSuffix = ".snapshot";
constexpr size_t kDigits = 16;
constexpr std::string_view kMarkedName = "MARKED";

std::string ParentOf(const std::string& path) {
  const std::string parent = std::filesystem::absolute(path).lexically_normal().string();
  const std::filesystem::path trimmed(parent.ends_with('/') ? parent.substr(0, parent.size() - 1)
                                                            : parent);
  return trimmed.parent_path().string();
}

}  // namespace

absl::StatusOr<DataDirectory> DataDirectory::Open(const std::string& path, disk::FileCalls& calls) {
  const bool is_new = mkdir(path.c_str(), 0700) == 0;
  if (!is_new && errno != EEXIST) return disk::FileError("make the directory", path, -errno);
  // Else a loss of power takes it with all that is in it.
  if (is_new) LS_RETURN_IF_ERROR(commitlog::SyncDirectory(calls, ParentOf(path)));
  const std::string lock_path = path + "/LOCK";
  const int lock = calls.Open(lock_path, disk::FileCalls::OpenFor::kWriting);
  if (lock < 0) return disk::FileError("open", lock_path, lock);
  if (const int locked = calls.Lock(lock); locked < 0) {
    calls.Close(lock);
    if (locked != -EWOULDBLOCK) return disk::FileError("lock", lock_path, locked);
    return absl::UnavailableError(absl::StrCat("the data directory ", path,
                                               " is in use by another process, which has locked ",
                                               lock_path));
  }
  return DataDirectory(path, calls, lock);
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)), calls_(other.calls_), lock_(std::exchange(other.lock_, -1)) {}

DataDirectory::~DataDirectory() {
  if (lock_ >= 0) calls_->Close(lock_);
}

std::string DataDirectory::SnapshotPath(uint64_t number) const {
  return absl::StrCat(path_, "/", absl::StrFormat("snapshot-%016d.snapshot", number));
}

std::optional<uint64_t> ParseSnapshotName(std::string_view name) {
  if (name.size() != kPrefix.size() + kDigits + kSuffix.size() || !name.starts_with(kPrefix) ||
      !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  uint64_t number = 0;
  for (const char c : name.substr(kPrefix.size(), kDigits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

absl::StatusOr<std::vector<uint64_t>> DataDirectory::Snapshots() const {
  std::vector<std::string> names;
  if (const int listed = calls_->List(path_, names); listed < 0) {
    return disk::FileError("list", path_, listed);
  }
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    if (const auto number = ParseSnapshotName(name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

absl::StatusOr<bool> DataDirectory::IsMarked() const {
  std::vector<std::string> names;
  if (const int listed = calls_->List(path_, names); listed < 0) {
    return disk::FileError("list", path_, listed);
  }
  return std::ranges::find(names, kMarkedName) != names.end();
}

absl::Status DataDirectory::SetMarked() const {
  const std::string path = absl::StrCat(path_, "/", ToAbsl(kMarkedName));
  const int file = calls_->Open(path, disk::FileCalls::OpenFor::kWriting);
  if (file < 0) return disk::FileError("open", path, file);
  calls_->Close(file);
  return commitlog::SyncDirectory(*calls_, path_);
}

absl::Status DataDirectory::ClearMarked() const {
  const std::string path = absl::StrCat(path_, "/", ToAbsl(kMarkedName));
  const int removed = calls_->Remove(path);
  return removed < 0 && removed != -ENOENT ? disk::FileError("remove", path, removed)
                                           : absl::OkStatus();
}

absl::StatusOr<bool> DataDirectory::IsEmpty() const {
  LS_ASSIGN_OR_RETURN(const std::vector<uint64_t> snapshots, Snapshots());
  LS_ASSIGN_OR_RETURN(const std::vector<commitlog::LogFiles> logs,
                      commitlog::ListLogs(*calls_, path_));
  return snapshots.empty() && logs.empty();
}

absl::Status DataDirectory::RemoveSnapshotsBefore(uint64_t number, uint64_t kept) const {
  LS_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, Snapshots());
  absl::Status status;
  for (const uint64_t old : numbers) {
    if (old >= number || old == kept) continue;
    const std::string path = SnapshotPath(old);
    const int removed = calls_->Remove(path);
    if (removed < 0 && status.ok()) status = disk::FileError("remove", path, removed);
  }
  return status;
}

}  // namespace liststore::durable
