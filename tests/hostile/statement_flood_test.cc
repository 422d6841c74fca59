// One client that prepares new statements forever.
#include <string>

#include "tests/hostile/hostile_session_test.h"

namespace liststore::testing {
namespace statement_flood_test {

class StatementFlood : public HostileTest {
 protected:
  void SetUp() override {
    StartServer(CqlServerOptions(), "k");
    Must("CREATE TABLE k.t (p text, c text, v blob, PRIMARY KEY (p, c))");
  }

  static RawFrame Prepare(const std::string& text, int stream) {
    std::string body(4, '\0');
    StoreBigEndian32(body.data(), static_cast<uint32_t>(text.size()));
    return {.stream = static_cast<int16_t>(stream), .opcode = kPrepare, .body = body + text};
  }
  static RawFrame Execute(const std::string& id, int stream) {
    std::string body(2, '\0');
    StoreBigEndian16(body.data(), static_cast<uint16_t>(id.size()));
    return {.stream = static_cast<int16_t>(stream),
            .opcode = kExecute,
            .body = body + id + std::string("\0\1\0", 3)};
  }
  static std::string IdOf(const std::optional<RawFrame>& answer) {
    EXPECT_TRUE(answer && answer->opcode == kResult);
    return answer ? answer->body.substr(6, LoadBigEndian16(answer->body.data() + 4)) : "";
  }
};

TEST_F(StatementFlood, PushesOutNothingThatOthersUse) {
  RawCqlClient user(server_->cql_port());
  RawCqlClient flood(server_->cql_port());
  ASSERT_TRUE(user.StartUp() && flood.StartUp());
  // More than a connection remembers by itself.
  std::vector<std::string> ids;
  for (int i = 0; i < 50; ++i) {
    ids.push_back(
        IdOf(user.Ask(Prepare("SELECT c FROM k.t WHERE p = 'u" + std::to_string(i) + "'", 1))));
  }
  const auto use_all = [&] {
    for (const std::string& id : ids) {
      const auto answer = user.Ask(Execute(id, 1));
      ASSERT_TRUE(answer);
      ASSERT_EQ(answer->opcode, kResult) << "UNPREPARED";
    }
  };
  use_all();
  use_all();
  // By their number, and by their bytes: 2 MiB each and more.
  const std::string many = Repeated("v", 6'000);
  for (int round = 0; round < 24; ++round) {
    std::string bytes;
    for (int i = 0; i < 500; ++i) {
      const std::string number = std::to_string(500 * round + i);
      bytes += Prepare("SELECT v FROM k.t WHERE p = 'f" + number + "'", 1).Bytes();
    }
    ASSERT_TRUE(flood.Send(bytes));
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(ReadAnswer(flood));
    const std::string number = std::to_string(round);
    for (int i = 0; i < 2; ++i) {
      const std::string text =
          "SELECT " + many + " FROM k.t WHERE p = '" + number + std::to_string(i) + "'";
      const std::string id = IdOf(flood.Ask(Prepare(text, 1)));
      ASSERT_TRUE(flood.Ask(Execute(id, 1)));
    }
    if (round % 8 == 7) use_all();
  }
}

// Texts of 200 KB whose plans take some 5 MB each: neither the cache nor the journal, which holds
// what its records are about, keeps more than its part.
TEST_F(StatementFlood, LargeStatementsTakeWhatTheyMay) {
  CqlServerOptions options;
  options.journal_entries = 10'000;
  options.client_memory_bytes = 64 * kMiB;
  StartServer(options, "k");
  Must("CREATE TABLE k.t (p text, c text, v blob, PRIMARY KEY (p, c))");
  RawCqlClient flood(server_->cql_port());
  ASSERT_TRUE(flood.StartUp());
  const PeakMemory memory;
  const std::string many = Repeated("v", 15'000);
  for (int i = 0; i < 60; ++i) {
    const std::string text = "SELECT " + many + " FROM k.t WHERE p = '" + std::to_string(i) + "'";
    const std::string id = IdOf(flood.Ask(Prepare(text, 1)));
    const auto answer = flood.Ask(Execute(id, 1));
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->opcode, kResult);
  }
  EXPECT_LT(memory.judged_bytes(), 80 * kMiB);
  const auto held = [&](const std::string& kind) {
    return cql::DecodeInteger(
        Cell("SELECT bytes FROM liststore.memory WHERE kind = '" + kind + "'"));
  };
  EXPECT_LE(held("statements"), static_cast<int64_t>(8 * kMiB));
  EXPECT_LE(held("journal"), static_cast<int64_t>(16 * kMiB));
  EXPECT_GT(held("journal"), static_cast<int64_t>(4 * kMiB));
}

}  // namespace statement_flood_test
}  // namespace liststore::testing
