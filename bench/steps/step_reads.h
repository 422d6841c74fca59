// A read of the newest ten items in steps: each does all that the one before does, and one thing more,
// with the store's own parts. The last one is the store.
#ifndef LISTSTORE_BENCH_STEPS_STEP_READS_H_
#define LISTSTORE_BENCH_STEPS_STEP_READS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "bench/measure/workload.h"
#include "bench/steps/step_lists.h"
#include "engine/base/big_endian.h"
#include "engine/base/cacheline.h"
#include "engine/base/check.h"
#include "engine/lists/list_items_sink.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/read_spec.h"
#include "engine/model/token.h"
#include "liststore/list_item.h"

namespace liststore {

enum class Step {
  kBlock,      // rows at a place that is known by the list's number, copied
  kToken,      // the token of the list's key
  kDirectory,  // the place looked up by it
  kKey,        // the whole key compared
  kLane,       // a lane taken and let go
  kExpiry,     // the earliest expiry of a row
  kBound,      // a limit and a bound, and whether rows lie as they are sent
  kText,       // beside the others: in place of the copy, rows as an answer of CQL has them
  kSink,       // rows to a sink, and into a result that the caller keeps
  kTable,      // the storage's table
};

struct StepRequest {
  uint32_t number = 0;
  std::string_view key;        // of the partition
  std::string_view entity_id;  // the end of the key
};

// One thread.
template <Step kStep>
class StepReads {
 public:
  StepReads(StepLists& lists, int64_t now_seconds) : lists_(lists), now_seconds_(now_seconds) {
    spec_.limit = kStepLimit;
    items_.resize(kBenchGroup);
  }

  // Returns the first byte of the newest row.
  uint8_t Alone(const StepRequest& request) {
    Locate(0, request);
    hints_[0] = 0;  // nothing was asked for
    Take(0, request);
    return FirstByte(0);
  }
  void Group(std::span<const StepRequest> requests) {
    for (size_t i = 0; i < requests.size(); ++i) {
      Locate(i, requests[i]);
      PrefetchPlace(i, requests[i]);
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      hints_[i] = WithLane(i, [&] { return HintOf(i, requests[i]); });
    }
    for (size_t i = 0; i < requests.size(); ++i) Prefetch(hints_[i], requests[i]);
    for (size_t i = 0; i < requests.size(); ++i) Take(i, requests[i]);
  }
  uint8_t FirstByte(size_t i) const {
    if constexpr (kStep >= Step::kSink) {
      return static_cast<uint8_t>(items_[i][0].timestamp_nanos);
    } else {
      return static_cast<uint8_t>(copies_[i][0]);
    }
  }

 private:
  void Locate(size_t i, const StepRequest& request) {
    if constexpr (kStep >= Step::kToken) {
      tokens_[i] = TokenOf(request.key);
      asm volatile("" : : "r"(tokens_[i].value));  // it is wanted, whatever becomes of it
    }
    if constexpr (kStep >= Step::kDirectory) {
      const shard::Router::Place place = lists_.router().PlaceOf(tokens_[i]);
      lanes_[i] = &lists_.lane(place.lane);
      addresses_[i] = place.address;
    }
  }
  [[gnu::always_inline]] void PrefetchPlace(size_t i, const StepRequest& request) {
    if constexpr (kStep >= Step::kTable) {
      lanes_[i]->table.PrefetchSlot(addresses_[i]);
    } else if constexpr (kStep >= Step::kDirectory) {
      lanes_[i]->directory.PrefetchSlot(addresses_[i]);
    } else {
      PrefetchLine(lists_.reference_place(request.number));
    }
  }
  template <typename Work>
  [[gnu::always_inline]] auto WithLane(size_t i, Work&& work) {
    if constexpr (kStep >= Step::kLane) {
      runtime::LaneOwnership& ownership = lanes_[i]->ownership;
      LS_CHECK(ownership.TryEnter(), "nobody else is here");
      const runtime::LaneOwnership::Hold hold(ownership);
      return work();
    } else {
      return work();
    }
  }
  [[gnu::always_inline]] uint64_t HintOf(size_t i, const StepRequest& request) {
    if constexpr (kStep >= Step::kTable) {
      return lanes_[i]->table.PrefetchHint(addresses_[i]);
    } else if constexpr (kStep >= Step::kDirectory) {
      return lanes_[i]->directory.ReferenceAt(addresses_[i]);
    } else {
      return lists_.reference(request.number);
    }
  }
  static const char* RowsOf(uint64_t reference) {
    return storage::Partition::BlockOf(reference) + (reference >> 48) * 16;
  }
  [[gnu::always_inline]] static void Prefetch(uint64_t reference, const StepRequest& request) {
    if constexpr (kStep >= Step::kKey) {
      storage::Partition::Prefetch(reference, request.key.size());
    } else {
      const char* const rows = RowsOf(reference);
      for (size_t at = 0; at < kRowsBytes; at += kCacheLineBytes) PrefetchLine(rows + at);
      PrefetchLine(rows + kRowsBytes - 1);
    }
  }
  [[gnu::always_inline]] void Take(size_t i, const StepRequest& request) {
    WithLane(
        i, [&]() __attribute__((always_inline)) {
          if constexpr (kStep >= Step::kTable) {
            ListItemsSink sink = BeginSink(i);
            PartitionInfo info;
            lanes_[i]->table.Read({request.key, addresses_[i]}, spec_, now_seconds_, sink, &info,
                                  hints_[i] != 0);
            sink.SetInfo(info);
          } else {
            Send(i, RunOf(i, request));
          }
          return 0;
        });
  }
  [[gnu::always_inline]] PackedRun RunOf(size_t i, const StepRequest& request) {
    uint64_t reference = 0;
    if constexpr (kStep >= Step::kKey) {
      const storage::DirectorySlot* const slot = lanes_[i]->directory.Find(
          addresses_[i], request.key, [&](uint64_t candidate) __attribute__((always_inline)) {
            if (hints_[i] == 0) Prefetch(candidate, request);
          });
      LS_CHECK(slot != nullptr, "every list that is asked for is there");
      reference = slot->reference;
    } else {
      reference = HintOf(i, request);
    }
    PackedRun run{RowsOf(reference), kStepLimit, kStepRowBytes};
    if constexpr (kStep == Step::kExpiry) {
      const storage::Leaf leaf(storage::Partition::BlockOf(reference));
      LS_CHECK(!storage::EventCame(leaf.header().earliest_expiry, now_seconds_),
               "no row expires while it is measured");
    }
    if constexpr (kStep >= Step::kBound) {
      const storage::Partition partition(lists_.context(), reference);
      const bool found = partition.NewestAsTheyLie(spec_, now_seconds_, run);
      LS_CHECK(found, "rows lie as they are sent");
    }
    return run;
  }
  [[gnu::always_inline]] void Send(size_t i, const PackedRun& run) {
    if constexpr (kStep >= Step::kSink) {
      ListItemsSink sink = BeginSink(i);
      RowSink* as_any = &sink;
      asm volatile("" : "+r"(as_any));  // a sink of any kind: its call is virtual
      as_any->OnPackedRun(run);
      sink.SetInfo({Presence::kComplete, 0, 0});
    } else if constexpr (kStep == Step::kText) {
      WriteAsText(run, copies_[i].data());
    } else {
      std::memcpy(copies_[i].data(), run.rows, run.count * run.stride);
    }
  }
  // Value and key of each row, the length in front of either.
  static void WriteAsText(const PackedRun& run, char* to) {
    constexpr size_t kCellBytes = sizeof(uint32_t) + kStepValueBytes;
    constexpr size_t kTextRowBytes = kCellBytes + sizeof(uint32_t) + kItemKeyTextBytes;
    static_assert(kStepLimit * kTextRowBytes <= kCopyBytes);
    for (size_t row = 0; row < run.count; ++row) {
      char* const cell = to + row * kTextRowBytes;
      StoreBigEndian32(cell, kStepValueBytes);
      std::memcpy(cell + sizeof(uint32_t), run.rows + row * run.stride + kPackedItemKeyBytes,
                  kStepValueBytes);
    }
    UnpackItemKeys(run.rows, run.stride, run.count, to + kCellBytes, kTextRowBytes);
  }
  ListItemsSink BeginSink(size_t i) {
    items_[i].clear();
    return {items_[i], false};
  }

  static constexpr size_t kRowsBytes = kStepLimit * kStepRowBytes;
  static constexpr size_t kCopyBytes = 1024;

  StepLists& lists_;
  const int64_t now_seconds_;
  ReadSpec spec_;
  std::array<Token, kBenchGroup> tokens_;
  std::array<StepLane*, kBenchGroup> lanes_;
  std::array<uint64_t, kBenchGroup> addresses_;
  std::array<uint64_t, kBenchGroup> hints_ = {};
  std::array<std::array<char, kCopyBytes>, kBenchGroup> copies_;
  std::vector<ListItems> items_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_STEPS_STEP_READS_H_
