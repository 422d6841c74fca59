#include "programs/console/failure.h"

#include <cstdio>
#include <string>

#include "programs/console/exit_codes.h"

namespace liststore {

int ReportFailure(std::string_view command, const absl::Status& status) {
  std::fflush(stdout);
  const std::string text =
      "liststore " + std::string(command) + ": " + std::string(status.message()) + '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
  return kExitFailed;
}

}  // namespace liststore
