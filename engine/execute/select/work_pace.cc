#include "engine/execute/select/work_pace.h"

#include "engine/base/check.h"

namespace liststore::execute {

bool ResultShare::TakeMore(uint64_t bytes) {
  if (budget_ == nullptr) return true;
  const uint64_t wanted = (bytes - taken_ + kStepBytes - 1) / kStepBytes * kStepBytes;
  if (!budget_->Take(wanted)) return false;
  taken_ += wanted;
  return true;
}

void WorkPace::StopHere() {
  LS_CHECK(defers(), "there is another place");
  if (stop_ == Stop::kNo) stop_ = Stop::kTooLong;
  next_look_ = 0;
}

bool WorkPace::Look() {
  if (stop_ != Stop::kNo) return false;
  next_look_ = units_ + kUnitsOfLook;
  const WorkInstant now = std::chrono::steady_clock::now();
  if (!here_since_) here_since_ = now;
  if (place_.is_cancelled != nullptr && place_.is_cancelled->load(std::memory_order_relaxed)) {
    stop_ = Stop::kCancelled;
  } else if (time_.count() > 0 && now - place_.begun_at.value_or(*here_since_) >= time_) {
    stop_ = Stop::kTimedOut;
  } else if (place_.defers() &&
             (units_ > place_.units_max || now - *here_since_ > place_.time_max)) {
    stop_ = Stop::kTooLong;
  }
  if (stop_ != Stop::kNo) next_look_ = 0;
  return stop_ == Stop::kNo;
}

}  // namespace liststore::execute
