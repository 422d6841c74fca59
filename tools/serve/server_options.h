// What the flags of `liststore serve` mean for the server that it starts.
#ifndef LISTSTORE_TOOLS_SERVE_SERVER_OPTIONS_H_
#define LISTSTORE_TOOLS_SERVE_SERVER_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "liststore/cql_server.h"
#include "liststore/tls_options.h"
#include "tools/serve/serve.h"

namespace liststore {

// ScyllaDB's defaults.
inline constexpr uint16_t kTlsPort = 9142;
inline constexpr uint16_t kTlsShardAwarePort = 19142;

// Everybody who reaches the port may do everything.
bool IsOpen(const ServeOptions& options);

// Clients have the tables of liststore that change or show what is others'.
bool HasInstruments(const ServeOptions& options);

MemoryPolicy MemoryPolicyOf(const ServeOptions& options);

// With a certificate. InvalidArgument: what they ask for needs more.
absl::StatusOr<TlsOptions> TlsOptionsOf(const ServeOptions& options);

// What is wrong with values by themselves, and can be said without a look at files and machine. InvalidArgument.
absl::Status CheckValues(const ServeOptions& options);

// The memory of the process is divided between rows, clients and the program; passwords are read
// from their file. InvalidArgument: options that contradict each other, a limit that is too small, a
// password file without a password. FailedPrecondition: the machine does not say how much memory it
// has.
absl::StatusOr<CqlServerOptions> ToServerOptions(const ServeOptions& options,
                                                 std::vector<ScyllaOption> scylla);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_SERVER_OPTIONS_H_
