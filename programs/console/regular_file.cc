#include "programs/console/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace liststore {

absl::StatusOr<std::string> ReadRegularFile(const std::string& path, size_t bytes_max) {
  const auto cannot = [&path](int error) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", std::strerror(error)));
  };
  // To open a pipe waits for a writer, but so it does not.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return cannot(errno);
  const absl::Cleanup closes = [file] { close(file); };
  struct stat facts = {};
  if (fstat(file, &facts) != 0) return cannot(errno);
  if (S_ISDIR(facts.st_mode)) return cannot(EISDIR);
  if (!S_ISREG(facts.st_mode)) {
    return absl::NotFoundError(
        absl::StrCat("cannot read ", path, ": it is a pipe or a device, and no regular file"));
  }
  std::string text;
  char bytes[16384];
  while (text.size() < bytes_max) {
    const ssize_t count = read(file, bytes, std::min(sizeof(bytes), bytes_max - text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot(errno);
    if (count == 0) break;
    text.append(bytes, static_cast<size_t>(count));
  }
  return text;
}

}  // namespace liststore
