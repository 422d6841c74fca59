#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/strings.h"
#include "engine/protocol/decode.h"

namespace liststore::protocol {
namespace {

constexpr EventType kEventTypes[] = {EventType::kTopologyChange, EventType::kStatusChange,
                                     EventType::kSchemaChange, EventType::kClientRoutesChange};

std::optional<EventType> ParseEventType(std::string_view name) {
  for (const EventType type : kEventTypes) {
    if (EventTypeName(type) == name) return type;
  }
  return std::nullopt;
}

}  // namespace

std::string_view EventTypeName(EventType type) {
  switch (type) {
    case EventType::kTopologyChange:
      return "TOPOLOGY_CHANGE";
    case EventType::kStatusChange:
      return "STATUS_CHANGE";
    case EventType::kSchemaChange:
      return "SCHEMA_CHANGE";
    case EventType::kClientRoutesChange:
      return "CLIENT_ROUTES_CHANGE";
  }
  LS_UNREACHABLE("an event type is one of the protocol's");
}

// <event types: string list>
void DecodeRegister(BodyReader& body, DecodeContext& context, Register& message) {
  context.scratch.has_values_alone = false;
  const size_t count = body.ReadShort();
  for (size_t i = 0; i < count && body.ok(); ++i) {
    const std::string_view name = body.ReadString();
    if (!body.ok()) return;
    const std::optional<EventType> type = ParseEventType(name);
    if (!type) {
      return body.Fail({ErrorCode::kProtocolError,
                        absl::StrCat("Invalid value '", ToAbsl(name), "' for Event.Type")});
    }
    context.scratch.event_types.push_back(*type);
  }
  message.event_types = context.scratch.event_types;
}

}  // namespace liststore::protocol
