#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/faces/cql/fake_handler.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace events_test {

constexpr uint8_t kReady = 0x02, kResult = 0x08, kRegister = 0x0b, kEvent = 0x0c;

std::unique_ptr<RawCqlClient> Registered(const FakeServer& server,
                                         const std::vector<std::string>& events) {
  auto client = std::make_unique<RawCqlClient>(server.port());
  EXPECT_TRUE(client->StartUp());
  const auto ready = client->Ask({.opcode = kRegister, .body = StringListBody(events)});
  EXPECT_TRUE(ready && ready->opcode == kReady);
  return client;
}

void ExpectEvent(RawCqlClient& client, const std::string& type) {
  const auto event = client.Read();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->opcode, kEvent);
  EXPECT_EQ(event->stream, -1);
  EXPECT_EQ(event->body.substr(2, type.size()), type);
}

TEST(Events, ReachRegisteredConnectionsOfAllLoops) {
  FakeServer server({}, {.loops = 3});
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  for (int i = 0; i < 6; ++i) clients.push_back(Registered(server, {"SCHEMA_CHANGE"}));
  RawCqlClient other(server.port());
  ASSERT_TRUE(other.StartUp());
  auto status_only = Registered(server, {"STATUS_CHANGE", "TOPOLOGY_CHANGE"});

  const auto result = other.Query("change ks", 5);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->opcode, kResult);
  for (auto& client : clients) ExpectEvent(*client, "SCHEMA_CHANGE");

  protocol::StatusChange up;
  server.events().Publish(up);
  ExpectEvent(*status_only, "STATUS_CHANGE");
  protocol::TopologyChange added;
  server.events().Publish(added);
  ExpectEvent(*status_only, "TOPOLOGY_CHANGE");

  // Nobody else heard of anything.
  EXPECT_EQ(other.Query("bytes 1")->body, "x");
  for (auto& client : clients) EXPECT_EQ(client->Query("bytes 1")->body, "x");
}

TEST(Events, ComeAfterTheResultOfTheirCause) {
  FakeServer server;
  auto client = Registered(server, {"SCHEMA_CHANGE"});
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(client->Query("change ks", 7)->stream, 7);
    ExpectEvent(*client, "SCHEMA_CHANGE");
  }
}

TEST(Events, WaitForAClientThatReadsLate) {
  FakeServer server;
  auto client = Registered(server, {"SCHEMA_CHANGE"});
  RawCqlClient other(server.port());
  ASSERT_TRUE(other.StartUp());
  constexpr size_t kBytes = 20'000'000;
  ASSERT_TRUE(client->Send(
      RawFrame{.stream = 1, .opcode = 0x07, .body = QueryBody("bytes " + std::to_string(kBytes))}));
  while (server.handler().requests() == 0) ASSERT_TRUE(other.Ask({.opcode = 0x05}));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(other.Query("change ks"));
  const auto large = client->Read();
  ASSERT_TRUE(large);
  EXPECT_EQ(large->body.size(), kBytes) << "no event comes in the middle of a frame";
  for (int i = 0; i < 10; ++i) ExpectEvent(*client, "SCHEMA_CHANGE");
}

}  // namespace events_test
}  // namespace liststore::testing
