#include "engine/faces/cql/event_hub.h"

#include <new>

#include "engine/base/output_buffer.h"

namespace liststore::cql_face {

template <typename Change>
EventHub::Event EventHub::MakeEvent(protocol::EventType type, const Change& change) {
  auto event = std::make_shared<PushedEvent>();
  event->type = type;
  OutputBuffer out;
  protocol::EncodeEvent(out, protocol::ProtocolVersion::kV3, change);
  event->frame_v3 = out.view();
  out.Clear();
  protocol::EncodeEvent(out, protocol::ProtocolVersion::kV4, change);
  event->frame_v4 = out.view();
  return event;
}

template <typename Change>
void EventHub::PublishAs(protocol::EventType type, const Change& change) {
  Event event;
  try {
    event = MakeEvent(type, change);
  } catch (const std::bad_alloc&) {
    return PublishLost();
  }
  Tell(event);
}

void EventHub::Tell(const Event& event) {
  for (const Subscriber& subscriber : subscribers_) subscriber(event);
}

void EventHub::Publish(const protocol::SchemaChange& change) {
  PublishAs(protocol::EventType::kSchemaChange, change);
}
void EventHub::Publish(const protocol::StatusChange& change) {
  PublishAs(protocol::EventType::kStatusChange, change);
}
void EventHub::Publish(const protocol::TopologyChange& change) {
  PublishAs(protocol::EventType::kTopologyChange, change);
}

}  // namespace liststore::cql_face
