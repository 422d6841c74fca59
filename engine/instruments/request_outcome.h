// RequestOutcomes: which requests of a group were answered, and how, read from the answers.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_OUTCOME_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_OUTCOME_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "engine/execute/request_handler.h"
#include "engine/protocol/error_code.h"

namespace liststore {

// What the journal calls an error: "read_timeout", "syntax". Lives for ever.
const char* OutcomeName(protocol::ErrorCode code);

struct RequestOutcome {
  const char* name = "no_answer";  // or "ok", or an OutcomeName; lives for ever
  std::string_view error;          // the message; a view into the answer
  std::chrono::nanoseconds delay{0};
  bool answered = false;
};

// Of one group, on one thread. An answer belongs to the first request of its stream that has none.
class RequestOutcomes {
 public:
  explicit RequestOutcomes(std::span<const PendingRequest> requests);

  // Takes whole response frames, not compressed, which outlive this. O(frames), when they come in
  // the order of the requests.
  void Take(std::string_view frames, std::chrono::nanoseconds delay);
  const RequestOutcome& operator[](size_t i) const { return outcomes_[i]; }

 private:
  // nullptr: no request waits for an answer on this stream.
  RequestOutcome* Waiting(int16_t stream);

  const std::span<const PendingRequest> requests_;
  absl::InlinedVector<RequestOutcome, kRequestsPerTurnMax> outcomes_;
  size_t first_waiting_ = 0;  // all before it are answered
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_OUTCOME_H_
