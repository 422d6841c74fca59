// Clients of HTTP that are not well-behaved: what is held for them is bounded, and others are answered.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/faces/http/http_client.h"
#include "tests/faces/http/test_http_server.h"

namespace liststore::testing {
namespace hostile_http_test {

TEST(HostileHttpTest, ManyRequestsAtOnceAreAllAnswered) {
  TestHttpServer server;
  HttpClient client(server.port());
  constexpr int kRequests = 10'000;
  std::string all;
  for (int i = 0; i < kRequests; ++i) {
    all += HttpClient::Text(i % 100 == 99 ? "GET /size/5" : "GET /now");
  }
  std::thread sends([&] { EXPECT_TRUE(client.raw().Send(all)); });
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(client.Read().body, i % 100 == 99 ? "xxxxx" : "now") << i;
  }
  sends.join();
}

// What it may have of the answers is in the socket; one more is held.
TEST(HostileHttpTest, AClientThatDoesNotReadIsNotHeardEither) {
  TestHttpServer server;
  HttpClient client(server.port());
  std::string all;
  for (int i = 0; i < 1000; ++i) all += HttpClient::Text("GET /size/1000000");
  client.raw().SendSome(all);
  HttpClient other(server.port());
  uint64_t held_max = 0;
  for (uint64_t answered = 0; answered < 200; ++answered) {
    EXPECT_EQ(other.Ask("GET /size/10").status, 200);
    held_max = std::max(held_max, server.server().budget().held_bytes());
  }
  EXPECT_LE(held_max, uint64_t{8} << 20);
  EXPECT_LT(server.face().requests(), 300u);
}

// What was sent and answered is not held for the rest of the connection.
TEST(HostileHttpTest, AConnectionThatIsKeptHoldsNothingOfItsRequests) {
  TestHttpServer server;
  HttpClient client(server.port());
  const std::string field = "X: " + std::string(10'000, 'x') + "\r\n";
  const std::string target = "GET /nowhere/" + std::string(5'000, 'x');
  EXPECT_EQ(client.Ask("POST /echo", std::string(50'000, 'x'), field).status, 200);
  EXPECT_EQ(client.Ask("GET /size/200000").status, 200);
  EXPECT_EQ(client.Ask(target).status, 404);
  EXPECT_EQ(client.Ask("GET /now").status, 200);
  EXPECT_LT(server.server().budget().held_bytes(), 4096u);
}

TEST(HostileHttpTest, ARequestThatDoesNotComeWholeIsRefused) {
  HttpFaceOptions options;
  options.request_time = std::chrono::nanoseconds(0);
  TestHttpServer server(options);
  for (const char* part :
       {"G", "GET /now HTTP/1.1\r\nHost:", "POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc"}) {
    HttpClient client(server.port());
    client.Send(part);
    EXPECT_EQ(client.Read().status, 408) << part;
    EXPECT_TRUE(client.HasEnded());
  }
  HttpClient whole(server.port());
  EXPECT_EQ(whole.Ask("POST /echo", "abc").status, 200);
}

TEST(HostileHttpTest, HugeHeadersAndEndlessBodiesAreRefusedByTheirLimit) {
  HttpFaceOptions options;
  options.limits = {.header_bytes_max = 4000, .body_bytes_max = 50'000};
  TestHttpServer server(options);
  HttpClient header(server.port());
  std::string fields;
  while (fields.size() < 5000) fields += "X-Field: some value\r\n";
  header.raw().Send("GET /now HTTP/1.1\r\n" + fields);
  const HttpReply refused = header.Read();
  EXPECT_EQ(refused.status, 431);
  EXPECT_NE(refused.body.find("4000 bytes"), std::string::npos) << refused.body;

  HttpClient body(server.port());
  body.Send("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(body.Read().status, 411);
  HttpClient announced(server.port());
  announced.Send("POST /echo HTTP/1.1\r\nContent-Length: 50001\r\n\r\n");
  const HttpReply too_large = announced.Read();
  EXPECT_EQ(too_large.status, 413);
  EXPECT_NE(too_large.body.find("50000 bytes"), std::string::npos) << too_large.body;
}

TEST(HostileHttpTest, AnAnswerThatIsDelayedIsHeldForItsClient) {
  constexpr uint64_t kBytes = 3'000'000;
  network::ServerOptions network;
  network.limits.unread_time = std::chrono::milliseconds(1);
  TestHttpServer server(HttpFaceOptions(), network);
  network::ClientBudget& budget = server.server().budget();
  HttpClient other(server.port());
  const auto await = [&](const auto& holds) {
    while (!holds(budget.held_bytes())) ASSERT_EQ(other.Ask("GET /now").body, "now");
  };
  {
    HttpClient client(server.port());
    client.Send(HttpClient::Text("GET /late/" + std::to_string(kBytes)));
    await([](uint64_t held) { return held >= kBytes; });
    EXPECT_LT(budget.held_bytes(), kBytes + kBytes / 10);
    // One that has sent more meanwhile as well.
    client.Send(HttpClient::Text("GET /late/" + std::to_string(kBytes)));
    await([](uint64_t held) { return held >= kBytes; });
  }
  // Of one that has gone it is given back long before its time.
  await([](uint64_t held) { return held < kBytes / 10; });
}

// More than all clients may have: who holds most goes.
TEST(HostileHttpTest, AnswersThatAreDelayedHaveTheMemoryOfClients) {
  network::ServerOptions network;
  network.client_memory_bytes = uint64_t{4} << 20;
  TestHttpServer server(HttpFaceOptions(), network);
  HttpClient small(server.port());
  small.Send(HttpClient::Text("GET /late/1000000"));
  HttpClient large(server.port());
  large.Send(HttpClient::Text("GET /late/3900000"));
  EXPECT_TRUE(large.HasEnded());
  HttpClient other(server.port());
  EXPECT_EQ(other.Ask("GET /size/10").body, "xxxxxxxxxx");
  while (server.server().budget().held_bytes() > 2'000'000) {
    EXPECT_EQ(other.Ask("GET /now").body, "now");
  }
  EXPECT_GE(server.server().budget().held_bytes(), 1'000'000u) << "the small one waits on";
}

TEST(HostileHttpTest, ClientsThatGoWhileTheyWaitLeaveNothing) {
  TestHttpServer server;
  for (int i = 0; i < 50; ++i) {
    HttpClient client(server.port());
    client.Send(HttpClient::Text("GET /size/100000") + HttpClient::Text("GET /wait"));
    client.raw().Close();
  }
  server.OpenGate();
  while (server.server().connection_count() > 0) std::this_thread::yield();
  EXPECT_EQ(server.server().budget().held_bytes(), 0u);
  HttpClient other(server.port());
  EXPECT_EQ(other.Ask("GET /size/1").body, "x");
}

}  // namespace hostile_http_test
}  // namespace liststore::testing
