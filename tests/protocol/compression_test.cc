#include "engine/protocol/compression.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

#include "engine/base/random.h"
#include "engine/protocol/response.h"
#include "tests/protocol/wire.h"
#include "tests/support/seed.h"

namespace liststore::protocol {
namespace compression_test {

constexpr Compression kBoth[] = {Compression::kLz4, Compression::kSnappy};

TEST(CompressionTest, Names) {
  EXPECT_EQ(ParseCompression("LZ4"), Compression::kLz4);
  EXPECT_EQ(ParseCompression("snappy"), Compression::kSnappy);
  EXPECT_FALSE(ParseCompression("zstd"));
  EXPECT_FALSE(ParseCompression(""));
}

TEST(CompressionTest, GoldenBytes) {
  OutputBuffer body;
  EXPECT_FALSE(DecompressBody(Compression::kLz4, Bytes("00000005 50 68656c6c6f"), 100, body));
  EXPECT_EQ(body.view(), "hello");
  EXPECT_FALSE(DecompressBody(Compression::kLz4, Bytes("00000000 00"), 100, body));
  EXPECT_EQ(body.view(), "") << "what was there before is gone";
  EXPECT_FALSE(DecompressBody(Compression::kLz4, Bytes("00000000"), 100, body));
  EXPECT_FALSE(DecompressBody(Compression::kSnappy, Bytes("05 10 68656c6c6f"), 100, body));
  EXPECT_EQ(body.view(), "hello");
  OutputBuffer out;
  AppendCompressed(Compression::kLz4, "", out);
  EXPECT_EQ(Hex(out), "0000000000");
  out.Clear();
  AppendCompressed(Compression::kLz4, "hello", out);
  EXPECT_EQ(Hex(out), Hex("00000005 50 68656c6c6f"));
}

TEST(CompressionTest, WhatIsCompressedComesBack) {
  Random rng(testing::TestSeed());
  for (const Compression compression : kBoth) {
    for (const size_t bytes : {0, 1, 17, 511, 4096, 100'000}) {
      std::string text;
      while (text.size() < bytes) text.push_back(static_cast<char>(rng.Below(4)));
      OutputBuffer compressed;
      AppendCompressed(compression, text, compressed);
      OutputBuffer body;
      ASSERT_FALSE(DecompressBody(compression, compressed.view(), kFrameBodyBytesMax, body));
      EXPECT_EQ(body.view(), text);
      if (bytes > 0) {
        EXPECT_TRUE(
            DecompressBody(compression, compressed.view(), static_cast<uint32_t>(bytes - 1), body))
            << "the bound is the body's";
      }
      for (size_t cut = 0; cut < std::min<size_t>(compressed.size(), 200); ++cut) {
        // Must not crash; LZ4 and Snappy both notice that something is missing.
        EXPECT_TRUE(DecompressBody(compression, compressed.view().substr(0, cut),
                                   kFrameBodyBytesMax, body) ||
                    bytes == 0);
      }
    }
  }
}

TEST(CompressionTest, RefusesWithoutTakingMemory) {
  struct Row {
    std::string_view rule;
    Compression compression;
    std::string_view hex;
    std::string_view message;
  };
  const Row table[] = {
      {"nothing agreed on", Compression::kNone, "00", "Unknown compression algorithm"},
      {"no length", Compression::kLz4, "0000", "truncated frame: expected 4 bytes, length is 2"},
      {"a bomb", Compression::kLz4, "7fffffff 00",
       "compressed frame: the body would have 2147483647 bytes, at most 268435456 are allowed"},
      {"a bomb of Snappy's", Compression::kSnappy, "81808080 01",
       "compressed frame: the body would have 268435457 bytes, at most 268435456 are allowed"},
      {"shorter than said", Compression::kLz4, "00000006 50 68656c6c6f",
       "compressed frame: malformed LZ4 block"},
      {"longer than said", Compression::kLz4, "00000004 50 68656c6c6f",
       "compressed frame: malformed LZ4 block"},
      {"an offset before the beginning", Compression::kLz4, "00000009 10 61 0500 00",
       "compressed frame: malformed LZ4 block"},
      {"no Snappy length", Compression::kSnappy, "", "compressed frame: malformed Snappy block"},
      {"a Snappy length without end", Compression::kSnappy, "ffffffffffff",
       "compressed frame: malformed Snappy block"},
      {"a Snappy block cut off", Compression::kSnappy, "05 10 6865",
       "compressed frame: malformed Snappy block"},
  };
  for (const Row& row : table) {
    OutputBuffer body;
    const std::optional<ProtocolError> error =
        DecompressBody(row.compression, Bytes(row.hex), kFrameBodyBytesMax, body);
    ASSERT_TRUE(error) << row.rule;
    EXPECT_EQ(error->message, row.message) << row.rule;
    EXPECT_EQ(error->code, ErrorCode::kProtocolError) << row.rule;
    EXPECT_LE(body.capacity(), 4096u) << row.rule;
  }
}

TEST(CompressFrameTest, ReplacesTheBodyOfTheLastFrame) {
  const std::string keyspace(2000, 'k');
  for (const Compression compression : kBoth) {
    OutputBuffer plain;
    EncodeSetKeyspace(plain, {}, keyspace);
    OutputBuffer out;
    OutputBuffer scratch;
    EncodeReady(out, {});
    const size_t frame = out.size();
    EncodeSetKeyspace(out, {}, keyspace);
    CompressFrame(compression, frame, out, scratch);
    EXPECT_LT(out.size(), 500u);
    EXPECT_EQ(out.view()[frame + 1], kFrameCompressed);
    EXPECT_EQ(out.BigEndian32At(frame + 5), out.size() - frame - kFrameHeaderBytes);
    OutputBuffer body;
    ASSERT_FALSE(DecompressBody(compression, out.ViewFrom(frame + kFrameHeaderBytes),
                                kFrameBodyBytesMax, body));
    EXPECT_EQ(body.view(), plain.ViewFrom(kFrameHeaderBytes));
  }
}

TEST(CompressFrameTest, LeavesAloneWhatWouldNotShrink) {
  Random rng(testing::TestSeed());
  std::string noise;
  while (noise.size() < 3000) noise.push_back(static_cast<char>(rng.Below(256)));
  for (const std::string& text : {noise, std::string(kCompressedBodyBytesMin - 7, 'x')}) {
    OutputBuffer out;
    OutputBuffer scratch;
    EncodeSetKeyspace(out, {}, text);
    const std::string before(out.view());
    CompressFrame(Compression::kLz4, 0, out, scratch);
    EXPECT_EQ(out.view(), before);
    CompressFrame(Compression::kNone, 0, out, scratch);
    EXPECT_EQ(out.view(), before);
  }
}

}  // namespace compression_test
}  // namespace liststore::protocol
