// Bytes in order, from somewhere and to somewhere: what a format is read from and written to, so
// that it need not know of files.
#ifndef LISTSTORE_ENGINE_DISK_BYTE_STREAM_H_
#define LISTSTORE_ENGINE_DISK_BYTE_STREAM_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace liststore::disk {

// Used by one thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to `bytes` into `to`; fewer only at the end.
  virtual absl::StatusOr<size_t> Read(char* to, size_t bytes) = 0;
};

// Used by one thread at a time.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // All of them, or an error: then nothing more can be appended.
  virtual absl::Status Append(std::string_view bytes) = 0;
};

}  // namespace liststore::disk

#endif  // LISTSTORE_ENGINE_DISK_BYTE_STREAM_H_
