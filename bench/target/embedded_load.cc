#include "bench/target/embedded_load.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "bench/load/core_gaps.h"
#include "bench/load/core_watch.h"
#include "engine/base/check.h"
#include "engine/base/run_delay.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr size_t kReadLimit = 10;
// Every so many operations of a thread a slice of memory is given back, and every so many reads one
// is compared in full.
constexpr uint64_t kReclaimEvery = 1'024;
constexpr size_t kReclaimUnits = 64;
constexpr uint64_t kVerifyEvery = 64;

}  // namespace

// One thread's part.
class EmbeddedLoad::Worker {
 public:
  Worker(EmbeddedLoad& load, const ListFeature& feature, uint32_t number)
      : load_(load),
        feature_(feature),
        reads_(load.options_.lists, false, load.options_.seed + 2 * number + 1'000 * load.runs_, 2,
               0),
        // Of odd lists those that no other thread adds to.
        additions_(load.options_.lists, false,
                   load.options_.seed + 2 * number + 1 + 1'000 * load.runs_,
                   2 * load.options_.threads, 2 * number + 1),
        value_(load.items_.value_bytes(), '\0') {
    if (auto delay = RunDelay::OfThisThread()) cores_.Watch(*std::move(delay));
  }

  // `count` operations, the first due `first_nanos` behind `begin` and the others `apart` nanoseconds
  // from each other.
  absl::Status Run(int64_t begin, double first_nanos, double apart, uint64_t count) {
    cores_.Begin();
    int64_t now = SteadyNanos() - begin;
    for (uint64_t i = 0; i < count; ++i) {
      const auto due = static_cast<int64_t>(first_nanos + static_cast<double>(i) * apart);
      while (now < due) now = SteadyNanos() - begin;
      const bool adds = i % kOpenInsertEvery == kOpenInsertEvery - 1;
      LS_RETURN_IF_ERROR(adds ? Add() : Read());
      if (i % kReclaimEvery == kReclaimEvery - 1) load_.store_.Reclaim(kReclaimUnits);
      now = SteadyNanos() - begin;
      const auto nanos = static_cast<uint64_t>(std::max<int64_t>(0, now - due));
      (adds ? run_.insert_latency : run_.select_latency).Record(nanos);
      cores_.Record(due, nanos);
      cores_.LookNowAndThen(now);
    }
    run_.quiet_latency = cores_.Finish(now);
    ended_nanos_ = now;
    return absl::OkStatus();
  }

  const OpenRun& run() const { return run_; }
  int64_t ended_nanos() const { return ended_nanos_; }
  uint64_t verified() const { return verified_; }

 private:
  std::string_view EntityId(uint32_t list) {
    WriteEntityId(list, entity_id_.data());
    return {entity_id_.data(), entity_id_.size()};
  }

  absl::Status Read() {
    const uint32_t list = reads_.Next();
    LS_RETURN_IF_ERROR(
        load_.store_.GetListItems({feature_, EntityId(list)}, {.limit = kReadLimit}, &read_));
    if (read_.size() != kReadLimit) {
      return absl::DataLossError(absl::StrCat("list ", list, ": ", kReadLimit, " items expected, ",
                                              read_.size(), " came"));
    }
    return reads_done_++ % kVerifyEvery == 0 ? Verify(list) : absl::OkStatus();
  }

  absl::Status Verify(uint32_t list) {
    for (size_t i = 0; i < read_.size(); ++i) {
      const auto number = static_cast<uint32_t>(load_.options_.items_per_list - 1 - i);
      load_.items_.WriteValue(list, number, value_.data());
      if (read_[i].timestamp_nanos != load_.items_.TimestampOf(list, number) ||
          read_[i].value != value_) {
        return absl::DataLossError(
            absl::StrCat("list ", list, ": item ", i, " is not number ", number));
      }
    }
    ++verified_;
    return absl::OkStatus();
  }

  absl::Status Add() {
    const uint32_t list = additions_.Next();
    const uint32_t number = load_.options_.items_per_list + load_.added_[list]++;
    load_.items_.WriteValue(list, number, value_.data());
    const NewItem item{load_.items_.TimestampOf(list, number), value_};
    LS_ASSIGN_OR_RETURN(const auto added,
                        load_.store_.AddListItems({feature_, EntityId(list)}, {&item, 1}));
    if (added.stored == 1) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("list ", list, ": an item was not stored"));
  }

  EmbeddedLoad& load_;
  const ListFeature feature_;
  ListPicker reads_;
  ListPicker additions_;
  std::array<char, kBenchEntityIdBytes> entity_id_ = {};
  std::string value_;
  ListItems read_;
  uint64_t reads_done_ = 0;
  uint64_t verified_ = 0;
  OpenRun run_;
  CoreWatch cores_;
  int64_t ended_nanos_ = 0;
};

EmbeddedLoad::EmbeddedLoad(ListStore& store, const BenchItems& items,
                           const EmbeddedLoadOptions& options)
    : store_(store), items_(items), options_(options), added_(options.lists) {
  LS_CHECK(options.items_per_list >= kReadLimit, "a read finds as many as it asks for");
  LS_CHECK(options.threads > 0 && options.lists >= 2 * options.threads,
           "each thread has lists to add to");
}

absl::Status EmbeddedLoad::Run(double rate, double seconds, OpenRun* run) {
  LS_CHECK(rate > 0 && seconds > 0, "a rate and a time are given");
  LS_ASSIGN_OR_RETURN(const ListFeature feature,
                      store_.FindListFeature(kBenchEntityType, kBenchFeature, kBenchVersion));
  const uint32_t threads = options_.threads;
  const uint64_t count = std::max<uint64_t>(1, static_cast<uint64_t>(rate * seconds) / threads);
  std::vector<std::optional<Worker>> workers(threads);
  std::vector<absl::Status> statuses(threads);
  // The clock begins when the last one is ready.
  int64_t begin = 0;
  std::barrier ready(threads, [&begin]() noexcept { begin = SteadyNanos(); });
  std::vector<std::thread> running;
  for (uint32_t number = 0; number < threads; ++number) {
    running.emplace_back([&, number] {
      Worker& worker = workers[number].emplace(*this, feature, number);
      ready.arrive_and_wait();
      statuses[number] = worker.Run(begin, number * 1e9 / rate, threads * 1e9 / rate, count);
    });
  }
  for (std::thread& thread : running) thread.join();
  ++runs_;
  int64_t ended_nanos = 1;
  for (uint32_t number = 0; number < threads; ++number) {
    LS_RETURN_IF_ERROR(statuses[number]);
    const Worker& worker = *workers[number];
    run->select_latency.Merge(worker.run().select_latency);
    run->insert_latency.Merge(worker.run().insert_latency);
    run->quiet_latency.Merge(worker.run().quiet_latency);
    ended_nanos = std::max(ended_nanos, worker.ended_nanos());
    verified_ += worker.verified();
  }
  run->rate = rate;
  run->achieved = static_cast<double>(count * threads) / (static_cast<double>(ended_nanos) * 1e-9);
  return absl::OkStatus();
}

}  // namespace liststore
