// OpStatus to absl::Status: the one table at the library's edge.
#ifndef LISTSTORE_ENGINE_COMMAND_STATUS_CONVERSION_H_
#define LISTSTORE_ENGINE_COMMAND_STATUS_CONVERSION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "engine/model/op_status.h"

namespace liststore {

// `memory_limit_bytes` is what a message about memory names. kOk costs nothing.
absl::Status ToStatus(OpStatus status, uint64_t memory_limit_bytes);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_COMMAND_STATUS_CONVERSION_H_
