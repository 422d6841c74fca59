// One thread's way into a store under measurement: executes prepared requests.
#ifndef LISTSTORE_BENCH_EMBEDDED_BENCH_CLIENT_H_
#define LISTSTORE_BENCH_EMBEDDED_BENCH_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "bench/measure/workload.h"
#include "liststore/list_store.h"

namespace liststore {

// `i`, which the processor cannot know before `answer`, the value of a row that was read. A read
// that it belongs to begins when the one before is over, as in a service that asks for one list and
// goes by the answer; else the processor would run into the next reads while it waits for memory,
// and short code would be what is measured. What reads gain side by side is a multi-get's line.
inline size_t OnceAnswered(std::string_view answer, size_t i) {
  size_t zero = 0;
  asm volatile("" : "+r"(zero));  // which the compiler does not know
  return i + (answer.empty() ? 0 : static_cast<unsigned char>(answer[0]) & zero);
}

class BenchClient {
 public:
  virtual ~BenchClient() = default;
  // Executes the requests [begin, end) of `batch`; returns how many items were returned, stored or
  // removed. The call is virtual once a batch: it costs nothing next to what it does. Multi-gets
  // want a multiple of kBenchGroup requests.
  virtual uint64_t Run(const BenchBatch& batch, size_t begin, size_t end) = 0;
  // Takes the item of each request of `batch`, which removes, out of its list, however that costs
  // least: outside of what is timed. Returns how many went.
  virtual uint64_t TakeOut(const BenchBatch& batch) { return Run(batch, 0, batch.size()); }
  // What a caller does now and then beside its requests: a slice of giving memory back.
  virtual void Housekeep() = 0;
  // The newest item of the last list that Run read, for checks; timestamp 0 when there was none.
  virtual NewItem Newest() const = 0;
  // The first error of any request.
  const absl::Status& status() const { return status_; }

 protected:
  void Note(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }

 private:
  absl::Status status_;
};

// What is measured: something to make clients of.
class BenchTarget {
 public:
  virtual ~BenchTarget() = default;
  virtual std::unique_ptr<BenchClient> NewClient() = 0;
  // Called once all lists are loaded and their memory is measured: what can be got ready for
  // additions is got ready.
  virtual absl::Status PopulateAhead() { return absl::OkStatus(); }
};

class StoreTarget final : public BenchTarget {
 public:
  // `store` has the feature kBenchFeature and outlives the target and its clients.
  explicit StoreTarget(ListStore& store) : store_(store) {}
  std::unique_ptr<BenchClient> NewClient() override;
  absl::Status PopulateAhead() override {
    return store_.Populate(store_.GetStats().held_bytes / 2);
  }

 private:
  ListStore& store_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_BENCH_CLIENT_H_
