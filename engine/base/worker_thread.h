// Threads of the library: started so that a refusal is an error, and with all signals blocked.
#ifndef LISTSTORE_ENGINE_BASE_WORKER_THREAD_H_
#define LISTSTORE_ENGINE_BASE_WORKER_THREAD_H_

#include <functional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"

namespace liststore {

// Starts a thread that runs `work` under the name `name`, of which the system shows 15 bytes. All
// its signals are blocked: they belong to the program. The caller joins it. ResourceExhausted: the
// system has no thread or no memory for it, and nothing was started. Any thread; some 20 us.
absl::StatusOr<std::thread> StartThread(const std::string& name, std::function<void()> work);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_WORKER_THREAD_H_
