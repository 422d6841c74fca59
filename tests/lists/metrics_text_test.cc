#include "liststore/metrics_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "liststore/clock.h"
#include "liststore/list_store.h"
#include "tests/support/prometheus_parser.h"

namespace liststore::testing {
namespace metrics_text_test {

PrometheusPage Read(const std::string& text) {
  PrometheusPage page = ParsePrometheus(text);
  EXPECT_EQ(page.problems, std::vector<std::string>()) << text;
  return page;
}

TEST(MetricsText, HasWhatAStoreHolds) {
  ManualClock clock(1'700'000'000'000'000'000);
  Options options;
  options.clock = &clock;
  options.memory_limit_bytes = 64 << 20;
  options.feature_stats = true;
  auto store = ListStore::Open(options);
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE((*store)->CreateListFeature("user", "clicks", 3600).ok());
  const std::vector<NewItem> items = {{1'700'000'000'000'000'000, "a"},
                                      {1'700'000'000'000'000'001, "b"}};
  ASSERT_TRUE((*store)->AddListItems(ListId{"user", "clicks", "", "1"}, items).ok());
  PrometheusPage page = Read(MetricsText(**store));
  const std::string table = "{keyspace=\"" + options.keyspace + "\",table=\"list_items\"}";
  EXPECT_EQ(page.Sample("liststore_table_partitions" + table), 1);
  EXPECT_EQ(page.Sample("liststore_table_rows" + table), 2);
  EXPECT_GT(page.Sample("liststore_held_bytes"), 0);
  EXPECT_EQ(page.Sample("liststore_memory_limit_bytes"), 64 << 20);
  EXPECT_EQ(page.Sample("liststore_list_additions_total"), 1);
  EXPECT_EQ(page.problems, std::vector<std::string>());
}

TEST(MetricsText, SeveralStoresAndCachesAreOnePage) {
  StoreFigures first{"first", {}};
  first.stats.tables.push_back({"k", "t", 1, 2, 3, 4, 5});
  first.stats.cache.hits = 7;
  FeatureStatsView feature{"user", "say \"it\"\n", "", {}};
  feature.cache.misses = 3;
  first.stats.features.push_back(feature);
  StoreFigures second{"second", {}};
  second.stats.tables.push_back({"k", "t", 10, 20, 30, 40, 50});
  const StoreFigures stores[] = {first, second};
  CacheFigures cache{"c", {}};
  cache.stats.loader_calls = 9;
  cache.stats.load_nanos = 1'500'000'000;
  PrometheusPage page = Read(MetricsText(stores, std::span(&cache, 1)));
  EXPECT_EQ(page.Sample(R"(liststore_table_rows{keyspace="k",store="first",table="t"})"), 2);
  EXPECT_EQ(
      page.Sample(R"(liststore_table_expired_rows_total{keyspace="k",store="second",table="t"})"),
      30);
  EXPECT_EQ(page.Sample(R"(liststore_list_reads_total{result="hit",store="first"})"), 7);
  EXPECT_EQ(
      page.Sample("liststore_feature_reads_total{entity_type=\"user\",feature=\"say \"it\"\n\","
                  "result=\"miss\",store=\"first\",version=\"\"}"),
      3);
  EXPECT_EQ(page.Sample(R"(liststore_cache_loader_calls_total{cache="c"})"), 9);
  EXPECT_EQ(page.Sample(R"(liststore_cache_load_seconds_total{cache="c"})"), 1.5);
  EXPECT_EQ(page.problems, std::vector<std::string>());
}

TEST(MetricsText, OfNothingIsNothing) { EXPECT_EQ(MetricsText({}, {}), ""); }

TEST(MetricsText, ACacheHasItsStoresFiguresToo) {
  ListCacheOptions options;
  options.store.memory_limit_bytes = 64 << 20;
  options.loader = [](ListLoad& load) {
    for (size_t i = 0; i < load.size(); ++i) load.Answer(i, {});
    return absl::OkStatus();
  };
  auto cache = ListCache::Open(options);
  ASSERT_TRUE(cache.ok()) << cache.status();
  ASSERT_TRUE((*cache)->store().CreateListFeature("user", "clicks", 3600).ok());
  ListItems items;
  ASSERT_TRUE((*cache)->GetListItems(ListId{"user", "clicks", "", "1"}, {}, &items).ok());
  PrometheusPage page = Read(MetricsText(**cache));
  EXPECT_EQ(page.Sample("liststore_cache_loader_calls_total"), 1);
  EXPECT_EQ(page.Sample("liststore_cache_lists_absent_total"), 1);
  EXPECT_EQ(page.Sample(R"(liststore_list_reads_total{result="miss"})"), 1);
  EXPECT_EQ(page.problems, std::vector<std::string>());
}

}  // namespace metrics_text_test
}  // namespace liststore::testing
