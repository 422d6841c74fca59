// WorkPace: how long a statement may work, in all and where it is. What works long asks it between
// two steps, when it holds nothing.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_WORK_PACE_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_WORK_PACE_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace liststore::execute {

// Of the machine's steady clock: a tester who moves the server's clock ends no statement.
using WorkInstant = std::chrono::steady_clock::time_point;

// What results of statements that work beside the loops may hold together. Thread-safe.
class ResultBudget {
 public:
  explicit ResultBudget(uint64_t bytes) : bytes_(bytes), left_(static_cast<int64_t>(bytes)) {}

  uint64_t bytes() const { return bytes_; }

  // False, and nothing was taken: there is not so much left.
  [[nodiscard]] bool Take(uint64_t bytes) {
    const auto taken = static_cast<int64_t>(bytes);
    if (left_.fetch_sub(taken, std::memory_order_relaxed) >= taken) return true;
    Give(bytes);
    return false;
  }
  void Give(uint64_t bytes) {
    left_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  }

 private:
  const uint64_t bytes_;
  std::atomic<int64_t> left_;
};

// What one result has of a budget, and gives back in the end. One thread.
class ResultShare {
 public:
  // nullptr: nothing is counted.
  explicit ResultShare(ResultBudget* budget) : budget_(budget) {}
  ~ResultShare() {
    if (budget_ != nullptr) budget_->Give(taken_ - kFreeBytes);
  }
  ResultShare(const ResultShare&) = delete;
  ResultShare& operator=(const ResultShare&) = delete;

  // The result has grown to so many bytes. False: they are more than there is room for.
  [[nodiscard]] bool Grow(uint64_t bytes) { return bytes <= taken_ || TakeMore(bytes); }
  // Of all results together, beside a page of each.
  uint64_t budget_bytes() const { return budget_ == nullptr ? UINT64_MAX : budget_->bytes(); }

 private:
  // A page, which is not counted.
  static constexpr uint64_t kFreeBytes = uint64_t{2} << 20;
  static constexpr uint64_t kStepBytes = uint64_t{4} << 20;

  bool TakeMore(uint64_t bytes);

  ResultBudget* const budget_;
  uint64_t taken_ = kFreeBytes;
};

// Where statements work: on a loop, which others wait for, or on a thread for those that take long.
struct WorkPlace {
  // What a statement that can be done elsewhere does here at most; then it is deferred. 0: nothing
  // is deferred. Units: see WorkPace.
  uint64_t units_max = 0;
  std::chrono::nanoseconds time_max{0};
  // Since when the client has waited; absent: since now.
  std::optional<WorkInstant> begun_at = {};
  // Nobody waits for the answer any more. May be nullptr.
  const std::atomic<bool>* is_cancelled = nullptr;
  ResultBudget* results = nullptr;

  bool defers() const { return units_max != 0; }
};

// What a loop does at most of a statement that can be done elsewhere: others wait for that.
inline constexpr uint64_t kLoopUnitsMax = 32 << 10;
inline constexpr std::chrono::nanoseconds kLoopTimeMax = std::chrono::milliseconds(1);
// A longer text, or request of elements of collections, takes some MiB of memory, of which there is a
// share for those that are done elsewhere.
inline constexpr size_t kLoopTextBytesMax = size_t{16} << 10;

// Of one statement, on one thread. Work is told in units of some 50 ns: a row that is looked at, or
// 64 bytes of values. Short statements never look at the clock.
class WorkPace {
 public:
  enum class Stop : uint8_t {
    kNo,
    kTimedOut,   // its time is over
    kTooLong,    // for where it is
    kCancelled,  // nobody waits for it
  };

  // What a row, a command and a byte of values are as work.
  static constexpr uint64_t kUnitsOfCommand = 8;
  static constexpr uint64_t kBytesOfUnit = 64;

  // `place` outlives it.
  explicit WorkPace(const WorkPlace& place) : place_(place) {}

  // From when the client has waited, or from the first look at the clock. Not 0.
  void LimitTime(std::chrono::milliseconds time) { time_ = time; }

  // So much was done since. False: stop, and stay stopped. A comparison for most.
  [[nodiscard]] bool Spend(uint64_t units) {
    units_ += units;
    return units_ < next_look_ || Look();
  }
  Stop stop() const { return stop_; }
  // What comes next is begun elsewhere, whatever was done here. Where nothing is deferred it may not be
  // called.
  void StopHere();
  // More was done than what is not worth a look at the clock.
  bool has_worked() const { return units_ >= kUnitsOfLook; }
  // It works where nobody waits but its client, and takes long: see Command::waits_its_turn.
  bool is_beside_loops() const { return place_.begun_at.has_value(); }
  // A statement of so many units is begun elsewhere.
  bool IsTooLong(uint64_t units) const { return defers() && units > place_.units_max; }
  // Others wait for where it works: what takes long is begun elsewhere.
  bool defers() const { return place_.defers(); }

 private:
  // Some 20 us.
  static constexpr uint64_t kUnitsOfLook = 512;

  bool Look();

  const WorkPlace& place_;
  uint64_t units_ = 0;
  uint64_t next_look_ = kUnitsOfLook;
  std::optional<WorkInstant> here_since_;
  std::chrono::milliseconds time_{0};  // 0: as long as it takes
  Stop stop_ = Stop::kNo;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_WORK_PACE_H_
