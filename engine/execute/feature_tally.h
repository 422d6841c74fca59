// FeatureTally: what clients of a server asked for and did not get.
#ifndef LISTSTORE_ENGINE_EXECUTE_FEATURE_TALLY_H_
#define LISTSTORE_ENGINE_EXECUTE_FEATURE_TALLY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/cql/syntax/unsupported.h"

namespace liststore::execute {

// Bytes that are kept of a statement.
inline constexpr size_t kTalliedStatementBytesMax = 512;

// Thread-safe. Owned by the server; outlives everything that counts. A few hundred bytes, and
// kTalliedStatementBytesMax for each feature that was met.
class FeatureTally {
 public:
  // Told of each feature when it is met for the first time, with the statement as it is kept; on
  // the thread that met it, with nothing locked. May be empty.
  using FirstMeeting = std::function<void(cql::CqlFeature, std::string_view statement)>;

  struct Entry {
    cql::CqlFeature feature = {};
    uint64_t count = 0;
    // The beginning of the first statement that asked for it. What follows the word PASSWORD is
    // left out, whatever the statement is.
    std::string first_statement;
    uint64_t first_nanos = 0;  // when that was, since the Unix epoch
  };

  explicit FeatureTally(FirstMeeting on_first = {}) : on_first_(std::move(on_first)) {}
  FeatureTally(const FeatureTally&) = delete;
  FeatureTally& operator=(const FeatureTally&) = delete;

  // `statement` is any text: what is no UTF-8 is cut off. Some 50 ns after the first time.
  void Add(cql::CqlFeature feature, std::string_view statement, uint64_t now_nanos);

  // Whether it was added before: a load, for those who meet a feature with every request.
  bool has(cql::CqlFeature feature) const {
    return counts_[static_cast<size_t>(feature)].load(std::memory_order_relaxed) != 0;
  }
  // What was met, in the order of codes. One that is added meanwhile may be missing.
  std::vector<Entry> Met() const;
  // Additions of features that are refused.
  uint64_t refusals() const { return refusals_.load(std::memory_order_relaxed); }

 private:
  struct First {
    std::string statement;
    uint64_t nanos = 0;
  };

  const FirstMeeting on_first_;
  std::array<std::atomic<uint64_t>, cql::kCqlFeatures> counts_ = {};
  std::atomic<uint64_t> refusals_ = 0;
  mutable Mutex mutex_;
  // In step with counts_: filled before the count leaves 0, and then left alone.
  std::array<First, cql::kCqlFeatures> firsts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_FEATURE_TALLY_H_
