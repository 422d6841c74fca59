// HotPartitions: which partitions clients ask for most, over the last minutes. The table
// liststore.hot_partitions; its columns are described in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_HOT_PARTITIONS_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_HOT_PARTITIONS_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "engine/base/cacheline.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"
#include "engine/base/space_saving.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/execute/client_state.h"
#include "engine/execute/request_view.h"
#include "engine/instruments/resettable.h"

namespace liststore::instruments {

// When requests of one loop are looked at: the first kBurst one by one, and again when it was quiet; then by
// chance so many that they are kPerSecondMin a second and one of kOneOf, up to kPerSecondMax. Whatever the rate
// becomes, each that is looked at stands for those since the one before. By one thread.
class RequestSampler {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr double kPerSecondMin = 4;
  static constexpr double kPerSecondMax = 32;
  static constexpr double kOneOf = 256;  // a look is some 1,700 instructions: 7 for each request
  static constexpr int64_t kBurst = 1024;

  struct Sample {
    uint32_t index = 0;   // of the request in its group
    uint64_t weight = 0;  // for how many it stands
  };
  using Samples = absl::InlinedVector<Sample, 4>;

  explicit RequestSampler(uint64_t seed) : random_(seed) {}

  // A group of `count` goes by. False, and nothing is counted: one of it may have to be looked at.
  [[gnu::always_inline]] bool Pass(size_t count, Instant now) {
    if (count >= left_ || now >= period_end_) return false;
    left_ -= count;
    return true;
  }
  // The same for one that does not pass.
  void Choose(size_t count, Instant now, Samples& samples);
  // So many of the requests that have gone by come again.
  void TakeBack(size_t count) { left_ += std::min<uint64_t>(count, gap_ - left_); }
  // One that was chosen could not be looked at: the next one stands for those too.
  void CarryOn(uint64_t weight) { carried_ += weight; }

 private:
  // While there are none left, so many more are looked at until they become half as many.
  static constexpr int64_t kBetweenDoublings = 8;
  static constexpr uint64_t kIntervalMax = uint64_t{1} << 20;
  static constexpr std::chrono::seconds kPeriod{1};

  void BeginPeriod(Instant now);
  void Draw();

  uint64_t left_ = 1;   // requests until the next that is looked at, with that
  Instant period_end_;  // then it is seen how many come
  uint64_t gap_ = 1;    // what left_ began with
  uint64_t carried_ = 0;
  uint64_t interval_ = 1;
  int64_t tokens_ = kBurst;
  uint64_t seen_ = 0;  // in this period, up to the last one that was chosen
  Instant period_begin_;
  Random random_;
};

struct HotPartition {
  std::string keyspace, table;
  std::string key;  // serialised
  // Requests that named it, for certain as far as what was looked at stands for all; and how many more it may
  // have been.
  uint64_t reads = 0, writes = 0, more_max = 0;
  std::chrono::nanoseconds longest{0};  // of those that were looked at

  uint64_t requests() const { return reads + writes; }
};

struct HotReport {
  std::vector<HotPartition> partitions;  // the hottest first
  uint64_t requests = 0;                 // of clients' own tables, those of no partition too
  uint64_t looked_at = 0;                // of them
  std::chrono::seconds span{0};          // in which they came
};

// Loops look at some of their requests (RequestSampler), and what these name is counted in sketches
// (SpaceSaving), one for each of the last kSlices minutes. A request that goes by costs a loop part of an
// instruction; one that is looked at some 1,700, and where it was sent as a text more. No loop
// waits for another, or for who reads. Thread-safe. kFollowed keys of kKeyBytesMax at most for each minute:
// 260 KiB with short keys, 1 MiB at most.
class HotPartitions final : public Resettable {
 public:
  using Instant = RequestSampler::Instant;
  static constexpr std::chrono::seconds kSliceTime{60};
  static constexpr size_t kSlices = 5;
  static constexpr uint32_t kFollowed = 256;
  static constexpr size_t kShown = 100;
  // Longer ones are not followed: 256 of them would hold more than is worth it.
  static constexpr size_t kKeyBytesMax = 512;
  // Of a request that names more partitions, or statements, the first.
  static constexpr size_t kNamedMax = 64;

  using Samples = RequestSampler::Samples;

  explicit HotPartitions(uint32_t loops);
  HotPartitions(const HotPartitions&) = delete;
  HotPartitions& operator=(const HotPartitions&) = delete;

  // Before a group is dealt with, by its loop, or where its place says so by anybody: which of it are looked
  // at behind that. Texts among them keep their plans.
  void Choose(std::span<execute::RequestView> requests, const execute::ClientState& client,
              Instant now, Samples& samples) {
    if (!client.place.begun_at && samplers_[client.shard]->sampler.Pass(requests.size(), now))
        [[likely]]
      return;
    ChooseSlowly(requests, client, now, samples);
  }
  // Behind it, `took` after its bytes were read.
  void Note(std::span<execute::RequestView> requests, const execute::ClientState& client,
            const Samples& samples, Instant now, std::chrono::nanoseconds took) {
    const bool all_over = requests.empty() || requests.back().outcome.IsOver();
    if (samples.empty() && all_over) [[likely]]
      return;
    NoteSlowly(requests, client, samples, now, took);
  }

  HotReport Report(Instant now) ABSL_LOCKS_EXCLUDED(mutex_);
  // Held.
  size_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Everything is forgotten.
  void Reset() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Detail {
    uint64_t reads = 0;
    uint64_t writes = 0;
    std::chrono::nanoseconds longest{0};
  };
  struct Slice {
    SpaceSaving<Detail> sketch{kFollowed};
    std::optional<Instant> begin;
    uint64_t requests = 0;
    uint64_t looked_at = 0;

    void Begin(std::optional<Instant> at) {
      sketch.Clear();
      begin = at;
      requests = 0;
      looked_at = 0;
    }
  };
  struct alignas(kCacheLineBytes) Place {
    explicit Place(uint64_t seed) : sampler(seed) {}
    RequestSampler sampler;
    Mutex mutex;  // of the last place alone: a loop has its own
  };
  // What a request names: the table's keyspace and name, each with a zero behind it, and the key.
  struct Named {
    absl::InlinedVector<std::string, 1> ids;
    bool is_read = false;
    bool is_left_out = false;  // it asks for what the server itself keeps, or for nothing yet
  };

  void ChooseSlowly(std::span<execute::RequestView> requests, const execute::ClientState& client,
                    Instant now, Samples& samples);
  void NoteSlowly(std::span<execute::RequestView> requests, const execute::ClientState& client,
                  const Samples& samples, Instant now, std::chrono::nanoseconds took);
  // Calls visit(sampler) for the one of whoever deals with the client's requests now.
  template <typename Visit>
  void WithSampler(const execute::ClientState& client, const Visit& visit);
  static Named NamesOf(execute::RequestView& request, const execute::ClientState& client);
  // False: somebody looks at the sketches, and nothing was done.
  bool Count(const Named& named, uint64_t weight, bool may_wait, Instant now,
             std::chrono::nanoseconds took) ABSL_LOCKS_EXCLUDED(mutex_);
  void CountLocked(const Named& named, uint64_t weight, Instant now, std::chrono::nanoseconds took)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Rotate(Instant now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The last one is of what runs beside the loops.
  std::vector<std::unique_ptr<Place>> samplers_;
  mutable Mutex mutex_;
  std::array<Slice, kSlices> slices_ ABSL_GUARDED_BY(mutex_);
  size_t current_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Outlives the table.
std::unique_ptr<cql::VirtualTable> MakeHotPartitionsTable(HotPartitions& hot);

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_HOT_PARTITIONS_H_
