// FileSource: a file read from its beginning.
#ifndef LISTSTORE_ENGINE_DISK_FILE_SOURCE_H_
#define LISTSTORE_ENGINE_DISK_FILE_SOURCE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/disk/byte_stream.h"
#include "engine/disk/file_calls.h"

namespace liststore::disk {

// Used by one thread. Keeps no bytes of its own.
class FileSource final : public ByteSource {
 public:
  // `calls` outlives the source.
  FileSource(FileCalls& calls, std::string path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  // NotFound, PermissionDenied.
  absl::Status Open();
  absl::StatusOr<size_t> Read(char* to, size_t bytes) override;

 private:
  FileCalls& calls_;
  const std::string path_;
  int file_ = -1;
};

}  // namespace liststore::disk

#endif  // LISTSTORE_ENGINE_DISK_FILE_SOURCE_H_
