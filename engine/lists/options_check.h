// Options of a list store: their bounds, and the values that the store chooses.
#ifndef LISTSTORE_ENGINE_LISTS_OPTIONS_CHECK_H_
#define LISTSTORE_ENGINE_LISTS_OPTIONS_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/machine_limits.h"
#include "liststore/options.h"

namespace liststore {

inline constexpr size_t kKeyspaceCharactersMax = 48;
inline constexpr size_t kValueBytesMaxMax = size_t{16} << 20;
inline constexpr uint32_t kShardsMax = 256;

// InvalidArgument: an option is out of bounds; the message has its name, the bound and the value.
absl::Status CheckOptions(const Options& options);

// Checks `options` and replaces every 0 and nullptr that leaves the choice to the store, by the
// limits of `machine`. FailedPrecondition: the memory limit is 0, and that of the machine is
// unknown.
absl::StatusOr<Options> ResolveOptions(Options options, const MachineLimits& machine);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_OPTIONS_CHECK_H_
