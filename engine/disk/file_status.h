// What the kernel says of a file, as a status.
#ifndef LISTSTORE_ENGINE_DISK_FILE_STATUS_H_
#define LISTSTORE_ENGINE_DISK_FILE_STATUS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace liststore::disk {

// `result` is negative: "cannot write /a/b: No space left on device". NotFound, PermissionDenied,
// ResourceExhausted and the others that Abseil makes of an errno.
inline absl::Status FileError(const char* doing, const std::string& path, int64_t result) {
  return absl::ErrnoToStatus(static_cast<int>(-result), absl::StrCat("cannot ", doing, " ", path));
}

}  // namespace liststore::disk

#endif  // LISTSTORE_ENGINE_DISK_FILE_STATUS_H_
