// Token: Cassandra's Murmur3 of a serialised partition key. It is what drivers compute, what
// token() returns, and what places partitions (shard, lane, directory slot); there is no second
// hash. Source: Cassandra `MurmurHash.hash3_x64_128`, first half, seed 0, tail bytes sign-extended.
#ifndef LISTSTORE_ENGINE_MODEL_TOKEN_H_
#define LISTSTORE_ENGINE_MODEL_TOKEN_H_

#include <compare>
#include <cstdint>
#include <string_view>

namespace liststore {

struct Token {
  int64_t value = 0;
  constexpr auto operator<=>(const Token&) const = default;
  // The ring starts at -2^63: the same order as unsigned numbers.
  constexpr uint64_t biased() const { return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63); }
  static constexpr Token FromBiased(uint64_t biased) {
    return {static_cast<int64_t>(biased ^ (uint64_t{1} << 63))};
  }
};

// Token of a partition key in serialised form (model/partition_key.h). A hash of -2^63 counts as
// 2^63 - 1. 27 ns for 58 bytes.
Token TokenOf(std::string_view partition_key);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TOKEN_H_
