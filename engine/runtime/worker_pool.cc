#include "engine/runtime/worker_pool.h"

#include <sys/resource.h>

#include <algorithm>
#include <new>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/worker_thread.h"

namespace liststore::runtime {
namespace {

// A third of the processor time of a loop where both want it.
constexpr int kNiceness = 5;

}  // namespace

WorkerPool::WorkerPool(uint32_t threads_max, size_t queued_max, uint64_t memory_bytes,
                       std::function<void(uint64_t bytes)> on_memory_given)
    : threads_max_(threads_max),
      per_client_max_(std::max(threads_max / 2, uint32_t{1})),
      queued_max_(queued_max),
      memory_bytes_(memory_bytes),
      on_memory_given_(std::move(on_memory_given)) {
  LS_CHECK(threads_max >= 1, "a pool has a thread");
  threads_.reserve(threads_max);  // a thread that was started has its place
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::Post(uint64_t client, absl::AnyInvocable<void()> work, const Terms& terms) {
  const MutexLock lock(mutex_);
  if (stops_ || queued_ >= queued_max_) return false;
  const bool wants_thread = queued_ >= idle_ && threads_.size() < threads_max_;
  if (wants_thread && !AddThread() && threads_.empty()) return false;
  const auto at = clients_.try_emplace(terms.turns_of.value_or(client)).first;
  try {
    at->second.waits.push_back(
        {std::move(work), client, std::min(terms.memory_bytes, memory_bytes_)});
  } catch (const std::bad_alloc&) {
    if (at->second.waits.empty() && at->second.runs == 0) clients_.erase(at);
    throw;
  }
  ++queued_;
  changed_.notify_one();
  return true;
}

bool WorkerPool::AddThread() {
  absl::StatusOr<std::thread> thread = StartThread("liststore-long", [this] { Run(); });
  if (!thread.ok()) return false;
  threads_.push_back(*std::move(thread));
  return true;
}

void WorkerPool::Run() {
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNiceness);
  mutex_.Lock();
  while (true) {
    ++idle_;
    auto next = Next();
    while (next == clients_.end() && !stops_) {
      changed_.wait(mutex_);
      next = Next();
    }
    --idle_;
    if (stops_) break;
    // Stays while it runs.
    const uint64_t number = next->first;
    Client& client = next->second;
    last_client_ = number;
    Piece piece = std::move(client.waits.front());
    client.waits.pop_front();
    --queued_;
    ++client.runs;
    if (piece.memory_bytes > 0) {
      memory_taken_ += piece.memory_bytes;
      if (waits_for_memory_ == number) waits_for_memory_.reset();
      // There may be some for the next one.
      changed_.notify_one();
    }
    mutex_.Unlock();
    try {
      piece.work();
    } catch (const std::bad_alloc&) {
      // Whoever waits for it has a time-out; the others go on.
    }
    piece.work = nullptr;
    if (piece.memory_bytes > 0 && on_memory_given_) on_memory_given_(piece.memory_bytes);
    mutex_.Lock();
    memory_taken_ -= piece.memory_bytes;
    if (stops_) break;
    --client.runs;
    if (client.runs == 0 && client.waits.empty()) clients_.erase(number);
    // This client may have another thread: whoever waits looks again.
    changed_.notify_one();
  }
  mutex_.Unlock();
}

WorkerPool::Clients::iterator WorkerPool::Next() {
  if (waits_for_memory_) {
    const auto first = clients_.find(*waits_for_memory_);
    if (first != clients_.end() && MayHaveThread(first->second)) {
      if (HasMemoryFor(first->second.waits.front())) return first;
    } else {
      waits_for_memory_.reset();  // it was dropped, or has its share of the threads
    }
  }
  const auto after = clients_.upper_bound(last_client_);
  const auto at = FirstToBegin(after, clients_.end());
  if (at != clients_.end()) return at;
  const auto before = FirstToBegin(clients_.begin(), after);
  return before == after ? clients_.end() : before;
}

WorkerPool::Clients::iterator WorkerPool::FirstToBegin(Clients::iterator at,
                                                       Clients::iterator end) {
  for (; at != end; ++at) {
    if (!MayHaveThread(at->second)) continue;
    const Piece& piece = at->second.waits.front();
    if (piece.memory_bytes == 0) return at;
    if (waits_for_memory_) continue;
    if (HasMemoryFor(piece)) return at;
    waits_for_memory_ = at->first;
  }
  return end;
}

void WorkerPool::Drop(uint64_t client) {
  while (true) {
    absl::AnyInvocable<void()> dropped;  // goes with nothing locked
    const MutexLock lock(mutex_);
    const auto is_of = [&](const Piece& piece) { return piece.client == client; };
    const auto at = std::ranges::find_if(clients_, [&](const Clients::value_type& of) {
      return std::ranges::any_of(of.second.waits, is_of);
    });
    if (at == clients_.end()) {
      // Others may have the memory that it waited for.
      changed_.notify_all();
      return;
    }
    std::deque<Piece>& waits = at->second.waits;
    const auto piece = std::ranges::find_if(waits, is_of);
    dropped = std::move(piece->work);
    waits.erase(piece);
    --queued_;
    if (waits.empty() && at->second.runs == 0) clients_.erase(at);
  }
}

void WorkerPool::Stop() {
  std::vector<std::thread> threads;
  Clients dropped;
  {
    const MutexLock lock(mutex_);
    stops_ = true;
    threads.swap(threads_);
    dropped.swap(clients_);
    queued_ = 0;
  }
  changed_.notify_all();
  for (std::thread& thread : threads) {
    LS_CHECK(thread.get_id() != std::this_thread::get_id(), "a pool is stopped from outside");
    thread.join();
  }
}

size_t WorkerPool::queued() const {
  const MutexLock lock(mutex_);
  return queued_;
}

size_t WorkerPool::running() const {
  const MutexLock lock(mutex_);
  size_t running = 0;
  for (const auto& [number, client] : clients_) running += client.runs;
  return running;
}

uint64_t WorkerPool::memory_taken() const {
  const MutexLock lock(mutex_);
  return memory_taken_;
}

}  // namespace liststore::runtime
