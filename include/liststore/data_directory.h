// What a server keeps in a directory (CqlServerOptions::data_dir), looked at while no server has it.
#ifndef LISTSTORE_DATA_DIRECTORY_H_
#define LISTSTORE_DATA_DIRECTORY_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace liststore {

// Reads all of it, and says of each file what it holds, what of its end was cut off, and what is damaged.
// False: something is damaged, and a server does not start from it. Unavailable: a process has the
// directory. NotFound: there is none. FailedPrecondition: a file is of a later version. Throws no
// exceptions.
absl::StatusOr<bool> CheckDataDirectory(const std::string& path,
                                        const std::function<void(std::string_view line)>& say);

}  // namespace liststore

#endif  // LISTSTORE_DATA_DIRECTORY_H_
