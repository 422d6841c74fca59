#include <string>

#include "engine/base/check.h"
#include "engine/protocol/response.h"

namespace liststore::protocol {

// <header>[<tracing id>][<warnings>][<custom payload>], in this order. Source:
// native_protocol_v4.spec section 2.2.
void FrameEncoder::AppendBeforeMessage(const ResponseContext& context) {
  OutputBuffer& out = *out_;
  const bool has_v4 = context.version >= ProtocolVersion::kV4;
  const bool with_warnings = has_v4 && !context.warnings.empty();
  const bool with_payload = has_v4 && !context.custom_payload.empty();
  uint8_t flags = 0;
  if (!context.tracing_id.empty()) flags |= kFrameTracing;
  if (with_warnings) flags |= kFrameWarnings;
  if (with_payload) flags |= kFrameCustomPayload;
  out.PatchByte(begin_ + 1, flags);
  if (!context.tracing_id.empty()) {
    LS_CHECK(context.tracing_id.size() == 16, "a tracing id is a [uuid]");
    out.Append(context.tracing_id);
  }
  if (with_warnings) AppendStringList(out, context.warnings);
  if (with_payload) AppendBytesMap(out, context.custom_payload);
}

void FrameEncoder::Finish() {
  LS_CHECK(out_ != nullptr, "a frame is finished once");
  const size_t body_bytes = out_->size() - begin_ - kFrameHeaderBytes;
  if (body_bytes > kFrameBodyBytesMax) return Refuse();
  out_->PatchBigEndian32(begin_ + kFrameHeaderBytes - sizeof(uint32_t),
                         static_cast<uint32_t>(body_bytes));
  out_ = nullptr;
}

std::string FrameEncoder::OverflowText() {
  return "The answer is larger than the " + std::to_string(kFrameBodyBytesMax) +
         " bytes that a frame holds";
}

void FrameEncoder::Refuse() {
  OutputBuffer& out = *out_;
  Abandon();
  ResponseContext context;
  context.version = version_;
  context.stream = stream_;
  EncodeError(out, context, ProtocolError{ErrorCode::kInvalid, OverflowText()});
}

void FrameEncoder::Abandon() {
  LS_CHECK(out_ != nullptr, "a frame is abandoned before it is finished");
  out_->Truncate(begin_);
  out_ = nullptr;
}

}  // namespace liststore::protocol
