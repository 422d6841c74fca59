#include "engine/faces/cql/dispatcher.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/faces/cql/compressed_answers.h"
#include "engine/faces/cql/handlers.h"
#include "engine/protocol/compression.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/response.h"

namespace liststore::cql_face {
namespace {

using protocol::Compression;
using protocol::FrameCutter;

// Requests that need no statements, or are refused, between two looks at what is left of a turn.
constexpr size_t kAnsweredBetweenLooks = 32;

bool NeedsStatements(uint8_t opcode) {
  switch (static_cast<protocol::Opcode>(opcode)) {
    case protocol::Opcode::kQuery:
    case protocol::Opcode::kPrepare:
    case protocol::Opcode::kExecute:
    case protocol::Opcode::kBatch:
      return true;
    default:
      return false;
  }
}

bool NeedsStatements(const protocol::Request& request) {
  return std::holds_alternative<protocol::Execute>(request.message) ||
         std::holds_alternative<protocol::Query>(request.message) ||
         std::holds_alternative<protocol::Prepare>(request.message) ||
         std::holds_alternative<protocol::Batch>(request.message);
}

// Of the ERROR for requests that have waited too long: <code: int><message: string>.
std::string LateBody(const network::Turn& turn) {
  const auto millis = [](std::chrono::nanoseconds time) {
    return std::chrono::ceil<std::chrono::milliseconds>(time).count();
  };
  const std::string text =
      absl::StrCat("Requests wait too long: this one ", millis(turn.waited), " ms, more than the ",
                   millis(turn.limits.queue_time_max),
                   " ms of queue_time_max; send fewer at the same time, or this one later");
  OutputBuffer body;
  body.AppendBigEndian32(static_cast<uint32_t>(protocol::ErrorCode::kOverloaded));
  body.AppendBigEndian16(static_cast<uint16_t>(text.size()));
  body.Append(text);
  return std::string(body.view());
}

}  // namespace

Dispatcher::Dispatcher(const ServerContext& server)
    : server_(server), slots_(std::make_unique<std::array<Slot, execute::kRequestsPerTurnMax>>()) {
  for (Slot& slot : *slots_) slot.scratch.batch_values_max = server.batch_values_max;
}

Dispatcher::Result Dispatcher::Dispatch(std::string_view received, ConnectionState& state,
                                        const network::Turn& turn) {
  LS_DCHECK(pending_count_ == 0, "every call answers all that it took");
  try {
    return DispatchAll(received, state, turn);
  } catch (const std::bad_alloc&) {
    // The connection ends; others find the scratch as they expect it.
    for (size_t i = 0; i < pending_count_; ++i) pending_[i].End();
    pending_count_ = 0;
    decompressed_bytes_ = 0;
    plain_.Clear();
    throw;
  }
}

Dispatcher::Result Dispatcher::DispatchAll(std::string_view received, ConnectionState& state,
                                           const network::Turn& turn) {
  Result result;
  if (!state.postponed.empty()) {
    const OutputBuffer frames = std::exchange(state.postponed, OutputBuffer());
    const size_t dealt_with = DealWith(frames.view(), state, turn, result);
    state.postponed.Append(frames.ViewFrom(dealt_with));
    if (result.close || result.more_waits) return result;
  }
  result.consumed = DealWith(received, state, turn, result);
  if (late_count_ > 0) [[unlikely]] {
    server_.counters->refused_late.fetch_add(std::exchange(late_count_, 0),
                                             std::memory_order_relaxed);
  }
  return result;
}

size_t Dispatcher::DealWith(std::string_view frames, ConnectionState& state,
                            const network::Turn& turn, Result& result) {
  const size_t pending_max = std::min(turn.limits.requests_max, execute::kRequestsPerTurnMax);
  OutputBuffer& out = turn.answers;
  size_t dealt_with = 0;
  size_t answered_at_once = 0;  // since the last group, or look at the turn
  while (true) {
    if (pending_count_ == pending_max || decompressed_bytes_ > kDecompressedBytesMax) {
      Flush(state, out, result);
      if (result.close || result.more_waits) return dealt_with;
    }
    // To ask for the time costs half of what a refusal does.
    const bool is_to_look = answered_at_once == 0 || answered_at_once == kAnsweredBetweenLooks;
    if (pending_count_ == 0 && dealt_with > 0 && is_to_look) {
      answered_at_once = 0;
      if (turn.IsSpent()) {
        result.more_waits = true;
        return dealt_with;
      }
    }
    if (pending_count_ == 0 && turn.waited.count() > 0) [[unlikely]] {
      const size_t refused = RefuseLate(frames.substr(dealt_with), state, turn);
      dealt_with += refused;
      answered_at_once = kAnsweredBetweenLooks;
      if (refused > 0) continue;
    }
    protocol::Frame frame;
    const FrameCutter::Outcome outcome = state.cutter.Next(frames.substr(dealt_with), frame);
    if (outcome == FrameCutter::Outcome::kFrame) {
      pending_frames_[pending_count_] = frames.substr(dealt_with, frame.bytes());
      const int failed_logins = state.failed_logins;
      Take(frame, state, turn);
      dealt_with += frame.bytes();
      answered_at_once = pending_count_ == 0 ? answered_at_once + 1 : 0;
      if (state.login) [[unlikely]] {
        result.more_waits = true;
        return dealt_with;
      }
      if (state.failed_logins == failed_logins) continue;
      // The next attempt is not looked at at once, and the last one is the end.
      result.more_waits = true;
      result.close = state.failed_logins >= server_.logins->limits().failures_max;
      return dealt_with;
    }
    Flush(state, out, result);
    if (result.close || result.more_waits) return dealt_with;
    if (outcome == FrameCutter::Outcome::kRefused) {
      protocol::EncodeRefusal(out, state.cutter.refusal());
      result.close = true;
    } else {
      result.bytes_missing = state.cutter.bytes_missing();
    }
    return dealt_with;
  }
}

void Dispatcher::Take(const protocol::Frame& frame, ConnectionState& state,
                      const network::Turn& turn) {
  const protocol::FrameHeader& header = frame.header;
  OutputBuffer& out = turn.answers;
  if (turn.is_overloaded && NeedsStatements(header.opcode)) [[unlikely]] {
    return Refuse(header, state, turn);
  }
  Slot& slot = (*slots_)[pending_count_];
  auto error = Decode(frame, state, slot);
  if (!error && NeedsStatements(slot.request)) {
    execute::RequestView& request = pending_[pending_count_++];
    request.Begin(header, slot.request);
    if ((header.flags & protocol::kFrameCompressed) != 0) request.set_body_bytes(slot.body.size());
    decompressed_bytes_ += slot.body.size();
    return;
  }
  const protocol::ResponseContext response = execute::ResponseContextOf(header, state.client);
  if (error) {
    protocol::EncodeError(out, response, *error);
  } else {
    Answer(header, slot.request, response, state, out);
  }
  Trim(slot);
}

void Dispatcher::Refuse(const protocol::FrameHeader& header, const ConnectionState& state,
                        const network::Turn& turn) {
  if (turn.waited.count() > 0) return AppendLate(header, turn);
  server_.counters->refused_requests.fetch_add(1, std::memory_order_relaxed);
  protocol::EncodeError(
      turn.answers, execute::ResponseContextOf(header, state.client),
      protocol::ProtocolError{
          protocol::ErrorCode::kOverloaded,
          absl::StrCat("Too much memory is held for clients: more than three quarters of ",
                       server_.budget->limit_bytes(),
                       " bytes (client_memory); clients that read their answers sooner, or ask "
                       "for smaller pages, hold less")});
}

void Dispatcher::AppendLate(const protocol::FrameHeader& header, const network::Turn& turn) {
  if (turn.waited != late_waited_) {
    late_waited_ = turn.waited;
    late_body_ = LateBody(turn);
  }
  char* const to = turn.answers.Extend(protocol::kFrameHeaderBytes + late_body_.size());
  protocol::StoreResponseHeader(to, header.version, 0, header.stream, protocol::Opcode::kError,
                                static_cast<uint32_t>(late_body_.size()));
  std::memcpy(to + protocol::kFrameHeaderBytes, late_body_.data(), late_body_.size());
  ++late_count_;
}

size_t Dispatcher::RefuseLate(std::string_view frames, const ConnectionState& state,
                              const network::Turn& turn) {
  // Every other frame, whole or not, is the cutter's.
  if (state.phase != protocol::ConnectionPhase::kReady) return 0;
  size_t dealt_with = 0;
  protocol::FrameHeader header;
  for (size_t count = 0; count < kAnsweredBetweenLooks; ++count) {
    if (!state.cutter.Peek(frames.substr(dealt_with), header) || !NeedsStatements(header.opcode)) {
      break;
    }
    AppendLate(header, turn);
    dealt_with += protocol::kFrameHeaderBytes + header.body_bytes;
  }
  return dealt_with;
}

std::optional<protocol::ProtocolError> Dispatcher::Decode(const protocol::Frame& frame,
                                                          const ConnectionState& state,
                                                          Slot& slot) {
  const protocol::FrameHeader& header = frame.header;
  if (!protocol::IsStatementInItsPlace(state.phase, header.opcode)) {
    if (auto error = protocol::CheckOpcode(state.phase, header.opcode)) return error;
  }
  std::string_view body = frame.body;
  if ((header.flags & protocol::kFrameCompressed) != 0) {
    if (auto error = protocol::DecompressBody(state.compression, frame.body,
                                              state.cutter.body_bytes_max(), slot.body)) {
      return error;
    }
    body = slot.body.view();
  }
  return protocol::DecodeRequest(header, body, state.client.extensions, slot.scratch, slot.request);
}

void Dispatcher::Answer(const protocol::FrameHeader& header, const protocol::Request& request,
                        const protocol::ResponseContext& response, ConnectionState& state,
                        OutputBuffer& out) {
  if (const auto* startup = std::get_if<protocol::Startup>(&request.message)) {
    HandleStartup(*startup, response, server_, state, out);
  } else if (std::holds_alternative<protocol::Options>(request.message)) {
    HandleOptions(response, server_, state, out);
  } else if (const auto* auth = std::get_if<protocol::AuthResponse>(&request.message)) {
    HandleAuthResponse(*auth, header, server_, state, out);
  } else {
    HandleRegister(std::get<protocol::Register>(request.message), response, state, out);
  }
}

void Dispatcher::Flush(ConnectionState& state, OutputBuffer& out, Result& result) {
  if (pending_count_ == 0) {
    decompressed_bytes_ = 0;
    return;
  }
  LS_DCHECK(state.phase == protocol::ConnectionPhase::kReady, "statements come when all is agreed");
  const bool compresses = state.compression != Compression::kNone;
  execute::ConnectionOrders orders = server_.handler->Handle(
      {pending_.data(), pending_count_}, state.client, compresses ? plain_ : out);
  if (compresses) {
    AppendCompressed(state.compression, plain_.view(), out, compression_scratch_);
    for (execute::DelayedAnswer& answer : orders.delayed) {
      plain_.Clear();
      AppendCompressed(state.compression, answer.frames, plain_, compression_scratch_);
      answer.frames = plain_.view();
    }
    plain_.Clear();
    plain_.ShrinkTo(kScratchBytesMax);
  }
  std::ranges::move(orders.delayed, std::back_inserter(result.delayed));
  result.close = orders.close;
  result.wait = orders.wait;
  for (size_t i = 0; i < pending_count_; ++i) {
    if (!pending_[i].outcome.answered) [[unlikely]]
      Keep(i, state, result);
    pending_[i].End();
    Trim((*slots_)[i]);
  }
  pending_count_ = 0;
  decompressed_bytes_ = 0;
}

void Dispatcher::Keep(size_t index, ConnectionState& state, Result& result) {
  execute::RequestView& request = pending_[index];
  if (request.outcome.deferral != execute::Deferral::kNo) {
    result.deferred.push_back(
        {request.header(), std::string(pending_frames_[index].substr(protocol::kFrameHeaderBytes)),
         request.body_bytes(), request.outcome.deferral, std::exchange(request.memo, nullptr)});
    result.more_waits |= request.holds_back();
  } else if (request.outcome.postponed) {
    state.postponed.Append(pending_frames_[index]);
    result.more_waits = true;
  }
}

void Dispatcher::Trim(Slot& slot) {
  protocol::RequestScratch& scratch = slot.scratch;
  if (scratch.values.capacity() > kSlotElementsMax ||
      (!scratch.has_values_alone && (scratch.statements.capacity() > kSlotElementsMax ||
                                     scratch.custom_payload.capacity() > kSlotElementsMax ||
                                     scratch.options.capacity() > kSlotElementsMax ||
                                     scratch.event_types.capacity() > kSlotElementsMax))) {
    const size_t batch_values_max = scratch.batch_values_max;
    scratch = {};
    scratch.batch_values_max = batch_values_max;
  }
  slot.body.Clear();
  slot.body.ShrinkTo(kSlotBodyBytesMax);
}

}  // namespace liststore::cql_face
