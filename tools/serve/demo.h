// `liststore serve --demo`: a few lists to begin with, and how to look at them.
#ifndef LISTSTORE_TOOLS_SERVE_DEMO_H_
#define LISTSTORE_TOOLS_SERVE_DEMO_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "liststore/clock.h"
#include "liststore/list_store.h"
#include "tools/serve/serve.h"

namespace liststore {

// A store whose keyspace `demo` holds what three users read lately. `clock` outlives it. Errors are those of
// the store.
absl::StatusOr<std::unique_ptr<ListStore>> OpenDemo(const ServeOptions& options,
                                                    uint64_t memory_limit_bytes,
                                                    const Clock& clock);

// How drivers connect to it: lines, each with its end.
std::string HowToConnect(std::string_view address, int port);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_DEMO_H_
