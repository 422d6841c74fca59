// The lists of the benchmark as sorted sets of Redis: the value is the member, the timestamp in
// microseconds the score, which a double holds exactly. So an item is less than on our side: it has
// no nanoseconds, no digest, no TTL.
#ifndef LISTSTORE_BENCH_PEERS_REDIS_LISTS_H_
#define LISTSTORE_BENCH_PEERS_REDIS_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/measure/growing_lists.h"
#include "bench/measure/workload.h"
#include "bench/peers/redis_client.h"
#include "bench/peers/redis_load_target.h"

namespace liststore {

std::string RedisKeyOfList(uint32_t list);

// DataLoss unless `reply` holds the newest members of `list`, up to `limit`, newest first. Members
// of one microsecond come in the order of their bytes, the largest first.
absl::Status CheckRedisMembers(const GrowingLists& lists, uint32_t list, const RedisReply& reply,
                               size_t limit);

// One list after the other, each by one ZADD.
class RedisLoadSource final : public RedisSource {
 public:
  explicit RedisLoadSource(const GrowingLists& lists) : lists_(lists) {}
  bool Next(size_t slot, RedisRequests& requests) override;
  absl::Status OnReply(size_t slot, const RedisReply& reply) override;

 private:
  const GrowingLists& lists_;
  uint64_t next_ = 0;
};

// ZREVRANGE of the newest members of a list that `picker` draws. Of every reply the number of
// members and their lengths are looked at, and one of 64 is compared in full.
class RedisSelectSource final : public RedisSource {
 public:
  RedisSelectSource(const GrowingLists& lists, size_t slots, ListPicker picker)
      : lists_(lists), picker_(picker), lists_asked_(slots) {}
  bool Next(size_t slot, RedisRequests& requests) override;
  absl::Status OnReply(size_t slot, const RedisReply& reply) override;
  uint64_t verified() const { return verified_; }

 private:
  const GrowingLists& lists_;
  ListPicker picker_;
  std::vector<uint32_t> lists_asked_;  // by slot
  uint64_t replies_ = 0;
  uint64_t verified_ = 0;
};

// ZADD of one new member to a list that `picker` draws.
class RedisInsertSource final : public RedisSource {
 public:
  RedisInsertSource(GrowingLists& lists, ListPicker picker) : lists_(lists), picker_(picker) {}
  bool Next(size_t slot, RedisRequests& requests) override;
  absl::Status OnReply(size_t slot, const RedisReply& reply) override;

 private:
  GrowingLists& lists_;
  ListPicker picker_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_REDIS_LISTS_H_
