// The requests of `liststore bench overload`: reads with an insert now and then, any of which a
// server may refuse because it has too much to do.
#ifndef LISTSTORE_BENCH_OVERLOAD_MIXED_SOURCES_H_
#define LISTSTORE_BENCH_OVERLOAD_MIXED_SOURCES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "bench/load/open_load.h"
#include "bench/peers/redis_load_target.h"
#include "bench/wire/cql_load_target.h"
#include "engine/base/big_endian.h"

namespace liststore {

// An ERROR with the code OVERLOADED. Source: native_protocol_v4.spec, section 9.
inline bool IsOverloaded(const CqlReply& reply) {
  constexpr uint8_t kError = 0x00;
  constexpr uint32_t kOverloaded = 0x1001;
  return reply.opcode == kError && reply.body.size() >= 4 &&
         LoadBigEndian32(reply.body.data()) == kOverloaded;
}

// Both sources outlive it. Which of them a reply goes to is kept by slot.
class CqlMix final : public WireSource {
 public:
  CqlMix(WireSource& selects, WireSource& inserts, size_t slots)
      : selects_(selects), inserts_(inserts), inserts_asked_(slots), refused_(slots) {}

  bool Next(size_t slot, int16_t stream, CqlRequests& requests) override {
    const bool insert = ++count_ % kOpenInsertEvery == 0;
    inserts_asked_[slot] = insert ? 1 : 0;
    return (insert ? inserts_ : selects_).Next(slot, stream, requests);
  }
  absl::Status OnReply(size_t slot, const CqlReply& reply) override {
    refused_[slot] = IsOverloaded(reply) ? 1 : 0;
    refusals_ += refused_[slot];
    if (refused_[slot] != 0) return absl::OkStatus();
    return (inserts_asked_[slot] != 0 ? inserts_ : selects_).OnReply(slot, reply);
  }
  // By slot: 1 where the last reply was OVERLOADED.
  const std::vector<uint8_t>& refused() const { return refused_; }
  uint64_t refusals() const { return refusals_; }

 private:
  WireSource& selects_;
  WireSource& inserts_;
  std::vector<uint8_t> inserts_asked_;
  std::vector<uint8_t> refused_;
  uint64_t count_ = 0;
  uint64_t refusals_ = 0;
};

// The same of Redis, which refuses nothing.
class RedisMix final : public RedisSource {
 public:
  RedisMix(RedisSource& selects, RedisSource& inserts, size_t slots)
      : selects_(selects), inserts_(inserts), inserts_asked_(slots), refused_(slots) {}

  bool Next(size_t slot, RedisRequests& requests) override {
    const bool insert = ++count_ % kOpenInsertEvery == 0;
    inserts_asked_[slot] = insert ? 1 : 0;
    return (insert ? inserts_ : selects_).Next(slot, requests);
  }
  absl::Status OnReply(size_t slot, const RedisReply& reply) override {
    return (inserts_asked_[slot] != 0 ? inserts_ : selects_).OnReply(slot, reply);
  }
  const std::vector<uint8_t>& refused() const { return refused_; }

 private:
  RedisSource& selects_;
  RedisSource& inserts_;
  std::vector<uint8_t> inserts_asked_;
  const std::vector<uint8_t> refused_;
  uint64_t count_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_OVERLOAD_MIXED_SOURCES_H_
