#include "engine/protocol/paging_state.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

#include "engine/model/partition_key.h"

namespace liststore::protocol {
namespace paging_state_test {

constexpr uint64_t kDigest = 0x1122334455667788;

std::string Encoded(const PagingState& state) {
  std::string bytes;
  AppendPagingState(state, bytes);
  return bytes;
}

PagingState Example() {
  PagingState state;
  state.statement_digest = kDigest;
  state.partition_key = "partition";
  state.clustering_key = "row";
  state.rows_remaining = 12;
  state.partition_rows_remaining = 3;
  return state;
}

TEST(PagingStateTest, ComesBack) {
  const std::string longest(kKeyBytesMax, 'k');
  PagingState unlimited = Example();
  unlimited.rows_remaining = kRowsUnlimited;
  unlimited.partition_rows_remaining = kRowsUnlimited;
  PagingState no_row = Example();
  no_row.clustering_key = std::nullopt;
  PagingState empty_row = Example();
  empty_row.clustering_key = "";
  PagingState empty = Example();
  empty.partition_key = "";
  PagingState large = Example();
  const std::string longest_partition(kSerializedKeyBytesMax, 'p');
  large.partition_key = longest_partition;
  large.clustering_key = longest;
  for (const PagingState& state : {Example(), unlimited, no_row, empty_row, empty, large}) {
    const std::string bytes = Encoded(state);
    EXPECT_EQ(bytes.size(), 38 + state.partition_key.size() +
                                state.clustering_key.value_or(std::string_view()).size());
    PagingState decoded;
    const std::optional<ProtocolError> error = DecodePagingState(bytes, kDigest, decoded);
    EXPECT_FALSE(error) << error->message;
    EXPECT_EQ(decoded, state);
  }
}

TEST(PagingStateTest, IsAppended) {
  std::string bytes = "before";
  AppendPagingState(Example(), bytes);
  PagingState decoded;
  EXPECT_FALSE(DecodePagingState(std::string_view(bytes).substr(6), kDigest, decoded));
}

TEST(PagingStateTest, EveryFlippedBitAndEveryCutIsRefused) {
  const std::string bytes = Encoded(Example());
  PagingState decoded;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const std::optional<ProtocolError> error = DecodePagingState(damaged, kDigest, decoded);
    ASSERT_TRUE(error) << "bit " << bit;
    EXPECT_EQ(error->message, "Invalid value for the paging state");
    EXPECT_EQ(error->code, ErrorCode::kProtocolError);
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(DecodePagingState(std::string_view(bytes).substr(0, size), kDigest, decoded));
  }
  EXPECT_TRUE(DecodePagingState(bytes + "x", kDigest, decoded));
}

TEST(PagingStateTest, AnotherStatementsIsRefused) {
  PagingState decoded;
  const std::optional<ProtocolError> error =
      DecodePagingState(Encoded(Example()), kDigest + 1, decoded);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "The paging state belongs to another statement");
}

// Clients may hold states across a restart of the server: the format changes with its version.
TEST(PagingStateTest, TheFormatStays) {
  const std::string bytes = Encoded(Example());
  EXPECT_EQ(bytes.substr(0, bytes.size() - 8),
            std::string("\x01\x01\x11\x22\x33\x44\x55\x66\x77\x88"
                        "\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0\x03\0\0\0\x09partitionrow",
                        42));
}

}  // namespace paging_state_test
}  // namespace liststore::protocol
