#include "engine/command/status_conversion.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/model/mutation.h"

namespace liststore {

absl::Status ToStatus(OpStatus status, const MemoryRefusal& refusal,
                      const absl::Status& log_refusal) {
  switch (status) {
    case OpStatus::kOk:
      return absl::OkStatus();
    case OpStatus::kOutOfMemory:
    case OpStatus::kTooLarge:
      if (refusal.machine_bytes == 0) {
        return absl::ResourceExhaustedError(absl::StrCat("memory limit of ", refusal.limit_bytes,
                                                         " bytes reached; nothing was applied"));
      }
      return absl::ResourceExhaustedError(absl::StrCat(refusal.Text(), "; nothing was applied"));
    case OpStatus::kTableGone:
      return absl::FailedPreconditionError("the table was dropped; nothing was applied");
    case OpStatus::kTooManyTables:
      return absl::ResourceExhaustedError("no more than 65535 tables");
    case OpStatus::kRowTooLarge:
      return absl::InvalidArgumentError(
          absl::StrCat("a row would be larger than ", kRowBytesMax, " bytes; nothing was applied"));
    case OpStatus::kNotKept: {
      // A full disk is told from one that fails.
      const std::string why(log_refusal.ok() ? "the commit log has no room"
                                             : log_refusal.message());
      const auto text = absl::StrCat(why, "; nothing was applied");
      return absl::IsResourceExhausted(log_refusal) ? absl::ResourceExhaustedError(text)
                                                    : absl::UnavailableError(text);
    }
    case OpStatus::kBadRecord:
      return absl::DataLossError("a write of the commit log does not fit its table");
  }
  LS_UNREACHABLE("every OpStatus has its absl::Status");
}

}  // namespace liststore
