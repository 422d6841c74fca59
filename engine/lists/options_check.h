// Options of a list store: their bounds, and what stands for "0, you choose".
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

// InvalidArgument: an option is out of its bounds; the message names it, the bound and what was
// given.
absl::Status CheckOptions(const Options& options);

// `options`, checked, with every "0: chosen by the store" and nullptr replaced. `machine` is asked
// for what was left open. FailedPrecondition: the memory limit was left open and the machine's is
// unknown.
absl::StatusOr<Options> ResolveOptions(Options options, const MachineLimits& machine);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_OPTIONS_CHECK_H_
