#include "absl/strings/str_cat.h"
#include "engine/protocol/decode.h"
#include "engine/protocol/request.h"

namespace liststore::protocol {
namespace {

// ScyllaDB skips the payload of a request as well (transport/server.cc, process_request_one).
void DecodeCustomPayload(BodyReader& body, RequestScratch& scratch, Request& request) {
  const size_t count = body.ReadShort();
  scratch.has_values_alone = false;
  for (size_t i = 0; i < count && body.ok(); ++i) {
    const std::string_view key = body.ReadString();
    scratch.custom_payload.push_back({key, body.ReadBytes()});
  }
  request.custom_payload = scratch.custom_payload;
}

void ClearScratch(RequestScratch& scratch) {
  scratch.values.clear();
  if (scratch.has_values_alone) return;
  scratch.has_values_alone = true;
  scratch.names.clear();
  scratch.statements.clear();
  scratch.options.clear();
  scratch.custom_payload.clear();
  scratch.event_types.clear();
  scratch.value_ends.clear();
}

}  // namespace

std::optional<ProtocolError> DecodeRequest(const FrameHeader& header, std::string_view body,
                                           Extensions negotiated, RequestScratch& scratch,
                                           Request& request) {
  ClearScratch(scratch);
  BodyReader reader(body);
  DecodeContext context{header.version, negotiated, scratch};
  request.tracing = (header.flags & kFrameTracing) != 0;
  request.custom_payload = {};
  if ((header.flags & kFrameCustomPayload) != 0 && header.version >= ProtocolVersion::kV4) {
    DecodeCustomPayload(reader, scratch, request);
  }
  auto& message = request.message;
  switch (static_cast<Opcode>(header.opcode)) {
    case Opcode::kStartup:
      DecodeStartup(reader, context, message.emplace<Startup>());
      break;
    case Opcode::kOptions:
      message.emplace<Options>();
      break;
    case Opcode::kQuery:
      DecodeQuery(reader, context, message.emplace<Query>());
      break;
    case Opcode::kPrepare:
      DecodePrepare(reader, context, message.emplace<Prepare>());
      break;
    case Opcode::kExecute:
      DecodeExecute(reader, context, message.emplace<Execute>());
      break;
    case Opcode::kBatch:
      DecodeBatch(reader, context, message.emplace<Batch>());
      break;
    case Opcode::kRegister:
      DecodeRegister(reader, context, message.emplace<Register>());
      break;
    case Opcode::kAuthResponse:
      DecodeAuthResponse(reader, context, message.emplace<AuthResponse>());
      break;
    default:
      reader.Fail({ErrorCode::kProtocolError, absl::StrCat("Unknown opcode ", header.opcode)});
      break;
  }
  if (reader.ok()) [[likely]]
    return std::nullopt;
  return reader.TakeError();
}

}  // namespace liststore::protocol
