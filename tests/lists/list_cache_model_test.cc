// A cache in front of a source against what the source has been: random reads, writes, changes of
// the source behind the cache's back, a clock that moves, and loaders that fail, repeat themselves
// and let others get in between.
//
// What an answer may be. The source keeps the history of each list. A read that is answered with OK
// is answered with a base, a content that the source had, and on top of it changes that were
// written through the cache later, in their order:
//  (1) the source had the base no longer ago than the list may be served: fresh_for_seconds, or
//      absent_for_seconds for one that it did not have, and stale_for_seconds when a load of the
//      list failed during the read; and as long as a load may take;
//  (2) the base is not older than a write-around, a writer's failure or an invalidation that had
//      returned when the read began;
//  (3) no write-through that had returned by then is missing;
//  (4) the answer is said to be complete, whatever part of the list the store held.
// A read fails only when a load of its list failed meanwhile, and of no list two loads are under
// way unless it has changed in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "liststore/list_cache.h"
#include "tests/lists/store_fixture.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace list_cache_model_test {

constexpr int64_t kTtl = 60;
constexpr uint64_t kStepsPerCache = 2'000;

using Content = std::map<uint64_t, std::string>;  // by timestamp; a value has its own nanoseconds

struct Change {
  ListChange::Kind kind = ListChange::Kind::kAdd;
  Content items = {};
  std::string value = {};

  void ApplyTo(Content& content) const {
    if (kind == ListChange::Kind::kAdd) {
      for (const auto& [timestamp, item] : items) content[timestamp] = item;
    } else if (kind == ListChange::Kind::kRemoveAll) {
      content.clear();
    } else {
      std::erase_if(content, [&](const auto& item) { return item.second == value; });
    }
  }
};

// A content that the source had, and the change that made it.
struct Version {
  Content content;
  Change change;
  bool through = false;                     // written through the cache
  int64_t until_second = int64_t{1} << 41;  // the next one came
};

// What must hold of a read that begins now.
struct Floor {
  size_t base = 0;     // first version that may be the base
  size_t through = 0;  // the last change that may not be missing
  uint64_t failures = 0;
  int64_t second = 0;
};

struct SourceList {
  std::vector<Version> versions = std::vector<Version>(1);
  Floor floor;
  uint64_t failures = 0;  // loads of it
  uint64_t changes = 0;   // each lets another load begin
};

Content AliveAt(const Content& content, int64_t second) {
  Content alive;
  for (const auto& [timestamp, value] : content) {
    if (static_cast<int64_t>(timestamp / kSecond) + kTtl > second) alive[timestamp] = value;
  }
  return alive;
}

std::vector<std::pair<uint64_t, std::string>> PageOf(const Content& content,
                                                     const GetOptions& get) {
  std::vector<std::pair<uint64_t, std::string>> page;
  for (auto at = content.rbegin(); at != content.rend() && page.size() < get.limit; ++at) {
    if (at->first < get.min_timestamp_nanos) continue;
    if (get.max_timestamp_nanos && at->first >= *get.max_timestamp_nanos) continue;
    page.emplace_back(*at);
  }
  return page;
}

class ListCacheModelTest : public ::testing::Test {
 protected:
  ListCacheModelTest() : random(TestSeed()) {}

  static ListId Id(std::string_view id) { return {"user", "history", "", id}; }
  int64_t NowSecond() const { return static_cast<int64_t>(clock.NowNanos() / kSecond); }

  // --- The source

  void Commit(const std::string& id, const Change& change, bool through) {
    SourceList& list = source[id];
    list.versions.back().until_second = NowSecond();
    Version next{list.versions.back().content, change, through};
    change.ApplyTo(next.content);
    list.versions.push_back(std::move(next));
  }

  void Open() {
    for (auto& [id, list] : source) {
      Version last{list.versions.back().content, {}};
      list = {};
      list.versions = {std::move(last)};
    }
    options = {};
    options.store.clock = &clock;
    options.store.shards = 1;
    options.store.memory_limit_bytes = 1 << 20;
    options.loader = [this](ListLoad& load) { return Load(load); };
    options.writer = [this](const ListChange& change) { return Write(change); };
    options.fresh_for_seconds = random.OneIn(3) ? 0 : random.Between(1, 20);
    options.absent_for_seconds = random.OneIn(3) ? 0 : random.Between(1, 20);
    options.stale_for_seconds = random.OneIn(2) ? 0 : random.Between(1, 10);
    if (options.fresh_for_seconds > 3 && random.OneIn(2)) {
      options.refresh_ahead_seconds = random.Between(1, options.fresh_for_seconds - 1);
    }
    if (random.OneIn(3)) options.lists_per_load_max = 1 + random.Below(3);
    if (random.OneIn(3)) options.write_policy = CacheWritePolicy::kAround;
    if (random.OneIn(2)) {
      options.executor = [](const std::function<void()>& task) { task(); };  // reads wait for it
    }
    ids = 1 + random.Below(random.OneIn(2) ? 300 : 10);
    value_bytes = random.OneIn(2) ? 12 : 1 + random.Below(2'000);
    failing = random.OneIn(3) ? 0 : 3 + random.Below(20);
    expected = {};
    reads = 0;
    load_seconds_max = 0;
    auto opened = ListCache::Open(options);
    ASSERT_EQ(Say(opened), "OK");
    cache = *std::move(opened);
    ASSERT_EQ(Say(cache->store().CreateListFeature("user", "history", kTtl)), "OK");
  }
  void Close() {
    ExpectCounters();
    cache->store().Verify();
    evictions += cache->store().GetStats().cache.evictions;
    cache.reset();
  }

  absl::Status Load(ListLoad& load) {
    ++depth;
    ++expected.loader_calls;
    const int64_t began = NowSecond();
    std::vector<std::pair<std::string, uint64_t>> mine;
    for (size_t i = 0; i < load.size(); ++i) {
      const std::string id(load.list(i).entity_id);
      const SourceList& list = source[id];
      // Where other loads may come between a read's look and its own, a change may have too.
      if (options.executor == nullptr && options.lists_per_load_max == 1'000) {
        EXPECT_EQ(loading.count({id, list.changes}), 0u) << "two loads of " << id;
      }
      loading.insert({id, list.changes});
      mine.emplace_back(id, list.changes);
    }
    GetInBetween(mine);
    std::vector<Content> contents;
    for (const auto& [id, changes] : mine) contents.push_back(source[id].versions.back().content);
    GetInBetween(mine);
    const bool all_fail = Fails();
    for (size_t i = 0; i < load.size(); ++i) {
      // Out of the way before others may ask again.
      loading.erase(loading.find(mine[i]));
      const bool says_nothing = all_fail || (Fails() && random.OneIn(2));
      if (says_nothing || Fails()) {
        ++expected.load_failures;
        ++source[mine[i].first].failures;
        if (!says_nothing) load.Fail(i, absl::UnavailableError("not this one"));
        continue;
      }
      ++expected.lists_loaded;
      if (contents[i].empty()) ++expected.lists_absent;
      AnswerInDisorder(load, i, contents[i]);
    }
    load_seconds_max = std::max(load_seconds_max, NowSecond() - began);
    --depth;
    return all_fail ? absl::UnavailableError("down") : absl::OkStatus();
  }
  void AnswerInDisorder(ListLoad& load, size_t i, const Content& content) {
    std::vector<NewItem> items;
    for (const auto& [timestamp, value] : content) items.push_back({timestamp, value});
    for (size_t n = items.size(); n > 0 && random.OneIn(3); --n) {
      items.push_back(items[random.Below(items.size())]);
    }
    for (size_t n = items.size(); n > 1; --n) std::swap(items[n - 1], items[random.Below(n)]);
    load.Answer(i, items);
    if (!random.OneIn(8)) return;
    ++expected.answers_ignored;
    random.OneIn(2) ? load.Answer(i, {}) : load.Fail(i, absl::UnavailableError("too late"));
  }
  bool Fails() { return failing != 0 && random.OneIn(failing); }

  // While lists are loaded: time, changes of them and of others, and others who ask for them.
  void GetInBetween(const std::vector<std::pair<std::string, uint64_t>>& mine) {
    if (!random.OneIn(4)) return;
    if (random.OneIn(3)) clock.AdvanceSeconds(random.Below(3));
    const std::string& id = mine[random.Below(mine.size())].first;
    switch (random.Below(5)) {
      case 0:
        return ChangeThrough(id);
      case 1:
        return ChangeBehind(id, /*invalidate=*/random.OneIn(2));
      case 2:
        return depth == 1 ? AskMeanwhile(id) : void();
      case 3: {
        const std::string other = AnyId();
        const bool own = std::any_of(loading.begin(), loading.end(),
                                     [&](const auto& one) { return one.first == other; });
        return own || depth > 2 ? void() : GetOne(other);
      }
      default:
        return ChangeThrough(AnyId());
    }
  }
  // Another thread asks for a list that is being loaded; it joins the load, or is answered at once,
  // or loads by itself because the list has changed: this one goes on when that is decided.
  void AskMeanwhile(const std::string& id) {
    auto asked = std::make_unique<Asked>();
    asked->id = id;
    asked->floor = FloorOf(id);
    asked->get = AnyOptions();
    ++reads;
    const uint64_t joined = cache->GetStats().reads_joined;
    Asked& mine = *asked;
    ++depth;
    mine.thread = std::thread([this, &mine] {
      mine.status = cache->GetListItems(Id(mine.id), mine.get, &mine.items);
      mine.done.store(true, std::memory_order_release);
    });
    while (!mine.done.load(std::memory_order_acquire) && cache->GetStats().reads_joined == joined) {
      std::this_thread::yield();
    }
    --depth;
    if (!mine.done.load(std::memory_order_acquire)) ++joins;
    meanwhile.push_back(std::move(asked));
  }
  void EndMeanwhile() {
    for (const auto& asked : meanwhile) {
      asked->thread.join();
      Check(asked->id, asked->floor, asked->get, asked->status, asked->items);
    }
    meanwhile.clear();
  }

  // --- Writes

  absl::Status Write(const ListChange& change) {
    const std::string id(change.list.entity_id);
    const bool fails = Fails();
    if (!fails || random.OneIn(2)) {
      Change made{change.kind, {}, std::string(change.value)};
      for (const NewItem& item : change.items) {
        made.items[item.timestamp_nanos] = std::string(item.value);
      }
      Commit(id, made, !fails && options.write_policy == CacheWritePolicy::kThrough);
    }
    if (!fails) return absl::OkStatus();
    ++expected.writer_failures;
    return absl::UnavailableError("perhaps");
  }
  void ChangeThrough(const std::string& id) {
    const Change change = AnyChange(id);
    std::vector<NewItem> items;
    for (const auto& [timestamp, value] : change.items) items.push_back({timestamp, value});
    SourceList& list = source[id];
    const uint64_t failures = expected.writer_failures;
    absl::Status status;
    switch (change.kind) {
      case ListChange::Kind::kAdd:
        status = cache->AddListItems(Id(id), items);
        break;
      case ListChange::Kind::kRemoveWithValue:
        status = cache->RemoveListItemsWithValue(Id(id), change.value);
        break;
      case ListChange::Kind::kRemoveAll:
        status = cache->RemoveAllListItems(Id(id));
        break;
    }
    ASSERT_EQ(status.ok(), failures == expected.writer_failures) << status;
    ++list.changes;
    const bool through = status.ok() && options.write_policy == CacheWritePolicy::kThrough;
    if (through) ++reads;  // it looks whether the list is there
    (through ? list.floor.through : list.floor.base) = list.versions.size() - 1;
  }
  void ChangeBehind(const std::string& id, bool invalidate) {
    SourceList& list = source[id];
    Commit(id, AnyChange(id), /*through=*/false);
    if (!invalidate) return;
    ASSERT_EQ(Say(cache->Invalidate(Id(id))), "OK");
    ++list.changes;
    list.floor.base = list.versions.size() - 1;
  }
  // An item of a list of which the store has nothing: a part, not to be taken for the whole.
  void PutAPart(const std::string& id) {
    const Content& content = source[id].versions.back().content;
    ListItems items;
    ASSERT_EQ(Say(cache->store().GetListItems(Id(id), {}, &items)), "OK");
    ++reads;
    if (content.empty() || items.presence() != ListPresence::kAbsent) return;
    const NewItem item{content.begin()->first, content.begin()->second};
    ASSERT_EQ(Say(cache->store().AddListItems(Id(id), {&item, 1})), "OK");
  }

  // --- Reads

  Floor FloorOf(const std::string& id) {
    SourceList& list = source[id];
    Floor floor = list.floor;
    floor.failures = list.failures;
    floor.second = NowSecond();
    return floor;
  }
  void GetOne(const std::string& id) {
    const Floor floor = FloorOf(id);
    const GetOptions get = AnyOptions();
    ListItems items;
    ++reads;
    const absl::Status status = cache->GetListItems(Id(id), get, &items);
    Check(id, floor, get, status, items);
  }
  void GetMany() {
    std::vector<std::string> names(1 + random.Below(20));
    std::vector<ListId> lists;
    std::vector<Floor> floors;
    for (std::string& name : names) {
      name = AnyId();
      lists.push_back(Id(name));
      floors.push_back(FloorOf(name));
    }
    const GetOptions get = AnyOptions();
    std::vector<ListItems> many;
    reads += names.size();
    const absl::Status status = cache->MultiGetListItems(lists, get, &many);
    ASSERT_EQ(many.size(), names.size());
    bool failed = false;
    for (size_t i = 0; i < names.size(); ++i) {
      // A list that failed has no answer, and is not said to be whole.
      const bool ok = many[i].presence() == ListPresence::kComplete;
      failed |= !ok;
      Check(names[i], floors[i], get, ok ? absl::OkStatus() : status, many[i]);
    }
    ASSERT_EQ(status.ok(), !failed) << status;
  }

  void Check(const std::string& id, const Floor& floor, const GetOptions& get,
             const absl::Status& status, const ListItems& items) {
    const SourceList& list = source[id];
    const bool load_failed = list.failures != floor.failures;
    if (!status.ok()) {
      // Of a later call of the loader under way.
      if (depth > 0 && status.code() == absl::StatusCode::kFailedPrecondition) return;
      ASSERT_TRUE(load_failed) << id << ": " << status;
      ASSERT_TRUE(items.empty());
      return;
    }
    ++answers;
    ASSERT_EQ(items.presence(), ListPresence::kComplete);
    std::vector<std::pair<uint64_t, std::string>> page;
    for (const ListItemView item : items) {
      page.emplace_back(item.timestamp_nanos, std::string(item.value));
    }
    const bool whole = get.min_timestamp_nanos == 0 && !get.max_timestamp_nanos;
    const int64_t bound = BoundSeconds(/*absent=*/whole && page.empty()) +
                          (load_failed ? options.stale_for_seconds : 0);
    for (size_t base = list.versions.size(); base-- > floor.base;) {
      // (1): when the read began, at least.
      if (list.versions[base].until_second + bound < floor.second) break;
      if (IsAnswer(list, base, floor, get, page)) return;
    }
    std::string said;
    const auto say = [&](uint64_t timestamp, const std::string& value) {
      said += " " + value.substr(0, value.find('.')) + "@" +
              std::to_string(static_cast<int64_t>(timestamp / kSecond) + kTtl - NowSecond());
    };
    for (const auto& [timestamp, value] : page) say(timestamp, value);
    for (size_t v = floor.base; v < list.versions.size(); ++v) {
      said += "\nversion " + std::to_string(v) + (list.versions[v].through ? ", through:" : ":");
      for (const auto& [timestamp, value] : list.versions[v].content) say(timestamp, value);
    }
    FAIL() << "list " << id << ", versions " << floor.base << " to " << list.versions.size()
           << ", through " << floor.through << ": no content of the source is " << said;
  }
  int64_t BoundSeconds(bool absent) const {
    constexpr int64_t kForEver = int64_t{1} << 40;
    if (absent) return options.absent_for_seconds + load_seconds_max;
    // A list that was absent, and was written to, keeps its freshness.
    if (options.fresh_for_seconds == 0) return kForEver;
    return std::max(options.fresh_for_seconds, options.absent_for_seconds) + load_seconds_max;
  }
  bool IsAnswer(const SourceList& list, size_t base, const Floor& floor, const GetOptions& get,
                const std::vector<std::pair<uint64_t, std::string>>& page) const {
    Content content = list.versions[base].content;
    for (size_t last = base;; ++last) {
      if (last > base && list.versions[last].through) list.versions[last].change.ApplyTo(content);
      if (last >= floor.through) {
        // By the clock of any instant of the read.
        for (int64_t second = floor.second; second <= NowSecond(); ++second) {
          if (PageOf(AliveAt(content, second), get) == page) return true;
        }
      }
      if (last + 1 == list.versions.size()) return false;
    }
  }

  void ExpectCounters() {
    const ListCacheStats stats = cache->GetStats();
    EXPECT_EQ(stats.loader_calls, expected.loader_calls);
    EXPECT_EQ(stats.lists_loaded, expected.lists_loaded);
    EXPECT_EQ(stats.lists_absent, expected.lists_absent);
    EXPECT_EQ(stats.load_failures, expected.load_failures);
    EXPECT_EQ(stats.answers_ignored, expected.answers_ignored);
    EXPECT_EQ(stats.writer_failures, expected.writer_failures);
    EXPECT_LE(stats.loads_overtaken + stats.loads_not_kept, stats.lists_loaded);
    EXPECT_LE(stats.refreshes, stats.lists_loaded + stats.load_failures);
    EXPECT_LE(stats.stale_served, stats.load_failures + stats.reads_joined);
    const CacheStats held = cache->store().GetStats().cache;
    EXPECT_EQ(held.hits + held.partial_hits + held.misses, reads);
    // What was no hit was loaded, or joined a load, or was the look of a writer.
    overtaken += stats.loads_overtaken;
    stale_served += stats.stale_served;
    refreshes += stats.refreshes;
  }

  // --- What is drawn

  std::string AnyId() { return std::to_string(random.Below(ids)); }
  Content AnyItems() {
    Content items;
    for (uint64_t n = 1 + random.Below(4); n > 0; --n) {
      const uint64_t number = random.Below(40);
      // Some are over already.
      const uint64_t second = clock.NowNanos() / kSecond - random.Below(kTtl + 5);
      std::string value = std::to_string(number);
      value.resize(value.size() + value_bytes, '.');
      items[second * kSecond + number] = std::move(value);
    }
    return items;
  }
  Change AnyChange(const std::string& id) {
    const Content& content = source[id].versions.back().content;
    if (random.OneIn(12)) return {.kind = ListChange::Kind::kRemoveAll};
    if (!content.empty() && random.OneIn(3)) {
      auto at = content.begin();
      std::advance(at, random.Below(content.size()));
      return {.kind = ListChange::Kind::kRemoveWithValue, .value = at->second};
    }
    return {.items = AnyItems()};
  }
  GetOptions AnyOptions() {
    GetOptions get;
    if (random.OneIn(4)) get.limit = 1 + random.Below(5);
    if (random.OneIn(6)) get.min_timestamp_nanos = clock.NowNanos() - random.Below(kTtl) * kSecond;
    if (random.OneIn(6)) get.max_timestamp_nanos = clock.NowNanos() - random.Below(kTtl) * kSecond;
    return get;
  }
  void Step() {
    const uint64_t drawn = random.Below(20);
    if (drawn < 8) {
      GetOne(AnyId());
    } else if (drawn < 10) {
      GetMany();
    } else if (drawn < 14) {
      ChangeThrough(AnyId());
    } else if (drawn < 16) {
      ChangeBehind(AnyId(), random.OneIn(3));
    } else if (drawn < 17) {
      PutAPart(AnyId());
    } else {
      clock.AdvanceSeconds(random.Below(random.OneIn(20) ? 30 : 3));
    }
    EndMeanwhile();
  }

  struct Asked {
    std::string id;
    Floor floor;
    GetOptions get;
    std::thread thread;
    std::atomic<bool> done{false};
    absl::Status status;
    ListItems items;
  };

  Random random;
  ManualClock clock{kNow};  // whole seconds: the end of an item does not depend on when it was put
  ListCacheOptions options;
  std::map<std::string, SourceList> source;
  std::multiset<std::pair<std::string, uint64_t>> loading;  // with the changes that there had been
  std::vector<std::unique_ptr<Asked>> meanwhile;
  int depth = 0;
  uint64_t ids = 1;
  size_t value_bytes = 12;
  uint64_t failing = 0;
  ListCacheStats expected;
  uint64_t reads = 0;
  int64_t load_seconds_max = 0;
  uint64_t answers = 0;
  uint64_t joins = 0;
  uint64_t overtaken = 0;
  uint64_t stale_served = 0;
  uint64_t refreshes = 0;
  uint64_t evictions = 0;
  std::unique_ptr<ListCache> cache;
};

TEST_F(ListCacheModelTest, AnswersAreWhatTheSourceHad) {
  const uint64_t steps = TestSteps(20'000);
  for (uint64_t step = 0; step < steps; ++step) {
    if (step % kStepsPerCache == 0) {
      if (cache != nullptr) Close();
      Open();
    }
    Step();
    ASSERT_FALSE(HasFailure()) << "step " << step;
    if (step % 512 == 0) cache->store().Verify();
  }
  Close();
  // Options are drawn for each cache: few of them do not show everything.
  if (steps < 100'000) return;
  EXPECT_GT(answers, steps / 4);
  for (const uint64_t seen : {joins, overtaken, stale_served, refreshes, evictions}) {
    EXPECT_GT(seen, 0u);
  }
}

// --- Threads

// A list of the source whose changes are all made through the cache: an answer is what the source
// had at some instant of the read, or from the last change on that had returned before.
struct SharedList {
  std::mutex mutex;
  std::vector<Content> versions = std::vector<Content>(1);
  size_t returned = 0;
};

class ListCacheThreadsTest : public ::testing::Test {
 protected:
  static constexpr size_t kLists = 4;
  static constexpr int kThreads = 4;

  static SharedList& ListOf(std::vector<SharedList>& lists, const ListId& id) {
    return lists[std::stoul(std::string(id.entity_id))];
  }
  void Run(CacheWritePolicy policy, uint64_t seed, uint64_t steps);
};

void ListCacheThreadsTest::Run(CacheWritePolicy policy, uint64_t seed, uint64_t steps) {
  std::vector<SharedList> source(kLists);
  ManualClock clock(kNow);
  ListCacheOptions options;
  options.store.clock = &clock;
  options.store.shards = 1;
  options.store.memory_limit_bytes = 1 << 20;
  options.write_policy = policy;
  options.loader = [&](ListLoad& load) {
    for (size_t i = 0; i < load.size(); ++i) {
      SharedList& list = ListOf(source, load.list(i));
      Content content;
      {
        const std::lock_guard lock(list.mutex);
        content = list.versions.back();
      }
      std::this_thread::yield();
      std::vector<NewItem> items;
      for (const auto& [timestamp, value] : content) items.push_back({timestamp, value});
      load.Answer(i, items);
    }
    return absl::OkStatus();
  };
  // The number of the version that the thread's last write made.
  static thread_local size_t made = 0;
  options.writer = [&](const ListChange& change) {
    SharedList& list = ListOf(source, change.list);
    Change made_change{change.kind, {}, std::string(change.value)};
    for (const NewItem& item : change.items) {
      made_change.items[item.timestamp_nanos] = std::string(item.value);
    }
    {
      const std::lock_guard lock(list.mutex);
      list.versions.push_back(list.versions.back());
      made_change.ApplyTo(list.versions.back());
      made = list.versions.size() - 1;
    }
    std::this_thread::yield();
    return absl::OkStatus();
  };
  auto cache = *ListCache::Open(options);
  ASSERT_EQ(Say(cache->store().CreateListFeature("user", "history", kTtl)), "OK");

  std::atomic<bool> failed{false};
  const auto work = [&](uint64_t number) {
    Random random(seed * 100 + number);
    ListItems items;
    for (uint64_t step = 0; step < steps && !failed; ++step) {
      const std::string id = std::to_string(random.Below(kLists));
      const ListId list_id{"user", "history", "", id};
      SharedList& list = ListOf(source, list_id);
      const uint64_t number_of_value = random.Below(6);
      const std::string value = std::to_string(number_of_value);
      const NewItem item{kNow - number_of_value, value};
      absl::Status status;
      const uint64_t drawn = random.Below(8);
      if (drawn >= 4) {
        size_t floor = 0;
        {
          const std::lock_guard lock(list.mutex);
          floor = list.returned;
        }
        status = cache->GetListItems(list_id, {}, &items);
        Content content;
        for (const ListItemView one : items) {
          content[one.timestamp_nanos] = std::string(one.value);
        }
        const std::lock_guard lock(list.mutex);
        bool found = false;
        for (size_t v = list.versions.size(); v-- > floor && !found;) {
          found = list.versions[v] == content;
        }
        if (!found || items.presence() != ListPresence::kComplete) {
          failed = true;
          ADD_FAILURE() << "list " << id << ", step " << step << ": " << content.size()
                        << " items are no content since " << floor << " of "
                        << list.versions.size();
        }
      } else if (drawn == 3) {
        status = cache->Invalidate(list_id);
      } else {
        status = drawn == 0                      ? cache->RemoveListItemsWithValue(list_id, value)
                 : drawn == 1 && random.OneIn(4) ? cache->RemoveAllListItems(list_id)
                                                 : cache->AddListItems(list_id, {&item, 1});
        const std::lock_guard lock(list.mutex);
        list.returned = std::max(list.returned, made);
      }
      if (!status.ok()) {
        failed = true;
        ADD_FAILURE() << status;
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  cache->store().Verify();
}

TEST_F(ListCacheThreadsTest, AReadSeesEveryWriteThatReturnedBefore) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(20'000) / 4;
  for (const CacheWritePolicy policy : {CacheWritePolicy::kThrough, CacheWritePolicy::kAround}) {
    SCOPED_TRACE(static_cast<int>(policy));
    Run(policy, seed, steps);
    if (HasFailure()) return;
  }
}

}  // namespace list_cache_model_test
}  // namespace liststore::testing
