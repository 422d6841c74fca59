#include "engine/faces/http/session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/faces/http/http_client.h"
#include "tests/faces/http/test_http_server.h"

namespace liststore::testing {
namespace http_session_test {

TEST(HttpSessionTest, AConnectionIsKeptForFurtherRequests) {
  TestHttpServer server;
  HttpClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    const HttpReply now = client.Ask("GET /now");
    EXPECT_EQ(now.status, 200);
    EXPECT_EQ(now.body, "now");
    EXPECT_EQ(now.fields.at("content-type"), "text/plain");
    EXPECT_FALSE(now.fields.contains("connection"));
    EXPECT_EQ(client.Ask("POST /echo", "text").body, "anonymous:text");
  }
  EXPECT_EQ(server.face().requests(), 6u);
}

TEST(HttpSessionTest, AnswersComeInTheOrderOfTheRequests) {
  TestHttpServer server;
  HttpClient client(server.port());
  client.Send(HttpClient::Text("GET /wait") + HttpClient::Text("GET /size/3") +
              HttpClient::Text("GET /now") + HttpClient::Text("GET /nowhere"));
  server.AwaitWaiting(1);
  EXPECT_FALSE(client.raw().HasAnswer());
  server.OpenGate();
  EXPECT_EQ(client.Read().body, "waited");
  EXPECT_EQ(client.Read().body, "xxx");
  EXPECT_EQ(client.Read().body, "now");
  EXPECT_EQ(client.Read().status, 404);
}

// The loop goes on while an answer is made elsewhere.
TEST(HttpSessionTest, OthersAreAnsweredMeanwhile) {
  TestHttpServer server;
  HttpClient slow(server.port());
  slow.Send(HttpClient::Text("GET /wait"));
  server.AwaitWaiting(1);
  HttpClient other(server.port());
  EXPECT_EQ(other.Ask("GET /now").body, "now");
  server.OpenGate();
  EXPECT_EQ(slow.Read().body, "waited");
}

TEST(HttpSessionTest, LargeAnswersComeWhole) {
  TestHttpServer server;
  HttpClient client(server.port());
  for (const size_t bytes :
       {size_t{1}, size_t{256} << 10, (size_t{256} << 10) + 1, size_t{5} << 20}) {
    const HttpReply reply = client.Ask("GET /size/" + std::to_string(bytes));
    EXPECT_EQ(reply.body, std::string(bytes, 'x')) << bytes;
  }
}

TEST(HttpSessionTest, HeadIsGetWithoutTheBody) {
  TestHttpServer server;
  HttpClient client(server.port());
  for (const char* bytes : {"3", "5000000"}) {
    const HttpReply reply = client.Ask("HEAD /size/" + std::string(bytes));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.fields.at("content-length"), bytes);
  }
  EXPECT_EQ(client.Ask("GET /now").body, "now");
}

TEST(HttpSessionTest, ClientsSayWhetherTheConnectionEnds) {
  TestHttpServer server;
  HttpClient closes(server.port());
  EXPECT_EQ(closes.Ask("GET /now", {}, "Connection: close\r\n").fields.at("connection"), "close");
  EXPECT_TRUE(closes.HasEnded());
  HttpClient old(server.port());
  old.Send("GET /now HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.Read().body, "now");
  EXPECT_TRUE(old.HasEnded());
  HttpClient keeps(server.port());
  for (int i = 0; i < 2; ++i) {
    keeps.Send("GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(keeps.Read().fields.at("connection"), "keep-alive");
  }
}

TEST(HttpSessionTest, WhatIsNoRequestIsRefusedAndTheConnectionEnds) {
  TestHttpServer server;
  HttpClient client(server.port());
  client.Send(HttpClient::Text("GET /now") + "nonsense\r\n\r\n" + HttpClient::Text("GET /now"));
  EXPECT_EQ(client.Read().status, 200);
  const HttpReply refused = client.Read();
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.fields.at("connection"), "close");
  EXPECT_TRUE(client.HasEnded());
}

TEST(HttpSessionTest, WhoWaitsToSendABodyIsToldToGoOn) {
  TestHttpServer server;
  HttpClient client(server.port());
  client.Send("POST /echo HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.Read().status, 100);
  client.Send("ab");
  EXPECT_EQ(client.Read().body, "anonymous:ab");
}

TEST(HttpSessionTest, PagesOfOtherOriginsAreNotServed) {
  TestHttpServer server;
  HttpClient client(server.port());
  EXPECT_EQ(client.Ask("GET /now", {}, "Origin: http://elsewhere\r\n").status, 403);
  EXPECT_EQ(client.Ask("GET /now", {}, "Origin: null\r\n").status, 403);
  EXPECT_EQ(client.Ask("GET /now", {}, "Origin: http://localhost\r\n").status, 200);
}

// A name may be made to lead here by whoever owns it, and a page of it then asks as its own origin.
TEST(HttpSessionTest, WhereNobodyLogsInTheHostIsNoName) {
  TestHttpServer server;
  const auto status = [](uint16_t port, const std::string& path, const std::string& fields) {
    HttpClient client(port);
    client.Send("GET " + path + " HTTP/1.1\r\n" + fields + "\r\n");
    return client.Read().status;
  };
  for (const char* host :
       {"localhost", "LocalHost:8080", "127.0.0.1", "10.0.0.7:1", "[::1]", "[fe80::1]:80", ""}) {
    EXPECT_EQ(status(server.port(), "/size/1", "Host: " + std::string(host) + "\r\n"), 200) << host;
  }
  EXPECT_EQ(status(server.port(), "/size/1", ""), 200);
  for (const char* host :
       {"rebound.example", "rebound.example:80", "localhost.example", "127.0.0.1.a",
        "localhost:80.a", "[::1", "[::1]a", "[a]", "a.localhost", "127.1"}) {
    const std::string field = "Host: " + std::string(host) + "\r\n";
    EXPECT_EQ(status(server.port(), "/size/1", field), 403) << host;
    EXPECT_EQ(status(server.port(), "/now", field), 200) << host;
  }
  HttpClient client(server.port());
  client.Send("GET /size/1 HTTP/1.1\r\nHost: a.example\r\n\r\n");
  const std::string body = client.Read().body;
  EXPECT_NE(body.find("other_host"), std::string::npos) << body;
  EXPECT_NE(body.find("--auth"), std::string::npos) << body;
  HttpFaceOptions options;
  options.log_in = [](const std::string&, const std::string&, const std::string&) {
    return http_face::LoginResult();
  };
  TestHttpServer asks(options);
  EXPECT_EQ(
      status(asks.port(), "/size/1", "Host: a.example\r\nAuthorization: Basic Ym9iOmE6Yg==\r\n"),
      200);
}

TEST(HttpSessionTest, AnAnswerWithoutABodyHasNoLength) {
  TestHttpServer server;
  HttpClient client(server.port());
  const HttpReply options = client.Ask("OPTIONS /now");
  EXPECT_EQ(options.status, 204);
  EXPECT_FALSE(options.fields.contains("content-length"));
  EXPECT_EQ(client.Ask("GET /now").body, "now");
}

TEST(HttpSessionTest, MoreThanMayWaitIsRefused) {
  HttpFaceOptions options;
  options.threads = 1;
  options.queued_max = 1;
  TestHttpServer server(options);
  HttpClient first(server.port());
  first.Send(HttpClient::Text("GET /wait"));
  server.AwaitWaiting(1);
  HttpClient second(server.port());
  second.Send(HttpClient::Text("GET /wait"));
  // The second waits once a third is refused.
  HttpClient third(server.port());
  HttpReply refused;
  while (refused.status != 503) {
    HttpClient next(server.port());
    next.raw().Send(HttpClient::Text("GET /size/1"));
    if (server.face().refused() > 0) refused = next.Read();
  }
  EXPECT_EQ(refused.fields.at("retry-after"), "1");
  EXPECT_NE(refused.body.find("there are 1 at most"), std::string::npos) << refused.body;
  EXPECT_EQ(third.Ask("GET /now").status, 200);
  server.OpenGate();
  EXPECT_EQ(first.Read().body, "waited");
}

TEST(HttpSessionTest, WhatIsWithheldKeepsTheConnectionUntilTheServerStops) {
  TestHttpServer server;
  HttpClient client(server.port());
  client.Send(HttpClient::Text("GET /lost") + HttpClient::Text("GET /now"));
  HttpClient other(server.port());
  EXPECT_EQ(other.Ask("GET /size/1").status, 200);
  EXPECT_FALSE(client.raw().HasAnswer());
  server.Stop();
  EXPECT_EQ(client.Read().status, 0);
}

TEST(HttpSessionTest, WhoWaitsInVainMayGo) {
  TestHttpServer server;
  HttpClient client(server.port());
  client.Send(HttpClient::Text("GET /lost"));
  HttpClient other(server.port());
  EXPECT_EQ(other.Ask("GET /size/1").status, 200);
  client.raw().Close();
  while (server.server().connection_count() > 1) std::this_thread::yield();
}

TEST(HttpSessionTest, AStopIsSaidToWhoWaits) {
  TestHttpServer server;
  HttpClient client(server.port());
  client.Send(HttpClient::Text("GET /wait"));
  server.AwaitWaiting(1);
  server.Stop();
  const HttpReply reply = client.Read();
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.body.find("The server stops"), std::string::npos) << reply.body;
}

TEST(HttpSessionTest, NamesAndPasswordsAreAskedForWhereClientsLogIn) {
  HttpFaceOptions options;
  options.log_in = [](const std::string& address, const std::string& user,
                      const std::string& password) {
    EXPECT_EQ(address, std::string("\x7f\x00\x00\x01", 4));
    http_face::LoginResult result;
    if (user == "late") result.wait = std::chrono::milliseconds(1200);
    if (password != "a:b") result.refusal = "wrong";
    return result;
  };
  TestHttpServer server(options);
  HttpClient client(server.port());
  const HttpReply asked = client.Ask("POST /echo", "x");
  EXPECT_EQ(asked.status, 401);
  EXPECT_EQ(asked.fields.at("www-authenticate"), R"(Basic realm="liststore", charset="UTF-8")");
  // bob:a:b, bob:c, late:c.
  EXPECT_EQ(client.Ask("POST /echo", "x", "Authorization: bAsic Ym9iOmE6Yg==\r\n").body, "bob:x");
  const HttpReply wrong = client.Ask("POST /echo", "x", "Authorization: Basic Ym9iOmM=\r\n");
  EXPECT_EQ(wrong.status, 401);
  EXPECT_NE(wrong.body.find("wrong"), std::string::npos);
  const HttpReply late = client.Ask("POST /echo", "x", "Authorization: Basic bGF0ZTpj\r\n");
  EXPECT_EQ(late.status, 429);
  EXPECT_EQ(late.fields.at("retry-after"), "2");
  for (const char* bad : {"Basic", "Basic !", "Basic Ym9i", "Bearer Ym9iOmE6Yg=="}) {
    EXPECT_EQ(client.Ask("POST /echo", "x", std::string("Authorization: ") + bad + "\r\n").status,
              401)
        << bad;
  }
  // Without, for whoever looks after processes.
  EXPECT_EQ(client.Ask("GET /now").status, 200);
}

}  // namespace http_session_test
}  // namespace liststore::testing
