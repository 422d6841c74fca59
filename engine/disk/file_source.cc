#include "engine/disk/file_source.h"

#include <cstdint>
#include <utility>

#include "engine/base/check.h"
#include "engine/disk/file_status.h"

namespace liststore::disk {

FileSource::FileSource(FileCalls& calls, std::string path)
    : calls_(calls), path_(std::move(path)) {}

FileSource::~FileSource() {
  if (file_ >= 0) calls_.Close(file_);
}

absl::Status FileSource::Open() {
  LS_CHECK(file_ < 0, "a source is opened once");
  file_ = calls_.Open(path_, FileCalls::OpenFor::kReading);
  if (file_ < 0) return FileError("read", path_, file_);
  return absl::OkStatus();
}

absl::StatusOr<size_t> FileSource::Read(char* to, size_t bytes) {
  LS_CHECK(file_ >= 0, "a source is open while it is read");
  size_t done = 0;
  while (done < bytes) {
    const int64_t read = calls_.Read(file_, to + done, bytes - done);
    if (read < 0) return FileError("read", path_, read);
    if (read == 0) break;
    done += static_cast<size_t>(read);
  }
  return done;
}

}  // namespace liststore::disk
