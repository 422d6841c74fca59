#include <sys/stat.h>

#include <cerrno>
#include <functional>
#include <new>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/disk/file_status.h"
#include "engine/durable/data_directory.h"
#include "engine/durable/recovery.h"
#include "liststore/data_directory.h"

namespace liststore {

absl::StatusOr<bool> CheckDataDirectory(const std::string& path,
                                        const std::function<void(std::string_view line)>& say) try {
  // Opening it would make it.
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return disk::FileError("find", path, -errno);
  LS_ASSIGN_OR_RETURN(const durable::DataDirectory directory, durable::DataDirectory::Open(path));
  return durable::CheckDirectory(directory, say);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

}  // namespace liststore
