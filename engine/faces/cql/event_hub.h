// EventHub: what happened to the schema or the node, told to every connection that registered.
#ifndef LISTSTORE_ENGINE_FACES_CQL_EVENT_HUB_H_
#define LISTSTORE_ENGINE_FACES_CQL_EVENT_HUB_H_

#include <functional>
#include <string>
#include <string_view>
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
// connection that is registered and makes a change has its RESULT before the EVENT. An event costs
// a copy for each loop; they are rare.
class EventHub {
 public:
  using Subscriber = std::function<void(const PushedEvent&)>;

  // Called for every event, on the publisher's thread. Before anything is published.
  void Subscribe(Subscriber subscriber) { subscribers_.push_back(std::move(subscriber)); }

  void Publish(const protocol::SchemaChange& change);
  void Publish(const protocol::StatusChange& change);
  void Publish(const protocol::TopologyChange& change);

 private:
  template <typename Change>
  void PublishAs(protocol::EventType type, const Change& change);

  std::vector<Subscriber> subscribers_;
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_EVENT_HUB_H_
