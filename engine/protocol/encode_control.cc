#include "engine/base/check.h"
#include "engine/protocol/encode_schema_change.h"
#include "engine/protocol/response.h"

namespace liststore::protocol {
namespace {

std::string_view ChangeName(TopologyChange::Change change) {
  switch (change) {
    case TopologyChange::Change::kNewNode:
      return "NEW_NODE";
    case TopologyChange::Change::kRemovedNode:
      return "REMOVED_NODE";
    case TopologyChange::Change::kMovedNode:
      return "MOVED_NODE";
  }
  LS_UNREACHABLE("a change of the topology is one of the protocol's");
}

std::string_view ChangeName(StatusChange::Change change) {
  return change == StatusChange::Change::kUp ? "UP" : "DOWN";
}

ResponseContext EventContext(ProtocolVersion version) {
  ResponseContext context;
  context.version = version;
  context.stream = kEventStream;
  return context;
}

template <typename NodeChange>
void EncodeNodeEvent(OutputBuffer& out, ProtocolVersion version, EventType type,
                     const NodeChange& change) {
  FrameEncoder frame(out, EventContext(version), Opcode::kEvent);
  AppendString(out, EventTypeName(type));
  AppendString(out, ChangeName(change.change));
  AppendInet(out, change.node);
  frame.Finish();
}

}  // namespace

void EncodeReady(OutputBuffer& out, const ResponseContext& context) {
  FrameEncoder(out, context, Opcode::kReady).Finish();
}

void EncodeAuthenticate(OutputBuffer& out, const ResponseContext& context,
                        std::string_view authenticator) {
  FrameEncoder frame(out, context, Opcode::kAuthenticate);
  AppendString(out, authenticator);
  frame.Finish();
}

void EncodeAuthChallenge(OutputBuffer& out, const ResponseContext& context, const Value& token) {
  FrameEncoder frame(out, context, Opcode::kAuthChallenge);
  AppendValue(out, token);
  frame.Finish();
}

void EncodeAuthSuccess(OutputBuffer& out, const ResponseContext& context, const Value& token) {
  FrameEncoder frame(out, context, Opcode::kAuthSuccess);
  AppendValue(out, token);
  frame.Finish();
}

void EncodeSupported(OutputBuffer& out, const ResponseContext& context,
                     std::span<const SupportedOption> options) {
  FrameEncoder frame(out, context, Opcode::kSupported);
  LS_CHECK(options.size() <= kShortMax, "a multimap has at most 65,535 entries");
  out.AppendBigEndian16(static_cast<uint16_t>(options.size()));
  for (const SupportedOption& option : options) {
    AppendString(out, option.key);
    LS_CHECK(option.values.size() <= kShortMax, "a list has at most 65,535 entries");
    out.AppendBigEndian16(static_cast<uint16_t>(option.values.size()));
    for (const std::string& value : option.values) AppendString(out, value);
  }
  frame.Finish();
}

void EncodeEvent(OutputBuffer& out, ProtocolVersion version, const TopologyChange& change) {
  EncodeNodeEvent(out, version, EventType::kTopologyChange, change);
}

void EncodeEvent(OutputBuffer& out, ProtocolVersion version, const StatusChange& change) {
  EncodeNodeEvent(out, version, EventType::kStatusChange, change);
}

void EncodeEvent(OutputBuffer& out, ProtocolVersion version, const SchemaChange& change) {
  FrameEncoder frame(out, EventContext(version), Opcode::kEvent);
  AppendString(out, EventTypeName(EventType::kSchemaChange));
  AppendSchemaChange(out, version, change);
  frame.Finish();
}

}  // namespace liststore::protocol
