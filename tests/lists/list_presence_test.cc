// What the store knows of a list: absent, partial or complete, and until when it is fresh. A row a
// rule.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/lists/store_fixture.h"

namespace liststore::testing {
namespace list_presence_test {

constexpr int64_t kTtl = 1000;

// What kind of store a rule is about.
enum class Kind {
  kStore,   // rejects at the limit
  kCache,   // evicts, and is all there is
  kBefore,  // evicts, in front of a source
};

std::string NameOf(ListPresence presence) {
  switch (presence) {
    case ListPresence::kAbsent:
      return "absent";
    case ListPresence::kPartial:
      return "partial";
    case ListPresence::kComplete:
      return "complete";
  }
  return "?";
}

class Presence {
 public:
  explicit Presence(Kind kind) {
    Options options;
    options.clock = &clock;
    options.shards = 1;
    options.feature_stats = true;
    options.memory_limit_bytes = uint64_t{4} << 20;
    if (kind != Kind::kStore) options.memory_policy = MemoryPolicy::kEvict;
    options.lists_live_elsewhere = kind == Kind::kBefore;
    store = OpenStore(options);
    EXPECT_EQ(Say(store->CreateListFeature("user", "f", kTtl)), "OK");
  }
  static ListId List(std::string_view id = "17") { return {"user", "f", "", id}; }

  void Add(std::string_view value = "x", std::string_view id = "17") {
    const NewItem item{clock.NowNanos(), value};
    EXPECT_EQ(Say(store->AddListItems(List(id), {&item, 1})), "OK");
  }
  bool Put(std::vector<std::string> values, PutListOptions options = {}) {
    std::vector<NewItem> items;
    for (const std::string& value : values) items.push_back({clock.NowNanos(), value});
    const auto put = store->PutList(List(), items, options);
    EXPECT_TRUE(put.ok()) << put.status();
    return put.value_or(false);
  }
  bool PutUntil(int64_t seconds_from_now, std::vector<std::string> values) {
    return Put(std::move(values), {.fresh_until_seconds = kNowSeconds + seconds_from_now});
  }
  void Remove(std::string_view value = "x") {
    EXPECT_EQ(*store->RemoveListItemsWithValue(List(), value), 1u);
  }
  void RemoveAll() { EXPECT_TRUE(store->RemoveAllListItems(List()).ok()); }
  bool Forget() { return *store->ForgetList(List()); }
  void Pass(int64_t seconds) { clock.AdvanceSeconds(static_cast<uint64_t>(seconds)); }
  void Reclaim() {
    while (store->Reclaim() != 0) {
    }
  }
  // Other lists, until this one is gone; it must not be read meanwhile.
  void EvictByOthers() {
    const std::string value(1000, 'v');
    for (int i = 0; i < 20'000; ++i) Add(value, "other" + std::to_string(i));
  }
  uint64_t Mark() { return *store->LoadMark(List()); }

  // "partial 2", and "until 5" when there is a freshness, in seconds from the beginning.
  std::string State() {
    ListItems items;
    EXPECT_EQ(Say(store->GetListItems(List(), {}, &items)), "OK");
    std::vector<ListItems> many;
    const ListId lists[] = {List(), List()};
    EXPECT_EQ(Say(store->MultiGetListItems(lists, {.limit = 1}, &many)), "OK");
    for (const ListItems& other : many) {
      EXPECT_EQ(NameOf(other.presence()), NameOf(items.presence()));
      EXPECT_EQ(other.fresh_until_seconds(), items.fresh_until_seconds());
    }
    std::string text = NameOf(items.presence()) + " " + std::to_string(items.size());
    if (items.fresh_until_seconds() != 0) {
      text += " until " + std::to_string(items.fresh_until_seconds() - kNowSeconds);
    }
    store->Verify();
    return text;
  }

  ManualClock clock{kNow};
  std::unique_ptr<ListStore> store;
};

struct Rule {
  const char* sentence;
  Kind kind;
  std::function<void(Presence&)> steps;
  const char* state;
};

const Rule kRules[] = {
    {"nothing is held of a list that never was", Kind::kBefore, [](Presence&) {}, "absent 0"},
    {"in a store that rejects, a list that is there is complete", Kind::kStore,
     [](Presence& p) { p.Add(); }, "complete 1"},
    {"a list that an addition begins in front of a source is partial", Kind::kBefore,
     [](Presence& p) { p.Add(); }, "partial 1"},
    {"and stays so with the next one", Kind::kBefore,
     [](Presence& p) {
       p.Add();
       p.Add("y");
     },
     "partial 2"},
    {"where the store is all there is, a list that an addition begins is complete", Kind::kCache,
     [](Presence& p) { p.Add(); }, "complete 1"},
    {"a list that was evicted before is partial when it is begun again", Kind::kCache,
     [](Presence& p) {
       p.Add();
       p.EvictByOthers();
       p.Add("y");
     },
     "partial 1"},
    {"an evicted list is absent", Kind::kCache,
     [](Presence& p) {
       p.Add();
       p.EvictByOthers();
     },
     "absent 0"},
    {"a list that was put is complete", Kind::kBefore,
     [](Presence& p) {
       p.Put({"a", "b"});
     },
     "complete 2"},
    {"a put replaces what was there, and completes it", Kind::kBefore,
     [](Presence& p) {
       p.Add();
       p.Put({"a", "b"});
     },
     "complete 2"},
    {"an addition to a complete list leaves it complete", Kind::kBefore,
     [](Presence& p) {
       p.Put({"a"});
       p.Add();
     },
     "complete 2"},
    {"removing the last item drops the list", Kind::kBefore,
     [](Presence& p) {
       p.Put({"x"});
       p.Remove();
     },
     "absent 0"},
    {"removing all items drops the list", Kind::kStore,
     [](Presence& p) {
       p.Put({"x", "y"});
       p.RemoveAll();
     },
     "absent 0"},
    {"a list whose items have all expired is absent, before it is reclaimed", Kind::kBefore,
     [](Presence& p) {
       p.Put({"x", "y"});
       p.Pass(kTtl);
     },
     "absent 0"},
    {"and after", Kind::kBefore,
     [](Presence& p) {
       p.Put({"x", "y"});
       p.Pass(kTtl);
       p.Reclaim();
     },
     "absent 0"},
    {"an addition to a list that has expired begins it again, before it is reclaimed",
     Kind::kBefore,
     [](Presence& p) {
       p.PutUntil(5000, {"x", "y"});
       p.Pass(kTtl);
       p.Add();
     },
     "partial 1"},
    {"and after", Kind::kBefore,
     [](Presence& p) {
       p.PutUntil(5000, {"x", "y"});
       p.Pass(kTtl);
       p.Reclaim();
       p.Add();
     },
     "partial 1"},
    {"in a store that rejects, such a list has no freshness left", Kind::kStore,
     [](Presence& p) {
       p.PutUntil(5000, {"x", "y"});
       p.Pass(kTtl);
       p.Add();
     },
     "complete 1"},
    {"expiry of some items leaves a list complete", Kind::kBefore,
     [](Presence& p) {
       p.Put({"x"});
       p.Pass(kTtl / 2);
       p.Add("y");
       p.Pass(kTtl / 2);
     },
     "complete 1"},
    {"an addition whose items have no time left begins nothing", Kind::kBefore,
     [](Presence& p) {
       const NewItem old{p.clock.NowNanos() - (kTtl + 1) * kSecond, "x"};
       EXPECT_EQ(Say(p.store->AddListItems(Presence::List(), {&old, 1})), "OK");
     },
     "absent 0"},
    {"a list may be put empty", Kind::kBefore, [](Presence& p) { p.Put({}); }, "complete 0"},
    {"in a store that rejects too", Kind::kStore, [](Presence& p) { p.PutUntil(10, {}); },
     "complete 0 until 10"},
    {"a remembered absence lasts until its freshness ends", Kind::kBefore,
     [](Presence& p) {
       p.PutUntil(10, {});
       p.Pass(9);
       p.Reclaim();
     },
     "complete 0 until 10"},
    {"and not longer, before it is reclaimed", Kind::kBefore,
     [](Presence& p) {
       p.PutUntil(10, {});
       p.Pass(10);
     },
     "absent 0"},
    {"and after", Kind::kBefore,
     [](Presence& p) {
       p.PutUntil(10, {});
       p.Pass(10);
       p.Reclaim();
       EXPECT_EQ(p.store->GetStats().tables[0].partitions, 0u);
     },
     "absent 0"},
    {"an addition to a remembered absence leaves the list complete", Kind::kBefore,
     [](Presence& p) {
       p.PutUntil(10, {});
       p.Add();
     },
     "complete 1 until 10"},
    {"an addition to one that has ended begins the list", Kind::kBefore,
     [](Presence& p) {
       p.PutUntil(10, {});
       p.Pass(10);
       p.Add();
     },
     "partial 1"},
    {"a put whose items have no time left is an absence", Kind::kBefore,
     [](Presence& p) {
       const NewItem old{p.clock.NowNanos() - (kTtl + 1) * kSecond, "x"};
       EXPECT_TRUE(*p.store->PutList(Presence::List(), {&old, 1}));
     },
     "complete 0"},
    {"freshness is told", Kind::kBefore, [](Presence& p) { p.PutUntil(10, {"x"}); },
     "complete 1 until 10"},
    {"also when it has ended", Kind::kBefore,
     [](Presence& p) {
       p.PutUntil(10, {"x"});
       p.Pass(20);
       p.Reclaim();
     },
     "complete 1 until 10"},
    {"additions leave it", Kind::kStore,
     [](Presence& p) {
       p.PutUntil(10, {"x"});
       for (int i = 0; i < 400; ++i) p.Add(std::to_string(i) + std::string(100, '.'));
       for (int i = 0; i < 395; ++i) p.Remove(std::to_string(i) + std::string(100, '.'));
       p.Reclaim();
     },
     "complete 6 until 10"},
    {"a put without a freshness ends it", Kind::kStore,
     [](Presence& p) {
       p.PutUntil(10, {"x"});
       p.Put({"x"});
     },
     "complete 1"},
    {"a put of many items is complete", Kind::kBefore,
     [](Presence& p) {
       p.PutUntil(10, std::vector<std::string>(1, "y"));
       std::vector<std::string> values;
       for (int i = 0; i < 1000; ++i) values.push_back(std::to_string(i) + std::string(50, '.'));
       p.PutUntil(20, values);
       p.PutUntil(30, {"x", "y"});
     },
     "complete 2 until 30"},
    {"a forgotten list is absent", Kind::kStore,
     [](Presence& p) {
       p.Put({"x"});
       EXPECT_TRUE(p.Forget());
       EXPECT_FALSE(p.Forget());
     },
     "absent 0"},
    {"a forgotten list is complete when it is begun again, where the store is all there is: its "
     "caller has thrown it away",
     Kind::kCache,
     [](Presence& p) {
       p.Add();
       p.Forget();
       p.Add("y");
     },
     "complete 1"},
    {"a put is refused when an addition came after its mark", Kind::kBefore,
     [](Presence& p) {
       const uint64_t mark = p.Mark();
       p.Add();
       EXPECT_FALSE(p.Put({"a", "b"}, {.unless_written_since = mark}));
     },
     "partial 1"},
    {"a put is not refused for what came before its mark", Kind::kBefore,
     [](Presence& p) {
       p.Mark();
       p.Add();
       const uint64_t mark = p.Mark();
       EXPECT_TRUE(p.Put({"a", "b"}, {.unless_written_since = mark}));
     },
     "complete 2"},
    {"a put is refused when the list was removed after its mark", Kind::kBefore,
     [](Presence& p) {
       p.Add();
       const uint64_t mark = p.Mark();
       p.RemoveAll();
       EXPECT_FALSE(p.Put({"a", "b"}, {.unless_written_since = mark}));
     },
     "absent 0"},
    {"a put is refused when a value was removed after its mark", Kind::kBefore,
     [](Presence& p) {
       p.Add();
       p.Add("y");
       const uint64_t mark = p.Mark();
       p.Remove();
       EXPECT_FALSE(p.Put({"x", "y"}, {.unless_written_since = mark}));
     },
     "partial 1"},
    {"a put is refused when the list was forgotten after its mark", Kind::kBefore,
     [](Presence& p) {
       const uint64_t mark = p.Mark();
       EXPECT_FALSE(p.Forget());
       EXPECT_FALSE(p.Put({"a", "b"}, {.unless_written_since = mark}));
     },
     "absent 0"},
    {"a put is refused when the list was put after its mark", Kind::kBefore,
     [](Presence& p) {
       const uint64_t mark = p.Mark();
       EXPECT_TRUE(p.Put({"a"}, {.unless_written_since = mark}));
       EXPECT_FALSE(p.Put({"a", "b"}, {.unless_written_since = mark}));
     },
     "complete 1"},
    {"a put is refused when the feature was deleted and created after its mark", Kind::kBefore,
     [](Presence& p) {
       const uint64_t mark = p.Mark();
       EXPECT_EQ(Say(p.store->DeleteListFeature("user", "f")), "OK");
       EXPECT_EQ(Say(p.store->CreateListFeature("user", "f", kTtl)), "OK");
       EXPECT_FALSE(p.Put({"a"}, {.unless_written_since = mark}));
     },
     "absent 0"},
    {"a put with a mark that nobody gave out is refused", Kind::kBefore,
     [](Presence& p) { EXPECT_FALSE(p.Put({"a"}, {.unless_written_since = UINT64_MAX})); },
     "absent 0"},
    {"a deleted feature takes its lists along, put ones too", Kind::kBefore,
     [](Presence& p) {
       p.PutUntil(10, {});
       EXPECT_EQ(Say(p.store->DeleteListFeature("user", "f")), "OK");
       EXPECT_EQ(Say(p.store->CreateListFeature("user", "f", kTtl)), "OK");
     },
     "absent 0"},
};

TEST(ListPresenceTest, Rules) {
  for (const Rule& rule : kRules) {
    SCOPED_TRACE(rule.sentence);
    Presence presence(rule.kind);
    rule.steps(presence);
    EXPECT_EQ(presence.State(), rule.state);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(ListPresenceTest, AReadOutsideOfAllItemsTellsItToo) {
  Presence p(Kind::kBefore);
  p.Add();
  ListItems items;
  ASSERT_EQ(Say(p.store->GetListItems(Presence::List(), {.max_timestamp_nanos = 5}, &items)), "OK");
  EXPECT_TRUE(items.empty());
  EXPECT_EQ(items.presence(), ListPresence::kPartial);
  ASSERT_EQ(Say(p.store->GetListItems(
                Presence::List(), {.min_timestamp_nanos = 7, .max_timestamp_nanos = 5}, &items)),
            "OK");
  EXPECT_EQ(items.presence(), ListPresence::kPartial);
  ListItems moved = std::move(items);
  EXPECT_EQ(moved.presence(), ListPresence::kPartial);
  EXPECT_EQ(items.presence(), ListPresence::kAbsent);  // NOLINT: said of what was moved from
  moved.clear();
  EXPECT_EQ(moved.presence(), ListPresence::kAbsent);
}

TEST(ListPresenceTest, PutsThatCannotBe) {
  Presence p(Kind::kStore);
  EXPECT_EQ(Say(p.store->PutList({"user", "none", "", "1"}, {})),
            "NOT_FOUND: no list feature version with the key \"user#none|\"");
  EXPECT_EQ(Say(p.store->PutList(Presence::List(), {}, {.fresh_until_seconds = -1})),
            "INVALID_ARGUMENT: fresh_until_seconds -1 is less than 0");
  const NewItem late{UINT64_MAX, "x"};
  p.Add("kept");
  EXPECT_EQ(p.store->PutList(Presence::List(), {&late, 1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(p.State(), "complete 1");
}

TEST(ListPresenceTest, ManyListsArePutEachByItself) {
  Presence p(Kind::kBefore);
  const NewItem item{kNow, "x"};
  const uint64_t mark = *p.store->LoadMark(Presence::List("3"));
  p.Add("y", "3");
  const ListPut puts[] = {
      {Presence::List("1"), {&item, 1}, {.fresh_until_seconds = kNowSeconds + 5}},
      {{"user", "none", "", "2"}, {&item, 1}},
      {Presence::List("3"), {&item, 1}, {.unless_written_since = mark}},
      {Presence::List("4"), {}},
  };
  const auto results = p.store->PutListsMulti(puts);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_TRUE(*results[0]);
  EXPECT_EQ(results[1].status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(*results[2]);
  EXPECT_TRUE(*results[3]);
  std::vector<ListItems> many;
  const ListId lists[] = {Presence::List("1"), Presence::List("3"), Presence::List("4")};
  ASSERT_EQ(Say(p.store->MultiGetListItems(lists, {}, &many)), "OK");
  EXPECT_EQ(NameOf(many[0].presence()), "complete");
  EXPECT_EQ(NameOf(many[1].presence()), "partial");
  EXPECT_EQ(NameOf(many[2].presence()), "complete");
  EXPECT_EQ(Values(many[0]), Strings({"x"}));
}

TEST(ListPresenceTest, UsesAreCountedInAllAndForEachFeature) {
  Presence p(Kind::kBefore);
  ASSERT_EQ(Say(p.store->CreateListFeature("user", "g", kTtl)), "OK");
  ListItems items;
  const auto get = [&](const ListId& list) {
    EXPECT_EQ(Say(p.store->GetListItems(list, {}, &items)), "OK");
  };
  get(Presence::List());        // a miss
  p.Add();                      // begins it
  get(Presence::List());        // partial
  p.Put({"x", "y"});            // whole
  get(Presence::List());        // a hit
  get(Presence::List());        // another
  get({"user", "g", "", "1"});  // a miss of the other
  get({"user", "h", "", "1"});  // and of one that nobody knows
  p.Forget();
  const Stats stats = p.store->GetStats();
  EXPECT_EQ(stats.cache.hits, 2u);
  EXPECT_EQ(stats.cache.partial_hits, 1u);
  EXPECT_EQ(stats.cache.misses, 3u);
  EXPECT_EQ(stats.cache.additions, 1u);
  EXPECT_EQ(stats.cache.puts, 1u);
  EXPECT_EQ(stats.cache.forgotten, 1u);
  EXPECT_EQ(stats.cache.forgotten_items, 2u);
  ASSERT_EQ(stats.features.size(), 2u);
  EXPECT_EQ(stats.features[0].feature, "f");
  EXPECT_EQ(stats.features[0].cache.hits, 2u);
  EXPECT_EQ(stats.features[0].cache.misses, 1u);
  EXPECT_EQ(stats.features[0].cache.forgotten_items, 2u);
  EXPECT_EQ(stats.features[1].feature, "g");
  EXPECT_EQ(stats.features[1].cache.misses, 1u);
}

}  // namespace list_presence_test
}  // namespace liststore::testing
