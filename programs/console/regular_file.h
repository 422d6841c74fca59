// ReadRegularFile: a file that a program reads when it starts and again while it runs.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_REGULAR_FILE_H_
#define LISTSTORE_PROGRAMS_CONSOLE_REGULAR_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace liststore {

// All of it, or the first `bytes_max`. NotFound: it cannot be read, or it is a pipe or a device, which may keep a reader
// waiting for good and has nothing the second time; the message names it.
absl::StatusOr<std::string> ReadRegularFile(const std::string& path, size_t bytes_max);

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_REGULAR_FILE_H_
