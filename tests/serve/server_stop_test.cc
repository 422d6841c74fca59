#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/faces/cql/fake_handler.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace server_stop_test {

constexpr uint8_t kQuery = 0x07;

TEST(ServerStop, AnswersWhatIsInFlight) {
  FakeServer server({}, {.loops = 2});
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<RawCqlClient>(server.port()));
    ASSERT_TRUE(clients.back()->StartUp());
  }
  RawCqlClient& slow = *clients[0];
  ASSERT_TRUE(slow.Send(RawFrame{.stream = 1, .opcode = kQuery, .body = QueryBody("wait")}));
  server.handler().AwaitWaiting();
  // They have arrived, but the loop of half of them is busy.
  for (auto& client : clients) {
    ASSERT_TRUE(
        client->Send(RawFrame{.stream = 2, .opcode = kQuery, .body = QueryBody("bytes 2")}));
  }
  std::thread stopper([&] { server.server().Stop(); });
  server.handler().Release();
  EXPECT_EQ(slow.Read()->stream, 1);
  for (auto& client : clients) {
    const auto answer = client->Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "xx");
    EXPECT_FALSE(client->Read());
  }
  stopper.join();
  EXPECT_EQ(server.server().connection_count(), 0u);
}

TEST(ServerStop, DoesNotWaitForClientsThatDoNotRead) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  ASSERT_TRUE(
      client.Send(RawFrame{.stream = 1, .opcode = kQuery, .body = QueryBody("bytes 50000000")}));
  while (server.handler().requests() == 0) std::this_thread::yield();
  server.server().Stop();
  EXPECT_EQ(server.server().connection_count(), 0u);
}

TEST(ServerStop, TwiceIsOnce) {
  FakeServer server({}, {.loops = 4});
  server.server().Stop();
  server.server().Stop();
}

absl::Status OpenStatus(const cql_face::CqlFaceOptions& options) {
  cql_face::EventHub events;
  FakeHandler handler(events);
  const auto server = network::Server::Create({});
  return cql_face::CqlFace::Open(**server, options, handler, events).status();
}

TEST(ServerStart, APortInUseIsNamed) {
  FakeServer first;
  const absl::Status second = OpenStatus({.cql_port = first.port()});
  EXPECT_TRUE(absl::IsAlreadyExists(second));
  EXPECT_EQ(std::string(second.message()),
            "127.0.0.1:" + std::to_string(first.port()) + " is already in use");
  EXPECT_TRUE(absl::IsAlreadyExists(OpenStatus({.shard_aware_port = first.port()})));
}

TEST(ServerStart, AnAddressMustBeOne) {
  EXPECT_TRUE(absl::IsInvalidArgument(OpenStatus({.address = "example.org"})));
  // Of no interface of this machine (RFC 5737).
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenStatus({.address = "192.0.2.1"})));
}

TEST(ServerStart, Ipv6) {
  if (absl::IsFailedPrecondition(OpenStatus({.address = "::1"}))) GTEST_SKIP() << "no IPv6 here";
  FakeServer server({.address = "::1"});
  RawCqlClient client(server.port(), "::1");
  EXPECT_TRUE(client.StartUp());
}

}  // namespace server_stop_test
}  // namespace liststore::testing
