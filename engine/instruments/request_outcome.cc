#include "engine/instruments/request_outcome.h"

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/primitives.h"

namespace liststore {
namespace {

constexpr size_t kTracingIdBytes = 16;

// What an ERROR says: behind the trace and the warnings that may come first.
void ReadError(uint8_t flags, std::string_view body, RequestOutcome& outcome) {
  protocol::BodyReader reader(body);
  if ((flags & protocol::kFrameTracing) != 0) reader.ReadRaw(kTracingIdBytes);
  if ((flags & protocol::kFrameWarnings) != 0) {
    for (uint16_t count = reader.ReadShort(); count > 0; --count) reader.ReadString();
  }
  const auto code = static_cast<protocol::ErrorCode>(reader.ReadInt());
  outcome.error = reader.ReadString();
  LS_DCHECK(reader.ok(), "the server's own errors can be read");
  outcome.name = OutcomeName(code);
}

}  // namespace

const char* OutcomeName(protocol::ErrorCode code) {
  using protocol::ErrorCode;
  switch (code) {
    case ErrorCode::kServerError:
      return "server_error";
    case ErrorCode::kProtocolError:
      return "protocol_error";
    case ErrorCode::kBadCredentials:
      return "bad_credentials";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kOverloaded:
      return "overloaded";
    case ErrorCode::kIsBootstrapping:
      return "is_bootstrapping";
    case ErrorCode::kTruncateError:
      return "truncate_error";
    case ErrorCode::kWriteTimeout:
      return "write_timeout";
    case ErrorCode::kReadTimeout:
      return "read_timeout";
    case ErrorCode::kReadFailure:
      return "read_failure";
    case ErrorCode::kFunctionFailure:
      return "function_failure";
    case ErrorCode::kWriteFailure:
      return "write_failure";
    case ErrorCode::kSyntaxError:
      return "syntax";
    case ErrorCode::kUnauthorized:
      return "unauthorized";
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kConfigError:
      return "config_error";
    case ErrorCode::kAlreadyExists:
      return "already_exists";
    case ErrorCode::kUnprepared:
      return "unprepared";
    case ErrorCode::kRateLimitError:
      return "rate_limit";
  }
  return "error";
}

RequestOutcomes::RequestOutcomes(std::span<const PendingRequest> requests)
    : requests_(requests), outcomes_(requests.size()) {
  LS_CHECK(requests.size() <= kRequestsPerTurnMax, "a turn has its limit");
}

inline RequestOutcome* RequestOutcomes::Waiting(int16_t stream) {
  while (first_waiting_ < requests_.size() && outcomes_[first_waiting_].answered) ++first_waiting_;
  for (size_t i = first_waiting_; i < requests_.size(); ++i) {
    if (requests_[i].header.stream == stream && !outcomes_[i].answered) return &outcomes_[i];
  }
  return nullptr;
}

void RequestOutcomes::Take(std::string_view frames, std::chrono::nanoseconds delay) {
  while (!frames.empty()) {
    LS_CHECK(frames.size() >= protocol::kFrameHeaderBytes, "a handler appends whole frames");
    const auto flags = static_cast<uint8_t>(frames[1]);
    const auto stream = static_cast<int16_t>(LoadBigEndian16(frames.data() + 2));
    const auto opcode = static_cast<uint8_t>(frames[4]);
    const size_t bytes = protocol::kFrameHeaderBytes + LoadBigEndian32(frames.data() + 5);
    LS_CHECK(bytes <= frames.size(), "a handler appends whole frames");
    if (RequestOutcome* const outcome = Waiting(stream)) {
      outcome->answered = true;
      outcome->delay = delay;
      outcome->name = "ok";
      if (opcode == static_cast<uint8_t>(protocol::Opcode::kError)) {
        ReadError(flags,
                  frames.substr(protocol::kFrameHeaderBytes, bytes - protocol::kFrameHeaderBytes),
                  *outcome);
      }
    }
    frames.remove_prefix(bytes);
  }
}

}  // namespace liststore
