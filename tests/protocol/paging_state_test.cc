#include "engine/protocol/paging_state.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

#include "engine/model/partition_key.h"

namespace liststore::protocol {
namespace paging_state_test {

std::string Encoded(const PagingState& state) {
  std::string bytes;
  AppendPagingState(state, bytes);
  return bytes;
}

PagingState Example() {
  PagingState state;
  state.partition_key = "partition";
  state.clustering_key = "row";
  state.rows_remaining = 12;
  state.partition_rows = 3;
  return state;
}

TEST(PagingStateTest, ComesBack) {
  const std::string longest(kKeyBytesMax, 'k');
  PagingState unlimited = Example();
  unlimited.rows_remaining = kRowsUnlimited;
  unlimited.partition_rows = 0;
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
    EXPECT_EQ(bytes.size(), 30 + state.partition_key.size() +
                                state.clustering_key.value_or(std::string_view()).size());
    EXPECT_EQ(DecodePagingState(bytes), state);
  }
}

TEST(PagingStateTest, IsAppended) {
  std::string bytes = "before";
  AppendPagingState(Example(), bytes);
  EXPECT_EQ(DecodePagingState(std::string_view(bytes).substr(6)), Example());
}

TEST(PagingStateTest, EveryFlippedBitAndEveryCutIsRefused) {
  const std::string bytes = Encoded(Example());
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(DecodePagingState(damaged)) << "bit " << bit;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodePagingState(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(DecodePagingState(bytes + "x"));
}

// Clients may hold states across a restart of the server: the format changes with its version.
TEST(PagingStateTest, TheFormatStays) {
  const std::string bytes = Encoded(Example());
  EXPECT_EQ(bytes.substr(0, bytes.size() - 8),
            std::string("\x02\x01\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0\x03\0\0\0\x09partitionrow", 34));
}

}  // namespace paging_state_test
}  // namespace liststore::protocol
