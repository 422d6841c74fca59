// Requests that become more in memory than they were on the wire.
#include <string>

#include "tests/hostile/hostile_session_test.h"

namespace liststore::testing {
namespace large_requests_test {

class LargeRequests : public HostileTest {
 protected:
  void SetUp() override {
    StartServer(CqlServerOptions(), "k");
    Must("CREATE TABLE k.t (p int PRIMARY KEY)");
  }

  // A batch of statements with so many nulls each, of which each is four bytes.
  static RawFrame Batch(uint16_t statements, uint16_t nulls) {
    const std::string text = "INSERT INTO k.t (p) VALUES (1)";
    std::string one(1 + 4, '\0');
    StoreBigEndian32(one.data() + 1, static_cast<uint32_t>(text.size()));
    one += text + std::string(2, '\0');
    StoreBigEndian16(one.data() + one.size() - 2, nulls);
    one += std::string(4 * size_t{nulls}, '\xff');
    std::string body(1 + 2, '\0');
    StoreBigEndian16(body.data() + 1, statements);
    for (uint16_t i = 0; i < statements; ++i) body += one;
    return {.stream = 1, .opcode = 0x0d, .body = body + std::string("\0\1\0", 3)};
  }
};

TEST_F(LargeRequests, HaveAsManyValuesAsCanBeKept) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  const std::string large = Batch(110, 65'535).Bytes();
  const PeakMemory memory;
  ASSERT_TRUE(client.Send(large));
  const auto refused = client.Read();
  ASSERT_TRUE(refused);
  EXPECT_EQ(ErrorMessageOf(*refused), "Batch too large: it has more than 4194304 values");
  // The request, and its values while their array grows.
  EXPECT_LT(memory.judged_bytes(), 64 * kMiB + 300 * kMiB);
  const auto other = client.Ask(Batch(1, 3));
  ASSERT_TRUE(other);
  EXPECT_NE(ErrorMessageOf(*other).find("bound variables"), std::string::npos);
}

// Where there is little memory for requests that are dealt with.
TEST_F(LargeRequests, BringWhatFitsIntoTheMemoryForWork) {
  CqlServerOptions options;
  options.work_memory_bytes = 8 * kMiB;
  StartServer(options, "k");
  Must("CREATE TABLE k.t (p int PRIMARY KEY, l list<int>)");
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  const auto refusal = [&](const RawFrame& frame) {
    const auto answer = client.Ask(frame);
    return answer && answer->opcode == kError ? ErrorMessageOf(*answer) : "no error";
  };
  EXPECT_EQ(refusal(Batch(2, 65'535)), "Batch too large: it has more than 65536 values");
  EXPECT_EQ(refusal(Batch(8193, 0)), "Batch too large: it has more than 8192 statements");
  EXPECT_NE(refusal(Query("SELECT " + Repeated("p", 8'200) + " FROM k.t", 1)).find("16384 tokens"),
            std::string::npos);
  const auto list = [](uint32_t count) {
    std::string value(4 + 8 * size_t{count}, '\0');
    StoreBigEndian32(value.data(), count);
    for (uint32_t i = 0; i < count; ++i) {
      StoreBigEndian32(value.data() + 4 + 8 * size_t{i}, 4);
    }
    return value;
  };
  EXPECT_EQ(Refusal("UPDATE k.t SET l = ? WHERE p = 1", {{list(65'537)}}),
            "Batch too large: it writes more than 65536 cells and elements");
  EXPECT_EQ(Refusal("UPDATE k.t SET l = ? WHERE p = 1", {{list(30'000)}}), "");
  EXPECT_EQ(
      Refusal("INSERT INTO k.t JSON ?", {{"{\"p\": 2, \"l\": [" + Repeated("1", 65'536) + "]}"}}),
      "The JSON has more than 65536 values");
  EXPECT_EQ(
      Refusal("INSERT INTO k.t JSON ?", {{"{\"p\": 2, \"l\": [" + Repeated("1", 30'000) + "]}"}}),
      "");
  EXPECT_EQ(cql::DecodeInteger(Cell("SELECT count(*) FROM k.t")), 2);
}

}  // namespace large_requests_test
}  // namespace liststore::testing
