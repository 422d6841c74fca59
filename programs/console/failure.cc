#include "programs/console/failure.h"

#include <cstdio>
#include <string>

#include "engine/base/strings.h"
#include "programs/console/exit_codes.h"
#include "programs/console/text.h"

namespace liststore {

int ReportFailure(std::string_view command, const absl::Status& status) {
  std::fflush(stdout);
  const std::string text =
      "liststore " + std::string(command) + ": " + PrintableLines(ToStd(status.message())) + '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
  return kExitFailed;
}

}  // namespace liststore
