// The heap refuses an allocation of whoever loads a list of a cache, each in turn, while another read
// has joined the load: both are answered, with the list or with an error, and nobody waits forever.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "liststore/list_cache.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/refusing_new.h"

namespace liststore::testing {
namespace refused_load_test {

const std::string kIds[] = {"first", "second", "third"};
const std::string kValue = "a value that is longer than a short string";
const std::vector<NewItem> kLoaded = {{kNow - 1, kValue}, {kNow - 2, kValue}};

ListId History(const std::string& id) { return {"user", "history", "", id}; }

class RefusedLoad : public ::testing::Test {
 protected:
  void Open() {
    ListCacheOptions options;
    options.store = SmallOptions(clock_);
    options.fresh_for_seconds = 100;
    options.refresh_ahead_seconds = 50;
    options.lists_per_load_max = 1;
    options.loader = [this](ListLoad& load) { return Load(load); };
    if (hands_out_) {
      options.executor = [this](std::function<void()> work) { queue_.push_back(std::move(work)); };
    }
    auto opened = ListCache::Open(options);
    ASSERT_EQ(Say(opened), "OK");
    cache_ = *std::move(opened);
    ASSERT_EQ(Say(cache_->store().CreateListFeature("user", "history", 30 * kDay)), "OK");
  }
  void Close() {
    queue_.clear();
    cache_->store().Verify();
    cache_.reset();
  }
  absl::Status Load(ListLoad& load) {
    if (phase_.load() == Phase::kWaits) {
      const uint64_t joined = cache_->GetStats().reads_joined;
      phase_ = Phase::kJoins;
      // What it wants may have been refused, and is no longer under way: it leads then.
      while (cache_->GetStats().reads_joined == joined && !has_read_) std::this_thread::yield();
    }
    for (size_t i = 0; i < load.size(); ++i) load.Answer(i, kLoaded);
    return absl::OkStatus();
  }
  static bool IsAnswered(const absl::Status& status) {
    return status.ok() || status.code() == absl::StatusCode::kResourceExhausted;
  }
  // `read` is refused the `nth`, while a read of `joined` joins its first load. Whether it came so
  // far.
  bool Refuse(uint64_t nth, const std::string& joined, const std::function<absl::Status()>& read) {
    absl::Status status_of_joined;
    phase_ = Phase::kWaits;
    has_read_ = false;
    std::thread other([&] {
      SpareThisThread();
      while (phase_ == Phase::kWaits) std::this_thread::yield();
      if (phase_ == Phase::kOver) return;
      ListItems items;
      status_of_joined = cache_->GetListItems(History(joined), {}, &items);
      has_read_ = true;
      if (!status_of_joined.ok()) return;
      EXPECT_EQ(Values(items), Strings({kValue, kValue}));
    });
    RefusedNew refusal(nth);
    const absl::Status status = read();
    const bool refused = refusal.End();
    if (phase_ == Phase::kWaits) phase_ = Phase::kOver;
    other.join();
    EXPECT_TRUE(IsAnswered(status)) << status;
    EXPECT_TRUE(IsAnswered(status_of_joined)) << status_of_joined;
    phase_ = Phase::kOver;
    return refused;
  }
  void ExpectAllServed() {
    for (const std::string& id : kIds) {
      ListItems items;
      ASSERT_EQ(Say(cache_->GetListItems(History(id), {}, &items)), "OK");
      ASSERT_EQ(Values(items), Strings({kValue, kValue}));
    }
  }

  enum class Phase {
    kWaits,
    kJoins,
    kOver
  };
  ManualClock clock_{kNow};
  bool hands_out_ = false;
  std::atomic<Phase> phase_{Phase::kOver};
  std::atomic<bool> has_read_{false};
  std::deque<std::function<void()>> queue_;
  std::unique_ptr<ListCache> cache_;
};

TEST_F(RefusedLoad, OfOneListIsTheErrorOfThoseWhoWaitForIt) {
  bool refused = true;
  for (uint64_t nth = 1; refused; ++nth) {
    ASSERT_LT(nth, 10'000u);
    SCOPED_TRACE(nth);
    ASSERT_NO_FATAL_FAILURE(Open());
    ListItems items;
    refused =
        Refuse(nth, kIds[0], [&] { return cache_->GetListItems(History(kIds[0]), {}, &items); });
    ASSERT_NO_FATAL_FAILURE(ExpectAllServed());
    Close();
  }
}

TEST_F(RefusedLoad, OfManyListsIsTheErrorOfThoseWhoWaitForThem) {
  const ListId lists[] = {History(kIds[0]), History(kIds[1]), History(kIds[2])};
  for (const std::string& joined : kIds) {
    bool refused = true;
    for (uint64_t nth = 1; refused; ++nth) {
      ASSERT_LT(nth, 10'000u);
      SCOPED_TRACE(nth);
      ASSERT_NO_FATAL_FAILURE(Open());
      std::vector<ListItems> items;
      refused = Refuse(nth, joined, [&] { return cache_->MultiGetListItems(lists, {}, &items); });
      ASSERT_NO_FATAL_FAILURE(ExpectAllServed());
      Close();
    }
  }
}

TEST_F(RefusedLoad, OfARefreshLeavesWhatIsThere) {
  const ListId lists[] = {History(kIds[0]), History(kIds[1])};
  for (const bool hands_out : {false, true}) {
    hands_out_ = hands_out;
    bool refused = true;
    for (uint64_t nth = 1; refused; ++nth) {
      ASSERT_LT(nth, 10'000u);
      SCOPED_TRACE(nth);
      ASSERT_NO_FATAL_FAILURE(Open());
      ASSERT_NO_FATAL_FAILURE(ExpectAllServed());
      clock_.AdvanceNanos(60 * kSecond);
      std::vector<ListItems> items;
      ListItems one;
      RefusedNew refusal(nth);
      const absl::Status of_many = cache_->MultiGetListItems(lists, {}, &items);
      const absl::Status of_one = cache_->GetListItems(History(kIds[2]), {}, &one);
      refused = refusal.End();
      ASSERT_TRUE(IsAnswered(of_many)) << of_many;
      ASSERT_TRUE(IsAnswered(of_one)) << of_one;
      // One that was dropped is not waited for.
      while (queue_.size() > 1) {
        queue_.front()();
        queue_.pop_front();
      }
      queue_.clear();
      ASSERT_NO_FATAL_FAILURE(ExpectAllServed());
      Close();
    }
  }
}

}  // namespace refused_load_test
}  // namespace liststore::testing
