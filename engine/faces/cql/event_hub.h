// EventHub: what happened to the schema or the node, told to every connection that registered.
#ifndef LISTSTORE_ENGINE_FACES_CQL_EVENT_HUB_H_
#define LISTSTORE_ENGINE_FACES_CQL_EVENT_HUB_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/protocol/frame.h"
#include "engine/protocol/request.h"
#include "engine/protocol/response.h"

namespace liststore::cql_face {

// A whole EVENT frame in the form of each version.
struct PushedEvent {
  protocol::EventType type = protocol::EventType::kSchemaChange;
  std::string frame_v3;
  std::string frame_v4;

  std::string_view FrameFor(protocol::ProtocolVersion version) const {
    return version == protocol::ProtocolVersion::kV3 ? frame_v3 : frame_v4;
  }
};

// Publish is thread-safe and does not wait: the frames go out when each loop comes to it, so a
// connection that is registered and makes a change has its RESULT before the EVENT. An event that the
// heap refuses is not passed over: PublishLost.
class EventHub {
 public:
  // nullptr: an event that nobody knows; who waits for events has missed it.
  using Event = std::shared_ptr<const PushedEvent>;
  using Subscriber = std::function<void(const Event&)>;

  // Called for every event, on the publisher's thread; throws nothing. Before anything is published.
  void Subscribe(Subscriber subscriber) { subscribers_.push_back(std::move(subscriber)); }

  void Publish(const protocol::SchemaChange& change);
  void Publish(const protocol::StatusChange& change);
  void Publish(const protocol::TopologyChange& change);
  // Something has happened, and the heap has no room for what. Takes none.
  void PublishLost() { Tell(nullptr); }

 private:
  template <typename Change>
  void PublishAs(protocol::EventType type, const Change& change);
  template <typename Change>
  static Event MakeEvent(protocol::EventType type, const Change& change);
  void Tell(const Event& event);

  std::vector<Subscriber> subscribers_;
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_EVENT_HUB_H_
