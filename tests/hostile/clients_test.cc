// Clients that take their time, come in numbers, or have much held for them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/big_endian.h"
#include "tests/faces/cql/fake_handler.h"
#include "tests/support/one_login.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/resident_memory.h"

namespace liststore::testing {
namespace clients_test {

using std::chrono::seconds;

constexpr uint8_t kStartup = 0x01, kAuthenticate = 0x03, kOptions = 0x05, kSupported = 0x06,
                  kQuery = 0x07, kResult = 0x08, kAuthResponse = 0x0f;
constexpr int32_t kOverloaded = 0x1001;
constexpr size_t kMiB = size_t{1} << 20;

// A clock that a test moves. It begins late enough for everything to be over.
class MovedClock {
 public:
  network::Instant Now() const { return network::Instant(seconds(seconds_.load())); }
  void Advance(int by) { seconds_ += by; }

 private:
  std::atomic<int64_t> seconds_ = 1'000'000;
};

class Clients : public ::testing::Test {
 protected:
  void Start(network::ServerOptions options, cql_face::CqlFaceOptions face = {}) {
    options.now = [this] { return clock_.Now(); };
    server_ = std::make_unique<FakeServer>(std::move(face), options);
  }
  void TearDown() override { server_.reset(); }

  std::unique_ptr<RawCqlClient> Ready(int receive_buffer_bytes = 0) {
    auto client =
        std::make_unique<RawCqlClient>(server_->port(), "127.0.0.1", 0, receive_buffer_bytes);
    EXPECT_TRUE(client->StartUp());
    return client;
  }
  // Later, as far as the server knows; `ready`, a client of its one loop, is answered.
  void Advance(int by, RawCqlClient& ready) {
    clock_.Advance(by);
    server_->server().CheckTimes();
    ExpectAnswer(ready);
  }
  static void ExpectAnswer(RawCqlClient& client) {
    const auto answer = client.Ask({.stream = 1, .opcode = kOptions});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->opcode, kSupported);
  }
  static std::string QueryBytes(const std::string& text) {
    return RawFrame{.stream = 1, .opcode = kQuery, .body = QueryBody(text)}.Bytes();
  }
  // The beginning of a request whose body has `bytes`.
  static std::string Claim(uint32_t bytes, size_t sent) {
    std::string frame = RawFrame{.stream = 7, .opcode = kQuery}.Bytes();
    StoreBigEndian32(frame.data() + 5, bytes);
    return frame + std::string(sent, 'q');
  }
  network::ClientCounters& counters() { return server_->server().counters(); }
  uint64_t held() const { return server_->server().budget().held_bytes(); }

  MovedClock clock_;
  OneLogin login_{"u", "p"};
  std::unique_ptr<FakeServer> server_;
};

TEST_F(Clients, DoNotStayInTheHandshake) {
  Start({.limits = {.handshake_time = seconds(10)}}, {.authenticator = login_.authenticator()});
  RawCqlClient silent(server_->port());
  RawCqlClient asks_only(server_->port());
  RawCqlClient has_no_password(server_->port());
  server_->AwaitConnections(3);
  ASSERT_TRUE(asks_only.Ask({.opcode = kOptions}));
  ASSERT_TRUE(has_no_password.Ask({.opcode = kStartup, .body = StartupBody()}));
  Advance(10, asks_only);
  EXPECT_EQ(server_->server().connection_count(), 3u);
  RawCqlClient later(server_->port());
  server_->AwaitConnections(4);
  clock_.Advance(1);
  server_->server().CheckTimes();
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_EQ(has_no_password.ReadAll(), "");
  server_->AwaitConnections(1);
  EXPECT_EQ(counters().ended_in_handshake, 3u);
  ExpectAnswer(later);
}

TEST_F(Clients, ConnectWhileALoopIsBusy) {
  Start({.loops = 2});
  const auto busy = Ready();
  ASSERT_TRUE(busy->Send(QueryBytes("wait")));
  server_->handler().AwaitWaiting();
  const auto other = Ready();  // of the next loop
  ExpectAnswer(*other);
  server_->handler().Release();
  ASSERT_TRUE(busy->Read());
}

TEST_F(Clients, StayIdleForAsLongAsTheyMay) {
  Start({.limits = {.idle_time = seconds(60)}});
  const auto idle = Ready();
  const auto busy = Ready();
  Advance(40, *busy);
  Advance(20, *busy);
  EXPECT_EQ(server_->server().connection_count(), 2u);
  Advance(1, *busy);
  EXPECT_EQ(idle->ReadAll(), "");
  server_->AwaitConnections(1);
  EXPECT_EQ(counters().ended_idle, 1u);
  ExpectAnswer(*busy);
}

TEST_F(Clients, StayIdleForEver) {
  Start({});
  const auto idle = Ready();
  const auto other = Ready();
  Advance(10'000'000, *other);
  ExpectAnswer(*idle);
}

TEST_F(Clients, ThatTakeNothingAreDropped) {
  Start({.limits = {.unread_time = seconds(60)}});
  const auto deaf = Ready(/*receive_buffer_bytes=*/64 << 10);
  const auto other = Ready();
  ASSERT_TRUE(deaf->Send(QueryBytes("bytes 50000000")));
  ASSERT_TRUE(deaf->ReadBytes(1)) << "the rest waits";
  Advance(60, *other);
  EXPECT_EQ(server_->server().connection_count(), 2u);
  EXPECT_GT(held(), 40'000'000u);
  Advance(1, *other);
  server_->AwaitConnections(1);
  EXPECT_EQ(counters().ended_not_reading, 1u);
  EXPECT_EQ(held(), 0u);
}

TEST_F(Clients, AreToldThatThereAreTooMany) {
  Start({.connections = {.connections_max = 3, .per_address_max = 3}});
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(Ready());
  for (const uint8_t version : {uint8_t{3}, uint8_t{4}}) {
    RawCqlClient refused(server_->port());
    const auto answer =
        refused.Ask({.version = version, .stream = 5, .opcode = kStartup, .body = StartupBody()});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->version, 0x80 | version);
    EXPECT_EQ(answer->stream, 5);
    EXPECT_EQ(ErrorCodeOf(*answer), kOverloaded);
    EXPECT_EQ(ErrorMessageOf(*answer),
              "Too many connections: there are 3, and max_connections of the server is 3");
    EXPECT_FALSE(refused.Read()) << "it has ended";
  }
  EXPECT_EQ(counters().refused_connections, 2u);
  ExpectAnswer(*clients[0]);
  clients.pop_back();
  server_->AwaitConnections(2);
  ExpectAnswer(*Ready());
}

TEST_F(Clients, ThatAreRefusedDoNotStay) {
  Start({.connections = {.connections_max = 1, .per_address_max = 1}});
  const auto client = Ready();
  // Some are told when they ask; more than can wait for that are closed at once.
  std::vector<std::unique_ptr<RawCqlClient>> refused;
  for (int i = 0; i < 100; ++i) {
    refused.push_back(std::make_unique<RawCqlClient>(server_->port()));
  }
  while (counters().refused_connections != 100) std::this_thread::yield();
  server_->AwaitConnections(65);
  ExpectAnswer(*client);
  Advance(11, *client);
  server_->AwaitConnections(1);
  for (const auto& one : refused) EXPECT_EQ(one->ReadAll(), "");
}

TEST_F(Clients, SendLittleBeforeTheyHaveLoggedIn) {
  Start({}, {.authenticator = login_.authenticator()});
  RawCqlClient client(server_->port());
  const auto asked = client.Ask({.opcode = kStartup, .body = StartupBody()});
  ASSERT_TRUE(asked);
  ASSERT_EQ(asked->opcode, kAuthenticate);
  RawFrame large{.stream = 3, .opcode = kAuthResponse, .body = std::string(65'537, 'x')};
  const auto refused = client.Ask(large);
  ASSERT_TRUE(refused);
  EXPECT_EQ(ErrorMessageOf(*refused),
            "request size too large (frame size 65537; allowed before the client has logged in "
            "65536)");
  EXPECT_FALSE(client.Read());
  RawCqlClient other(server_->port());
  ASSERT_TRUE(other.Ask({.opcode = kStartup, .body = StartupBody()}));
  const auto success =
      other.Ask({.opcode = kAuthResponse, .body = BytesBody(std::string("\0u\0p", 4))});
  ASSERT_TRUE(success);
  const auto answer = other.Ask(
      {.stream = 1, .opcode = kQuery, .body = QueryBody("void" + std::string(kMiB, ' '))});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->opcode, kResult);
}

// 24 clients that claim what together is more than there is, and send the half of it.
TEST_F(Clients, ThatClaimMuchAreNotHeardBeforeThereIsRoom) {
  constexpr uint64_t kBudget = 16 * kMiB;
  Start({.limits = {.input_bytes_max = 4 * kMiB}, .client_memory_bytes = kBudget});
  const auto other = Ready();
  const PeakMemory memory;
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  for (int i = 0; i < 24; ++i) {
    clients.push_back(Ready());
    clients.back()->SendSome(Claim(4 * kMiB, 2 * kMiB));
    ExpectAnswer(*other);
  }
  for (int i = 0; i < 100; ++i) ExpectAnswer(*other);
  EXPECT_GT(held(), kBudget / 4);
  EXPECT_LE(held(), kBudget);
  EXPECT_EQ(server_->server().connection_count(), 25u);
  EXPECT_LT(memory.judged_bytes(), 3 * kBudget);
  // Who holds most goes, one by one, until a well-behaved one is heard out.
  const auto patient = Ready();
  std::optional<RawFrame> answer;
  std::atomic<bool> is_over = false;
  std::thread uploader([&] {
    answer = other->Query("void" + std::string(kMiB, ' '));
    is_over = true;
  });
  while (!is_over) Advance(3, *patient);
  uploader.join();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->opcode, kResult);
}

TEST_F(Clients, ThatHoldMostGoWhenThereIsNoRoom) {
  constexpr uint64_t kBudget = 16 * kMiB;
  Start({.client_memory_bytes = kBudget});
  const auto other = Ready();
  std::vector<std::unique_ptr<RawCqlClient>> deaf;
  for (int i = 0; i < 4; ++i) {
    deaf.push_back(Ready(/*receive_buffer_bytes=*/64 << 10));
    ASSERT_TRUE(deaf.back()->Send(QueryBytes("bytes " + std::to_string(30 * kMiB))));
    ASSERT_TRUE(deaf.back()->ReadBytes(1));
    // It is alone in having too much, and has gone when others have been answered.
    while (server_->server().connection_count() != 1) ExpectAnswer(*other);
    EXPECT_EQ(counters().ended_for_memory, static_cast<uint64_t>(i + 1));
    EXPECT_EQ(held(), 0u);
  }
  const auto answer = other->Query("void");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->opcode, kResult);
}

TEST_F(Clients, AreToldThatTooMuchIsHeld) {
  constexpr uint64_t kBudget = 64 * kMiB;
  Start({.client_memory_bytes = kBudget});
  const auto other = Ready();
  std::vector<std::unique_ptr<RawCqlClient>> deaf;
  const auto add = [&](size_t answer_bytes) {
    deaf.push_back(Ready(/*receive_buffer_bytes=*/64 << 10));
    ASSERT_TRUE(deaf.back()->Send(QueryBytes("bytes " + std::to_string(answer_bytes))));
    ASSERT_TRUE(deaf.back()->ReadBytes(1));
    ExpectAnswer(*other);
  };
  for (int i = 0; i < 2; ++i) add(30 * kMiB);
  // What the sockets take is the system's business.
  while (held() <= kBudget / 8 * 7) add(6 * kMiB);
  ASSERT_LE(held(), kBudget);
  ASSERT_TRUE(other->Send(QueryBytes("void")));
  const auto refused = other->Read();
  ASSERT_TRUE(refused);
  EXPECT_EQ(ErrorCodeOf(*refused), kOverloaded);
  EXPECT_EQ(ErrorMessageOf(*refused),
            "Too much memory is held for clients: more than three quarters of 67108864 bytes "
            "(client_memory); clients that read their answers sooner, or ask for smaller pages, "
            "hold less");
  EXPECT_EQ(counters().refused_requests, 1u);
  EXPECT_EQ(counters().ended_for_memory, 0u);
  deaf.clear();
  server_->AwaitConnections(1);
  EXPECT_EQ(held(), 0u);
  const auto answer = other->Query("void");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->opcode, kResult);
}

}  // namespace clients_test
}  // namespace liststore::testing
