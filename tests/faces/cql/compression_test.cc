#include <gtest/gtest.h>

#include <string>

#include "engine/protocol/compression.h"
#include "tests/faces/cql/fake_handler.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {
namespace compression_test {

using protocol::Compression;

constexpr uint8_t kCompressed = 0x01;
constexpr uint8_t kQuery = 0x07;

class CompressionTest : public ::testing::TestWithParam<const char*> {
 protected:
  Compression compression() const { return *protocol::ParseCompression(GetParam()); }

  RawFrame CompressedQuery(std::string_view text, int16_t stream) const {
    OutputBuffer body;
    protocol::AppendCompressed(compression(), QueryBody(text), body);
    return {
        .flags = kCompressed, .stream = stream, .opcode = kQuery, .body = std::string(body.view())};
  }

  std::string BodyOf(const RawFrame& frame) const {
    if ((frame.flags & kCompressed) == 0) return frame.body;
    OutputBuffer body;
    const auto error = protocol::DecompressBody(compression(), frame.body, 256u << 20, body);
    EXPECT_FALSE(error);
    return std::string(body.view());
  }
};

TEST_P(CompressionTest, BothWays) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp({{"CQL_VERSION", "3.0.0"}, {"COMPRESSION", GetParam()}}));
  std::string bytes;
  for (int16_t i = 0; i < 100; ++i) {
    bytes += CompressedQuery("bytes " + std::to_string(i * 100), i).Bytes();
  }
  ASSERT_TRUE(client.Send(bytes));
  for (size_t i = 0; i < 100; ++i) {
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->stream, static_cast<int16_t>(i));
    const bool compressed = (answer->flags & kCompressed) != 0;
    EXPECT_EQ(compressed, i * 100 >= protocol::kCompressedBodyBytesMin) << i;
    EXPECT_EQ(BodyOf(*answer), std::string(i * 100, 'x'));
  }
}

TEST_P(CompressionTest, RequestsMayComePlain) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp({{"CQL_VERSION", "3.0.0"}, {"COMPRESSION", GetParam()}}));
  const auto answer = client.Query("bytes 5000");
  ASSERT_TRUE(answer);
  EXPECT_LT(answer->body.size(), 5000u);
  EXPECT_EQ(BodyOf(*answer), std::string(5000, 'x'));
}

TEST_P(CompressionTest, LargeRequestsAndWhatIsNoCompressedBody) {
  FakeServer server;
  RawCqlClient client(server.port());
  ASSERT_TRUE(client.StartUp({{"CQL_VERSION", "3.0.0"}, {"COMPRESSION", GetParam()}}));
  std::string noise(300'000, 'q');
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>('a' + i * i % 23 % 16);
  ASSERT_TRUE(client.Send(CompressedQuery("void" + noise, 1)));
  EXPECT_EQ(client.Read()->opcode, 0x08);
  const auto error = client.Ask(
      {.flags = kCompressed, .stream = 3, .opcode = kQuery, .body = "\x7f\xff\xff\xff garbage"});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->opcode, 0x00);
  EXPECT_EQ(error->stream, 3);
  EXPECT_TRUE(client.Query("void")) << "the connection stays";
}

INSTANTIATE_TEST_SUITE_P(Algorithms, CompressionTest, ::testing::Values("lz4", "snappy"));

TEST(Compression, MustBeAgreedOn) {
  FakeServer server;
  {
    RawCqlClient client(server.port());
    EXPECT_FALSE(client.StartUp({{"COMPRESSION", "brotli"}}));
    EXPECT_TRUE(client.StartUp()) << "the connection stays";
    const auto error = client.Ask({.flags = kCompressed, .opcode = kQuery, .body = "x"});
    ASSERT_TRUE(error);
    EXPECT_EQ(ErrorMessageOf(*error), "Unknown compression algorithm");
  }
}

}  // namespace compression_test
}  // namespace liststore::testing
