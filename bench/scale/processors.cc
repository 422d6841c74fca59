#include "bench/scale/processors.h"

#include <algorithm>
#include <cmath>

#include "engine/base/check.h"

namespace liststore {

Picos ToPicos(double nanos) { return static_cast<Picos>(std::llround(nanos * 1'000)); }

Processors::Processors(uint32_t threads, uint32_t cores, Costs costs)
    : costs_(costs), threads_(threads), cores_(cores) {
  LS_CHECK(threads > 0 && cores > 0, "threads and cores are at least one");
}

void Processors::Promised(Picos at, Kind kind, uint32_t number, uint64_t generation) {
  promises_.push({at, orders_++, generation, kind, number});
}

// On its core: says when its work will be done.
void Processors::PromiseEnd(uint32_t thread) {
  Thread& it = threads_[thread];
  ++it.generation;
  if (it.work != kForever) Promised(it.began + it.work, Kind::kDone, thread, it.generation);
}

Processors::Event Processors::Next(Picos end) {
  while (!promises_.empty() && promises_.top().at <= end) {
    const Promise promise = promises_.top();
    promises_.pop();
    now_ = promise.at;
    switch (promise.kind) {
      case Kind::kDone:
        if (threads_[promise.number].generation != promise.generation) break;
        return {Event::Kind::kDone, promise.number};
      case Kind::kOnCore:
        if (threads_[promise.number].generation != promise.generation) break;
        return {Event::Kind::kOnCore, promise.number};
      case Kind::kSliceOver:
        if (cores_[promise.number].generation == promise.generation) {
          SliceOver(cores_[promise.number]);
        }
        break;
      case Kind::kAwake:
        Ready(promise.number);
        break;
    }
  }
  now_ = end;
  return {};
}

void Processors::Work(uint32_t thread, Picos duration) {
  Thread& it = threads_[thread];
  LS_CHECK(it.state != State::kAsleep, "who sleeps is woken first");
  it.work = duration;
  if (it.state != State::kOnCore) return;
  // Not before the change of threads is over.
  it.began = std::max(it.began, now_);
  PromiseEnd(thread);
}

bool Processors::Yield(uint32_t thread) {
  Core& core = CoreOf(thread);
  LS_CHECK(core.busy && core.thread == thread, "who gives its core away has it");
  if (core.ready.empty()) return false;
  PutBack(core);
  Dispatch(core);
  return true;
}

void Processors::Sleep(uint32_t thread) {
  Core& core = CoreOf(thread);
  LS_CHECK(core.busy && core.thread == thread, "who gives its core away has it");
  threads_[thread].state = State::kAsleep;
  ++threads_[thread].generation;
  core.busy = false;
  if (!core.ready.empty()) Dispatch(core);
}

void Processors::Wake(uint32_t thread, Picos delay, Picos duration) {
  LS_CHECK(threads_[thread].state == State::kAsleep, "who is woken sleeps");
  threads_[thread].work = duration;
  Promised(now_ + delay, Kind::kAwake, thread, 0);
}

void Processors::Ready(uint32_t thread) {
  Core& core = CoreOf(thread);
  threads_[thread].state = State::kReady;
  core.ready.push_back(thread);
  if (!core.busy) {
    Dispatch(core);
  } else if (core.slice_over) {
    PutBack(core);
    Dispatch(core);
  }
}

// The thread on the core is ready behind all others, with what is left of its work.
void Processors::PutBack(Core& core) {
  Thread& it = threads_[core.thread];
  if (it.work != kForever && now_ > it.began) it.work -= std::min(it.work, now_ - it.began);
  it.state = State::kReady;
  ++it.generation;
  core.ready.push_back(core.thread);
  core.busy = false;
}

void Processors::Dispatch(Core& core) {
  const uint32_t thread = core.ready.front();
  core.ready.pop_front();
  const Picos change = thread == core.thread ? 0 : costs_.change;
  changing_ += change;
  core.busy = true;
  core.thread = thread;
  core.slice_over = false;
  Thread& it = threads_[thread];
  it.state = State::kOnCore;
  it.began = now_ + change;
  PromiseEnd(thread);
  Promised(it.began, Kind::kOnCore, thread, it.generation);
  Promised(it.began + costs_.slice, Kind::kSliceOver, core_of(thread), ++core.generation);
}

void Processors::SliceOver(Core& core) {
  if (!core.busy) return;
  if (core.ready.empty()) {
    core.slice_over = true;
    return;
  }
  PutBack(core);
  Dispatch(core);
}

}  // namespace liststore
