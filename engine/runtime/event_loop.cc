#include "engine/runtime/event_loop.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/worker_thread.h"

namespace liststore::runtime {
namespace {

namespace asio = boost::asio;

// Rows expire by whole seconds, and reads decide for themselves what is over: memory may come back
// a second later.
constexpr std::chrono::seconds kBackgroundPeriod(1);
// Functions that run between two slices of background work. Bounded, since with steady traffic
// something is always ready.
constexpr int kReadyMax = 64;

// Gives Asio the bytes of a PostMemory for what it makes of a post.
template <typename T>
class PostAllocator {
 public:
  using value_type = T;

  explicit PostAllocator(std::span<std::byte> memory) : memory_(memory) {}
  template <typename U>
  PostAllocator(const PostAllocator<U>& other) : memory_(other.memory()) {}  // as allocators do

  T* allocate(size_t count) {
    LS_CHECK(count * sizeof(T) <= memory_.size(), "a post fits its memory");
    return reinterpret_cast<T*>(memory_.data());
  }
  void deallocate(T*, size_t) {}
  std::span<std::byte> memory() const { return memory_; }
  bool operator==(const PostAllocator& other) const {
    return memory_.data() == other.memory_.data();
  }

 private:
  std::span<std::byte> memory_;
};

struct PostInMemory {
  using allocator_type = PostAllocator<void>;

  allocator_type get_allocator() const { return allocator_type(memory); }
  void operator()() { work(); }

  std::span<std::byte> memory;
  absl::AnyInvocable<void()> work;
};

}  // namespace

class EventLoop::Impl {
 public:
  explicit Impl(Background background)
      : context_(1),  // a hint: one thread runs it
        work_(context_.get_executor()),
        timer_(context_),
        mark_(context_),
        background_(std::move(background)) {}

  // Counts in `idles`.
  absl::Status Start(uint32_t number, uint64_t* idles) {
    LS_CHECK(!thread_.joinable(), "a loop is started once");
    absl::StatusOr<std::thread> thread =
        StartThread(absl::StrCat("liststore-", number), [this, idles] { Run(*idles); });
    if (thread.ok()) thread_ = *std::move(thread);
    return thread.status();
  }

  void SetBetween(Between between) {
    LS_CHECK(!between_ && !thread_.joinable(), "set once, before the loop runs");
    between_ = std::move(between);
  }

  void Post(absl::AnyInvocable<void()> work) { asio::post(context_, std::move(work)); }

  void Post(std::span<std::byte> memory, absl::AnyInvocable<void()> work) {
    asio::post(context_, PostInMemory{memory, std::move(work)});
  }

  // A timer whose time has come is one more descriptor that is ready, the last one.
  void RunBehindReady(absl::AnyInvocable<void()> work) {
    mark_.expires_at(std::chrono::steady_clock::now());
    mark_.async_wait([work = std::move(work)](const boost::system::error_code& error) mutable {
      if (!error) work();
    });
  }

  void Stop() {
    stopping_.store(true, std::memory_order_release);
    context_.stop();  // wakes it, and takes no memory
  }

  void Join() {
    LS_CHECK(!IsCurrent(), "a loop does not wait for itself");
    if (thread_.joinable()) thread_.join();
  }

  bool IsCurrent() const { return running_.load() == std::this_thread::get_id(); }
  asio::io_context& context() { return context_; }

 private:
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  // run() would hide the moments between two functions, where background work has its place.
  void Run(uint64_t& idles) {
    running_.store(std::this_thread::get_id());
    bool more_waits = false;
    while (!stopping()) {
      if (background_ && !timer_waits_) Survive([this] { return WaitForTimer(); });
      if (!more_waits && Survive([this] { return SleepUntilReady(); }) == 1) EndTurn(false);
      int ready = 0;
      const auto run_ready = [this] { return context_.poll_one(); };
      while (ready < kReadyMax && !stopping() && Survive(run_ready) == 1) {
        ++ready;
        EndTurn(false);
      }
      EndTurn(true);
      if (ready < kReadyMax) ++idles;
      if (std::exchange(background_due_, false)) more_waits = true;
      if (more_waits && !stopping()) {
        more_waits = Survive([this] { return size_t{background_()}; }) != 0;
        EndTurn(true);
      }
    }
    running_.store({});
  }

  void EndTurn(bool round_is_over) {
    if (!between_) return;
    Survive([this, round_is_over] {
      between_(round_is_over);
      return size_t{0};
    });
  }

  // Where the heap refuses something to a function that does not deal with it, that function is
  // over, and the loop goes on.
  template <typename Work>
  static size_t Survive(const Work& work) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      return 1;
    }
  }

  // Runs what became ready then. Where the heap had nothing for the timer, that is tried again.
  size_t SleepUntilReady() {
    if (timer_waits_ || !background_) return context_.run_one();
    return context_.run_one_for(kBackgroundPeriod);
  }

  size_t WaitForTimer() {
    timer_.expires_after(kBackgroundPeriod);
    timer_.async_wait([this](const boost::system::error_code& error) {
      timer_waits_ = false;
      background_due_ |= !error;
    });
    timer_waits_ = true;
    return 1;
  }

  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  // The loop's thread only.
  asio::steady_timer timer_;
  asio::steady_timer mark_;
  const Background background_;
  Between between_;
  bool timer_waits_ = false;
  bool background_due_ = false;
  // Any thread.
  std::atomic<bool> stopping_{false};
  std::atomic<std::thread::id> running_{};

  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::Create(uint32_t number,
                                                             Background background) {
  // Asio says by an exception that the kernel refused a descriptor.
  try {
    return std::unique_ptr<EventLoop>(
        new EventLoop(number, std::make_unique<Impl>(std::move(background))));
  } catch (const boost::system::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("event loop ", number, ": ", error.what()));
  }
}

EventLoop::EventLoop(uint32_t number, std::unique_ptr<Impl> impl)
    : number_(number), impl_(std::move(impl)) {}

EventLoop::~EventLoop() {
  Stop();
  Join();
}

absl::Status EventLoop::Start() { return impl_->Start(number_, &idles_); }
void EventLoop::SetBetween(Between between) { impl_->SetBetween(std::move(between)); }
void EventLoop::RunBehindReady(absl::AnyInvocable<void()> work) {
  impl_->RunBehindReady(std::move(work));
}
void EventLoop::Post(absl::AnyInvocable<void()> work) { impl_->Post(std::move(work)); }
void EventLoop::Post(PostMemory& memory, absl::AnyInvocable<void()> work) noexcept {
  impl_->Post(memory.bytes_, std::move(work));
}
void EventLoop::Stop() { impl_->Stop(); }
void EventLoop::Join() { impl_->Join(); }
bool EventLoop::IsCurrent() const { return impl_->IsCurrent(); }
boost::asio::io_context& EventLoop::context() { return impl_->context(); }

}  // namespace liststore::runtime
