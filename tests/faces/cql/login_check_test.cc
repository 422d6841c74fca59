// Passwords are hashed where nobody waits for them but those who sent them.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/faces/cql/fake_handler.h"
#include "tests/support/one_login.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace login_check_test {

constexpr uint8_t kError = 0x00, kStartup = 0x01, kOptions = 0x05, kSupported = 0x06,
                  kAuthResponse = 0x0f, kAuthSuccess = 0x10;
constexpr int32_t kBadCredentials = 0x0100, kOverloaded = 0x1001;

// Of "secret", by bcrypt at the highest cost that is taken: some 250 ms. Made by Python's crypt.
constexpr char kSlowHash[] = "$2b$12$abcdefghijklmnopqrstuuT1Iwu6o8Wx7BoOyIMHfgVJq6JO/IJhW";

RawFrame Attempt(const std::string& password, int16_t stream = 2) {
  return {.stream = stream,
          .opcode = kAuthResponse,
          .body = BytesBody(std::string("\0cassandra\0", 11) + password)};
}

class LoginChecks : public ::testing::Test {
 protected:
  void Start(cql_face::CqlFaceOptions options = {.long_threads = 1}) {
    options.authenticator = login_.authenticator();
    server_ = std::make_unique<FakeServer>(options);
  }
  // On the one loop, and asked for a password.
  std::unique_ptr<RawCqlClient> Connect() {
    auto client = std::make_unique<RawCqlClient>(server_->port());
    EXPECT_TRUE(client->Ask({.opcode = kStartup, .body = StartupBody()}));
    return client;
  }

  OneLogin login_{"cassandra", OneLogin::Hashed{kSlowHash}};
  std::unique_ptr<FakeServer> server_;
};

TEST_F(LoginChecks, KeepNobodyElseWaiting) {
  Start();
  const auto guessing = Connect();
  RawCqlClient other(server_->port());
  ASSERT_TRUE(guessing->Send(Attempt("guess", 0).Bytes() + Attempt("guess", 1).Bytes()));
  // While the first is hashed.
  for (int i = 0; i < 10; ++i) {
    const auto answer = other.Ask({.opcode = kOptions});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->opcode, kSupported);
  }
  EXPECT_EQ(server_->face().refused_logins(), 0u) << "it is at work still";
  for (int16_t stream = 0; stream < 2; ++stream) {
    const auto refused = guessing->Read();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->stream, stream);
    EXPECT_EQ(ErrorCodeOf(*refused), kBadCredentials);
  }
}

TEST_F(LoginChecks, ComeBeforeWhatWasSentAfterThem) {
  Start();
  const auto client = Connect();
  ASSERT_TRUE(client->Send(Attempt("secret").Bytes() + RawFrame{.opcode = kOptions}.Bytes()));
  const auto first = client->Read();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->opcode, kAuthSuccess);
  const auto second = client->Read();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->opcode, kSupported);
  // Who has come in is known: that needs no thread.
  const auto again = Connect();
  const auto known = again->Ask(Attempt("secret"));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->opcode, kAuthSuccess);
}

// A pool of connections has the hash that is taken for its first ones.
TEST_F(LoginChecks, OfOneAddressWaitForEachOther) {
  Start();
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(Connect());
  for (const auto& client : clients) ASSERT_TRUE(client->Send(Attempt("secret")));
  for (const auto& client : clients) {
    const auto answer = client->Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->opcode, kAuthSuccess);
  }
}

// Those that guess wait for what the first guesses cost their address.
TEST_F(LoginChecks, OfGuessesAreFew) {
  constexpr int kClients = 20;
  Start({.logins = {.failures_max = 1,
                    .first_delay = std::chrono::hours(1),
                    .delay_max = std::chrono::hours(1),
                    .waiting_max = 4},
         .long_threads = 1});
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(Connect());
  for (const auto& client : clients) ASSERT_TRUE(client->Send(Attempt("guess")));
  // Some were hashed, four wait for an hour, the others are refused unheard.
  while (server_->face().refused_logins() < kClients - 4) std::this_thread::yield();
  server_->AwaitConnections(4);
}

TEST_F(LoginChecks, AreRefusedWhereTooManyWait) {
  Start({.long_threads = 1, .long_queued_max = 0});
  const auto client = Connect();
  for (int i = 0; i < 5; ++i) {
    const auto answer = client->Ask(Attempt("secret"));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->opcode, kError);
    EXPECT_EQ(ErrorCodeOf(*answer), kOverloaded);
    EXPECT_EQ(ErrorMessageOf(*answer),
              "Too many passwords and statements that take long wait for a thread: there are 0 at "
              "most; try again later");
  }
  EXPECT_EQ(server_->face().refused_logins(), 0u) << "none of them was wrong";
}

TEST_F(LoginChecks, OfClientsThatHaveGoneAreDropped) {
  Start();
  for (int i = 0; i < 3; ++i) {
    const auto client = Connect();
    ASSERT_TRUE(client->Send(Attempt("guess")));
  }
  server_->AwaitConnections(0);
  const auto client = Connect();
  ASSERT_TRUE(client->Send(Attempt("secret")));
  // It may have been answered by then.
  server_.reset();
  client->ReadAll();
}

}  // namespace login_check_test
}  // namespace liststore::testing
