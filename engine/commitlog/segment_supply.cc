#include "engine/commitlog/segment_supply.h"

#include <errno.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/disk/file_status.h"

namespace liststore::commitlog {

SegmentSupply::SegmentSupply(disk::FileCalls& calls, std::string directory, uint32_t shard,
                             size_t segment_bytes, uint64_t first_number)
    : calls_(calls),
      directory_(std::move(directory)),
      shard_(shard),
      segment_bytes_(segment_bytes),
      next_number_(first_number) {}

SegmentSupply::~SegmentSupply() {
  for (const SegmentFile& segment : files_) calls_.Close(segment.file);
}

absl::Status SegmentSupply::Prepare(size_t ahead) {
  if (this->ahead() >= ahead) return absl::OkStatus();
  MutexLock lock(making_);
  while (this->ahead() < ahead) LS_RETURN_IF_ERROR(MakeOne());
  return absl::OkStatus();
}

absl::Status SegmentSupply::MakeOne() {
  // A number is never used again, whatever becomes of the file.
  SegmentFile segment{{shard_, next_number_++}, "", -1};
  segment.path = absl::StrCat(directory_, "/", SegmentFileName(segment.name));
  segment.file = calls_.Open(segment.path, disk::FileCalls::OpenFor::kNew);
  if (segment.file < 0) return disk::FileError("make", segment.path, segment.file);
  absl::Status status;
  const int result = calls_.Allocate(segment.file, segment_bytes_);
  if (result == -EOPNOTSUPP) {
    status = FillWithZeros(segment.file, segment.path);
  } else if (result < 0) {
    status = disk::FileError("set room aside for", segment.path, result);
  }
  if (!status.ok()) {
    calls_.Close(segment.file);
    calls_.Remove(segment.path);
    return status;
  }
  MutexLock lock(mutex_);
  last_made_ = segment.name.number;
  files_.push_back(std::move(segment));
  ahead_.store(files_.size(), std::memory_order_release);
  return absl::OkStatus();
}

absl::Status SegmentSupply::FillWithZeros(int file, const std::string& path) {
  const std::string zeros(std::min(segment_bytes_, size_t{64} << 10), '\0');
  for (size_t at = 0; at < segment_bytes_;) {
    const int64_t written =
        calls_.WriteAt(file, zeros.data(), std::min(zeros.size(), segment_bytes_ - at), at);
    if (written <= 0) return disk::FileError("write", path, written == 0 ? -EIO : written);
    at += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

bool SegmentSupply::Take(SegmentFile& segment) {
  MutexLock lock(mutex_);
  if (files_.empty()) return false;
  segment = std::move(files_.front());
  files_.pop_front();
  ahead_.store(files_.size(), std::memory_order_release);
  return true;
}

absl::Status SegmentSupply::SyncNames(uint64_t number) {
  uint64_t last = 0;
  {
    MutexLock lock(mutex_);
    if (names_synced_ >= number) return absl::OkStatus();
    last = last_made_;
  }
  LS_RETURN_IF_ERROR(SyncDirectory(calls_, directory_));
  MutexLock lock(mutex_);
  names_synced_ = std::max(names_synced_, last);
  return absl::OkStatus();
}

bool SegmentSupply::has_new_names() const {
  MutexLock lock(mutex_);
  return last_made_ > names_synced_;
}

uint64_t SegmentSupply::last_number() const {
  MutexLock lock(mutex_);
  return last_made_;
}

void SegmentSupply::RemoveAhead() {
  MutexLock making(making_);
  MutexLock lock(mutex_);
  for (const SegmentFile& segment : files_) {
    calls_.Close(segment.file);
    calls_.Remove(segment.path);
  }
  files_.clear();
  ahead_.store(0, std::memory_order_release);
}

absl::Status SyncDirectory(disk::FileCalls& calls, const std::string& directory) {
  const int file = calls.Open(directory, disk::FileCalls::OpenFor::kDirectory);
  if (file < 0) return disk::FileError("open directory", directory, file);
  const int result = calls.Sync(file);
  calls.Close(file);
  if (result < 0) return disk::FileError("sync directory", directory, result);
  return absl::OkStatus();
}

}  // namespace liststore::commitlog
