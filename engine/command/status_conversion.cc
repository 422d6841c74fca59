#include "engine/command/status_conversion.h"

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/model/mutation.h"

namespace liststore {

absl::Status ToStatus(OpStatus status, uint64_t memory_limit_bytes) {
  switch (status) {
    case OpStatus::kOk:
      return absl::OkStatus();
    case OpStatus::kOutOfMemory:
    case OpStatus::kTooLarge:
      return absl::ResourceExhaustedError(absl::StrCat("memory limit of ", memory_limit_bytes,
                                                       " bytes reached; nothing was applied"));
    case OpStatus::kTableGone:
      return absl::FailedPreconditionError("the table was dropped; nothing was applied");
    case OpStatus::kTooManyTables:
      return absl::ResourceExhaustedError("no more than 65535 tables");
    case OpStatus::kRowTooLarge:
      return absl::InvalidArgumentError(
          absl::StrCat("a row would be larger than ", kRowBytesMax, " bytes; nothing was applied"));
  }
  LS_UNREACHABLE("every OpStatus has its absl::Status");
}

}  // namespace liststore
