#include "engine/faces/cql/login_guard.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "engine/base/big_endian.h"
#include "tests/faces/cql/fake_handler.h"
#include "tests/support/one_login.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace login_guard_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint8_t kStartup = 0x01, kAuthResponse = 0x0f, kAuthSuccess = 0x10;
constexpr network::Instant kBegin{seconds(1'000'000)};
const std::string kHere("\x7f\0\0\1", 4);
const std::string kThere("\x7f\0\0\2", 4);

TEST(LoginGuard, EachFailureOfAnAddressDoublesTheDelay) {
  cql_face::LoginGuard guard({.first_delay = milliseconds(100), .delay_max = milliseconds(1000)});
  EXPECT_EQ(guard.Enter(kHere, kBegin), milliseconds(0));
  for (const int delay : {100, 200, 400, 800, 1000, 1000}) {
    guard.NoteFailure(kHere, kBegin);
    EXPECT_EQ(guard.Enter(kHere, kBegin), milliseconds(delay));
    guard.Leave(kHere);
    EXPECT_EQ(guard.Enter(kThere, kBegin), milliseconds(0));
  }
  EXPECT_EQ(guard.failures(), 6u);
  guard.NoteSuccess(kHere);
  EXPECT_EQ(guard.Enter(kHere, kBegin), milliseconds(0));
}

TEST(LoginGuard, AnAddressIsForgivenInTime) {
  cql_face::LoginGuard guard({.memory = seconds(60)});
  guard.NoteFailure(kHere, kBegin);
  guard.NoteFailure(kHere, kBegin);
  EXPECT_EQ(guard.Enter(kHere, kBegin + seconds(60)), milliseconds(200));
  guard.Leave(kHere);
  EXPECT_EQ(guard.Enter(kHere, kBegin + seconds(61)), milliseconds(0));
  guard.NoteFailure(kHere, kBegin + seconds(61));
  EXPECT_EQ(guard.Enter(kHere, kBegin + seconds(61)), milliseconds(100));
}

// Whoever does not wait but comes again comes in when the time is over.
TEST(LoginGuard, AWaitIsCountedFromTheLastFailure) {
  cql_face::LoginGuard guard({.memory = seconds(60)});
  EXPECT_EQ(guard.WaitOf(kHere, kBegin), milliseconds(0));
  guard.NoteFailure(kHere, kBegin);
  EXPECT_EQ(guard.WaitOf(kHere, kBegin), milliseconds(100));
  EXPECT_EQ(guard.WaitOf(kHere, kBegin + milliseconds(99)), milliseconds(1));
  EXPECT_EQ(guard.WaitOf(kHere, kBegin + milliseconds(100)), milliseconds(0));
  EXPECT_EQ(guard.WaitOf(kHere, kBegin + seconds(30)), milliseconds(0));
  EXPECT_EQ(guard.WaitOf(kThere, kBegin), milliseconds(0));
  guard.NoteFailure(kHere, kBegin + seconds(30));
  EXPECT_EQ(guard.WaitOf(kHere, kBegin + seconds(30)), milliseconds(200));
  guard.NoteSuccess(kHere);
  EXPECT_EQ(guard.WaitOf(kHere, kBegin + seconds(30)), milliseconds(0));
}

TEST(LoginGuard, FewAttemptsOfAnAddressWaitAtATime) {
  cql_face::LoginGuard guard({.waiting_max = 2});
  guard.NoteFailure(kHere, kBegin);
  EXPECT_GT(guard.Enter(kHere, kBegin), milliseconds(0));
  EXPECT_GT(guard.Enter(kHere, kBegin), milliseconds(0));
  EXPECT_LT(guard.Enter(kHere, kBegin), milliseconds(0));
  EXPECT_EQ(guard.Enter(kThere, kBegin), milliseconds(0));
  EXPECT_EQ(guard.failures(), 2u);
  guard.Leave(kHere);
  EXPECT_GT(guard.Enter(kHere, kBegin), milliseconds(0));
}

// The first eight bytes of an IPv6 address are its network, of which a host has all.
TEST(LoginGuard, AddressesOfANetworkAreOne) {
  cql_face::LoginGuard guard;
  guard.NoteFailure("network1abcdefgh", kBegin);
  EXPECT_GT(guard.Enter("network101234567", kBegin), milliseconds(0));
  EXPECT_EQ(guard.Enter("network2abcdefgh", kBegin), milliseconds(0));
}

TEST(LoginGuard, ManyAddressesTakeABoundedPlace) {
  cql_face::LoginGuard guard;
  for (uint32_t i = 0; i < 10'100; ++i) {
    std::string address(4, '\0');
    StoreBigEndian32(address.data(), i);
    guard.NoteFailure(address, kBegin + milliseconds(i));
  }
  EXPECT_EQ(guard.addresses(), 10'000u);
}

RawFrame Attempt(const std::string& password) {
  return {.stream = 2,
          .opcode = kAuthResponse,
          .body = BytesBody(std::string("\0cassandra\0", 11) + password)};
}

bool LogsIn(RawCqlClient& client, const std::string& password) {
  EXPECT_TRUE(client.Ask({.opcode = kStartup, .body = StartupBody()}));
  const auto answer = client.Ask(Attempt(password));
  return answer && answer->opcode == kAuthSuccess;
}

TEST(WrongPasswords, EndTheConnection) {
  OneLogin login("cassandra", "secret");
  FakeServer server({.authenticator = login.authenticator(),
                     .logins = {.failures_max = 3, .first_delay = milliseconds(1)}});
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.Ask({.opcode = kStartup, .body = StartupBody()}));
  std::string attempts;
  for (int i = 0; i < 10; ++i) attempts += Attempt("guess").Bytes();
  ASSERT_TRUE(client.Send(attempts + Attempt("secret").Bytes()));
  for (int i = 0; i < 3; ++i) {
    const auto refused = client.Read();
    ASSERT_TRUE(refused);
    EXPECT_EQ(ErrorMessageOf(*refused), "Username and/or password are incorrect");
  }
  EXPECT_FALSE(client.Read()) << "with the third it has ended";
  EXPECT_EQ(server.face().refused_logins(), 3u);
  RawCqlClient other(server.port());
  EXPECT_TRUE(LogsIn(other, "secret")) << "after a moment";
}

TEST(WrongPasswords, AreFollowedByAttemptsThatWait) {
  OneLogin login("cassandra", "secret");
  FakeServer server(
      {.authenticator = login.authenticator(),
       .logins = {.first_delay = seconds(3600), .delay_max = seconds(3600), .waiting_max = 1}});
  RawCqlClient first(server.port());
  EXPECT_FALSE(LogsIn(first, "guess"));
  // The next one waits an hour, right or wrong.
  ASSERT_TRUE(first.Send(Attempt("secret")));
  // One more is not looked at. Its loop has come to the first before.
  RawCqlClient second(server.port());
  EXPECT_FALSE(LogsIn(second, "secret"));
  EXPECT_FALSE(second.Read());
  EXPECT_EQ(server.face().refused_logins(), 2u);
}

}  // namespace login_guard_test
}  // namespace liststore::testing
