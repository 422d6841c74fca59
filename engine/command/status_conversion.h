// OpStatus to absl::Status: the one table at the library's edge.
#ifndef LISTSTORE_ENGINE_COMMAND_STATUS_CONVERSION_H_
#define LISTSTORE_ENGINE_COMMAND_STATUS_CONVERSION_H_

#include "absl/status/status.h"
#include "engine/command/memory_refusal.h"
#include "engine/model/op_status.h"

namespace liststore {

// `refusal` is what a message about memory says; `log_refusal`, not OK, what one about the commit log does.
// kOk costs nothing.
absl::Status ToStatus(OpStatus status, const MemoryRefusal& refusal,
                      const absl::Status& log_refusal = absl::OkStatus());

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_COMMAND_STATUS_CONVERSION_H_
