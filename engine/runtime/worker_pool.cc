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

WorkerPool::WorkerPool(uint32_t threads_max, size_t queued_max)
    : threads_max_(threads_max),
      per_client_max_(std::max(threads_max / 2, uint32_t{1})),
      queued_max_(queued_max) {
  LS_CHECK(threads_max >= 1, "a pool has a thread");
  threads_.reserve(threads_max);  // a thread that was started has its place
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::Post(uint64_t client, absl::AnyInvocable<void()> work) {
  const MutexLock lock(mutex_);
  if (stops_ || queued_ >= queued_max_) return false;
  const bool wants_thread = queued_ >= idle_ && threads_.size() < threads_max_;
  if (wants_thread && !AddThread() && threads_.empty()) return false;
  const auto at = clients_.try_emplace(client).first;
  try {
    at->second.waits.push_back(std::move(work));
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
    absl::AnyInvocable<void()> work = std::move(client.waits.front());
    client.waits.pop_front();
    --queued_;
    ++client.runs;
    mutex_.Unlock();
    try {
      work();
    } catch (const std::bad_alloc&) {
      // Whoever waits for it has a time-out; the others go on.
    }
    work = nullptr;
    mutex_.Lock();
    if (stops_) break;
    --client.runs;
    if (client.runs == 0 && client.waits.empty()) clients_.erase(number);
    // This client may have another thread: whoever waits looks again.
    changed_.notify_one();
  }
  mutex_.Unlock();
}

WorkerPool::Clients::iterator WorkerPool::Next() {
  const auto may_begin = [this](const Clients::value_type& of) {
    return !of.second.waits.empty() && of.second.runs < per_client_max_;
  };
  const auto after = clients_.upper_bound(last_client_);
  const auto at = std::find_if(after, clients_.end(), may_begin);
  if (at != clients_.end()) return at;
  const auto before = std::find_if(clients_.begin(), after, may_begin);
  return before == after ? clients_.end() : before;
}

void WorkerPool::Drop(uint64_t client) {
  while (true) {
    absl::AnyInvocable<void()> dropped;  // goes with nothing locked
    const MutexLock lock(mutex_);
    const auto at = clients_.find(client);
    if (at == clients_.end()) return;
    std::deque<absl::AnyInvocable<void()>>& waits = at->second.waits;
    if (!waits.empty()) {
      dropped = std::move(waits.front());
      waits.pop_front();
      --queued_;
      continue;
    }
    if (at->second.runs == 0) clients_.erase(at);
    return;
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

}  // namespace liststore::runtime
