// Whether a server's options go together, and are within their bounds.
#ifndef LISTSTORE_ENGINE_SERVE_CHECK_OPTIONS_H_
#define LISTSTORE_ENGINE_SERVE_CHECK_OPTIONS_H_

#include "absl/status/status.h"
#include "liststore/cql_server.h"

namespace liststore {

// InvalidArgument: names the option, its value and the bound.
absl::Status CheckOptions(const CqlServerOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_CHECK_OPTIONS_H_
