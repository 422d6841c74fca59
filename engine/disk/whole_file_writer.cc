#include "engine/disk/whole_file_writer.h"

#include <errno.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/disk/file_status.h"

namespace liststore::disk {
namespace {

// A file beside that was renamed between being opened and being locked is another writer's result:
// each round means that one more writer has finished.
constexpr int kOpenRoundsMax = 100;

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

WholeFileWriter::WholeFileWriter(FileCalls& calls, std::string path)
    : calls_(calls), path_(std::move(path)), beside_(absl::StrCat(path_, ".saving")) {}

WholeFileWriter::~WholeFileWriter() {
  if (file_ == kNoFile) return;
  // While it is still locked: afterwards it may be another writer's.
  calls_.Remove(beside_);
  calls_.Close(file_);
}

absl::Status WholeFileWriter::OpenOnce(bool& again) {
  again = false;
  const int file = calls_.Open(beside_, FileCalls::OpenFor::kWriting);
  if (file < 0) return FileError("write", beside_, file);
  int result = calls_.Lock(file);
  if (result == 0) result = calls_.IsAt(file, beside_);
  if (result == 0) again = true;  // renamed or removed meanwhile
  const bool owned = result == 1;
  if (owned) result = calls_.Empty(file);
  if (result == 0 && !again) {
    file_ = file;
    return absl::OkStatus();
  }
  // Locked and in its place, it is this writer's; else nobody knows whose.
  if (owned) calls_.Remove(beside_);
  calls_.Close(file);
  if (again) return absl::OkStatus();
  if (result == -EWOULDBLOCK) {
    return absl::UnavailableError(absl::StrCat("another writer has ", beside_));
  }
  return FileError("write", beside_, result);
}

absl::Status WholeFileWriter::Open() {
  LS_CHECK(file_ == kNoFile, "a writer is opened once");
  bool again = true;
  for (int round = 0; again && round < kOpenRoundsMax; ++round) {
    LS_RETURN_IF_ERROR(OpenOnce(again));
  }
  if (again) return absl::UnavailableError(absl::StrCat("other writers have ", beside_));
  return absl::OkStatus();
}

absl::Status WholeFileWriter::Append(std::string_view bytes) {
  LS_CHECK(file_ != kNoFile, "a writer is open while it is appended to");
  while (!bytes.empty()) {
    const int64_t written = calls_.Write(file_, bytes.data(), bytes.size());
    // A write of nothing would go on forever.
    if (written <= 0) return FileError("write", beside_, written == 0 ? -EIO : written);
    bytes_ += static_cast<uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status WholeFileWriter::Publish(bool sync) {
  LS_CHECK(file_ != kNoFile, "a writer is open when it publishes");
  // Before the file is in its place: the heap may refuse it.
  const std::string directory = DirectoryOf(path_);
  if (sync) {
    if (const int result = calls_.Sync(file_); result < 0) {
      return FileError("sync", beside_, result);
    }
  }
  if (const int result = calls_.Rename(beside_, path_); result < 0) {
    return FileError("write", path_, result);
  }
  // In its place: from here on nothing is taken back.
  const int closed = calls_.Close(std::exchange(file_, kNoFile));
  if (closed < 0) return FileError("write", path_, closed);
  return sync ? SyncDirectory(directory) : absl::OkStatus();
}

absl::Status WholeFileWriter::SyncDirectory(const std::string& path) {
  const int directory = calls_.Open(path, FileCalls::OpenFor::kDirectory);
  if (directory < 0) return FileError("open directory", path, directory);
  const int result = calls_.Sync(directory);
  calls_.Close(directory);
  if (result < 0) return FileError("sync directory", path, result);
  return absl::OkStatus();
}

}  // namespace liststore::disk
