#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/faces/cql/fake_handler.h"
#include "tests/support/one_login.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace handshake_test {

constexpr uint8_t kError = 0x00, kStartup = 0x01, kReady = 0x02, kAuthenticate = 0x03,
                  kOptions = 0x05, kSupported = 0x06, kQuery = 0x07, kResult = 0x08,
                  kRegister = 0x0b, kAuthResponse = 0x0f, kAuthSuccess = 0x10;
constexpr int32_t kProtocolError = 0x000a, kBadCredentials = 0x0100;

// A version error, byte for byte: version 4 on stream 0.
std::string VersionRefusal(int version) {
  const std::string text = "Invalid or unsupported protocol version: " + std::to_string(version);
  std::string body = {0, 0, 0, 0x0a, 0, static_cast<char>(text.size())};
  return RawFrame{.version = 0x84, .opcode = kError, .body = body + text}.Bytes();
}

TEST(Handshake, EverythingHasItsPlace) {
  struct Step {
    std::string name;
    RawFrame request;
    uint8_t answer;
    std::string error;  // of an ERROR
  };
  const Step steps[] = {
      {"OPTIONS comes before STARTUP", {.stream = 7, .opcode = kOptions}, kSupported, ""},
      {"a query does not",
       {.stream = 8, .opcode = kQuery, .body = QueryBody("void")},
       kError,
       "Unexpected message 7, expecting STARTUP or OPTIONS"},
      {"nor an unknown opcode", {.opcode = 0x7f}, kError, ""},
      {"STARTUP is answered by READY",
       {.stream = 300, .opcode = kStartup, .body = StartupBody()},
       kReady,
       ""},
      {"OPTIONS is a heartbeat later", {.stream = 3, .opcode = kOptions}, kSupported, ""},
      {"STARTUP comes once",
       {.stream = 4, .opcode = kStartup, .body = StartupBody()},
       kError,
       "Unexpected message STARTUP, the connection is already initialized"},
      {"an unknown opcode is named", {.stream = 5, .opcode = 0x7f}, kError, "Unknown opcode 127"},
      {"nobody asked for a password",
       {.stream = 6, .opcode = kAuthResponse, .body = BytesBody("")},
       kError,
       "Unexpected message AUTH_RESPONSE, the connection is not authenticating"},
      {"an event that does not exist",
       {.stream = 7, .opcode = kRegister, .body = StringListBody({"MOON_CHANGE"})},
       kError,
       "Invalid value 'MOON_CHANGE' for Event.Type"},
      {"a body that ends early", {.stream = 9, .opcode = kQuery, .body = "\x01"}, kError, ""},
      {"statements are answered after all of it",
       {.stream = 32767, .opcode = kQuery, .body = QueryBody("void")},
       kResult,
       ""},
  };
  FakeServer server;
  RawCqlClient client(server.port());
  for (const Step& step : steps) {
    const auto answer = client.Ask(step.request);
    ASSERT_TRUE(answer) << step.name;
    EXPECT_EQ(answer->version, 0x84) << step.name;
    EXPECT_EQ(answer->stream, step.request.stream) << step.name;
    ASSERT_EQ(answer->opcode, step.answer) << step.name;
    if (step.answer != kError) continue;
    EXPECT_EQ(ErrorCodeOf(*answer), kProtocolError) << step.name;
    if (step.error.empty()) continue;
    EXPECT_EQ(ErrorMessageOf(*answer), step.error) << step.name;
  }
}

TEST(Handshake, OtherVersionsAreRefusedInScyllasWords) {
  FakeServer server;
  for (const int version : {1, 2, 5, 6, 0x41, 0x42}) {
    RawCqlClient client(server.port());
    RawFrame options{.version = static_cast<uint8_t>(version), .opcode = kOptions};
    ASSERT_TRUE(client.Send(options));
    EXPECT_EQ(client.ReadAll(), VersionRefusal(version)) << version;
  }
}

TEST(Handshake, ARefusalArrivesAlthoughTheClientKeepsSending) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.Send("\x05" + std::string(200'000, 'x')));
  EXPECT_EQ(client.ReadAll(), VersionRefusal(5));
}

TEST(Handshake, Version3IsAnsweredInVersion3) {
  FakeServer server;
  RawCqlClient client(server.port());
  const auto ready = client.Ask({.version = 3, .opcode = kStartup, .body = StartupBody()});
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->Bytes(), std::string("\x83\0\0\0\x02\0\0\0\0", 9));
}

TEST(Handshake, TheVersionOfAConnectionStays) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp());
  const auto error = client.Ask({.version = 3, .stream = 5, .opcode = kOptions});
  ASSERT_TRUE(error);
  EXPECT_EQ(ErrorMessageOf(*error),
            "Invalid message version. Got 3 but previous messages on this connection had version "
            "4");
  EXPECT_EQ(error->stream, 0);
  EXPECT_FALSE(client.Read()) << "the connection ends";
}

TEST(Handshake, AFirstFrameIsShort) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.Send(std::string("\x04\0\0\0\x01\0\x10\0\0", 9)));
  const auto error = client.Read();
  ASSERT_TRUE(error);
  EXPECT_EQ(ErrorCodeOf(*error), kProtocolError);
  EXPECT_FALSE(client.Read());
}

TEST(Handshake, WhatStartupSaysIsKnownToStatements) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp({{"CQL_VERSION", "9.9"}, {"DRIVER_NAME", "raw"}, {"MOON", "full"}}));
  ASSERT_TRUE(client.Query("use ks"));
  const auto state = client.Query("state");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->body.substr(6), "ks anonymous raw 0");
}

TEST(Handshake, TheDirectoryListsWhoHasBegun) {
  FakeServer server({}, {.loops = 2});
  RawCqlClient silent(server.port());
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp(
      {{"DRIVER_NAME", "raw"}, {"DRIVER_VERSION", "1.2"}, {"CLIENT_ID", "7"}, {"CLIENT_ID", "8"}}));
  const std::vector<cql::ClientFacts> list = server.clients().Clients();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].driver_name, "raw");
  EXPECT_EQ(list[0].driver_version, "1.2");
  EXPECT_EQ(list[0].options,
            (PropertyMap{{"CLIENT_ID", "7"}, {"DRIVER_NAME", "raw"}, {"DRIVER_VERSION", "1.2"}}));
  EXPECT_TRUE(list[0].is_ready);
  EXPECT_EQ(list[0].user, "anonymous");
  EXPECT_EQ(list[0].shard, 1);
  EXPECT_EQ(list[0].port, client.source_port());
  EXPECT_EQ(list[0].address, std::string("\x7f\0\0\1", 4));
  // The silent one belongs to another loop, which may come to it later.
  server.AwaitConnections(2);
  client.Close();
  server.AwaitConnections(1);
  EXPECT_TRUE(server.clients().Clients().empty());
}

TEST(Handshake, TheDirectoryKeepsSomeKilobytesOfWhatStartupSays) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp(
      {{"A", "1"}, {"B", std::string(execute::kStartupOptionsBytesMax, 'b')}, {"C", "3"}}));
  const std::vector<cql::ClientFacts> list = server.clients().Clients();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].options.at("A"), "1");
  EXPECT_FALSE(list[0].options.contains("B"));
  EXPECT_FALSE(list[0].options.contains("C"));
}

TEST(Handshake, SupportedNamesTheShardOfTheConnection) {
  FakeServer server({.host_id = "11111111-2222-4333-8444-555555555555"}, {.loops = 3});
  for (const char* shard : {"0", "1", "2", "0"}) {  // round robin
    RawCqlClient client(server.port());
    const auto supported = client.Ask({.opcode = kOptions});
    ASSERT_TRUE(supported);
    const std::string& body = supported->body;
    const auto has = [&](const std::string& key, const std::string& value) {
      std::string entry = key + std::string("\0\1\0", 3) + static_cast<char>(value.size()) + value;
      return body.find(entry) != std::string::npos;
    };
    EXPECT_TRUE(has("SCYLLA_SHARD", shard));
    EXPECT_TRUE(has("SCYLLA_NR_SHARDS", "3"));
    EXPECT_TRUE(has("SCYLLA_SHARD_AWARE_PORT", std::to_string(server.shard_aware_port())));
    EXPECT_TRUE(has("SCYLLA_HOST_ID", "11111111-2222-4333-8444-555555555555"));
    EXPECT_NE(body.find("COMPRESSION"), std::string::npos);
  }
}

TEST(Handshake, TheShardAwarePortPlacesByTheClientsPort) {
  FakeServer server({}, {.loops = 3});
  for (int i = 0; i < 5; ++i) {
    RawCqlClient client(server.shard_aware_port());
    ASSERT_TRUE(client.StartUp());
    const auto state = client.Query("state");
    ASSERT_TRUE(state);
    EXPECT_EQ(state->body.back(), static_cast<char>('0' + client.source_port() % 3));
  }
}

TEST(Handshake, WithoutScyllasLookThereAreNoExtensions) {
  FakeServer server({.listens_shard_aware = false, .looks_like_scylla = false});
  EXPECT_EQ(server.shard_aware_port(), 0);
  RawCqlClient client(server.port());
  const auto supported = client.Ask({.opcode = kOptions});
  ASSERT_TRUE(supported);
  EXPECT_EQ(supported->body.find("SCYLLA"), std::string::npos);
  EXPECT_NE(supported->body.find("CQL_VERSION"), std::string::npos);
}

TEST(Handshake, APasswordIsAskedFor) {
  OneLogin login("cassandra", "secret");
  FakeServer server(
      {.authenticator = login.authenticator(), .logins = {.failures_max = 100, .first_delay = {}}});
  RawCqlClient client(server.port());
  const auto asked = client.Ask({.opcode = kStartup, .body = StartupBody()});
  ASSERT_TRUE(asked);
  ASSERT_EQ(asked->opcode, kAuthenticate);
  EXPECT_EQ(asked->body.substr(2), "org.apache.cassandra.auth.PasswordAuthenticator");
  const auto early = client.Query("void");
  ASSERT_TRUE(early);
  EXPECT_EQ(ErrorMessageOf(*early), "Unexpected message 7, expecting SASL_RESPONSE");

  const auto log_in = [&](const std::string& token) {
    return client.Ask({.stream = 2, .opcode = kAuthResponse, .body = BytesBody(token)});
  };
  for (const std::string& wrong :
       {std::string("\0cassandra\0wrong", 16), std::string("\0root\0secret", 12),
        std::string("\0cassandra\0", 11), std::string("cassandra"), std::string()}) {
    const auto refused = log_in(wrong);
    ASSERT_TRUE(refused);
    EXPECT_EQ(ErrorCodeOf(*refused), kBadCredentials);
  }
  const auto null_token =
      client.Ask({.opcode = kAuthResponse, .body = std::string("\xff\xff\xff\xff", 4)});
  ASSERT_TRUE(null_token);
  EXPECT_EQ(ErrorCodeOf(*null_token), kBadCredentials);

  const auto success = log_in(std::string("\0cassandra\0secret", 17));
  ASSERT_TRUE(success);
  EXPECT_EQ(success->opcode, kAuthSuccess);
  const auto state = client.Query("state");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->body.substr(6), " cassandra  0");
}

}  // namespace handshake_test
}  // namespace liststore::testing
