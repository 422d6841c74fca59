#include "liststore/metrics_text.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "engine/base/prometheus_text.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

using Type = PrometheusText::Type;

static_assert(kPrometheusContentType == kMetricsContentType);

// A family of one sample for each store, or cache.
template <typename Figures, typename Value>
void AddFamily(std::span<const Figures> all, std::string_view label, std::string_view name,
               Type type, std::string_view help, const Value& value, PrometheusText& out) {
  if (all.empty()) return;
  out.Begin(name, type, help);
  for (const Figures& figures : all) {
    if (figures.name.empty()) {
      out.Add({}, value(figures.stats));
    } else {
      out.Add({{label, figures.name}}, value(figures.stats));
    }
  }
}

void AppendTables(std::span<const StoreFigures> stores, PrometheusText& out) {
  const auto family = [&](std::string_view name, Type type, std::string_view help,
                          uint64_t TableStatsView::*value) {
    out.Begin(name, type, help);
    for (const StoreFigures& store : stores) {
      for (const TableStatsView& table : store.stats.tables) {
        if (store.name.empty()) {
          out.Add({{"keyspace", table.keyspace}, {"table", table.table}}, table.*value);
        } else {
          out.Add({{"store", store.name}, {"keyspace", table.keyspace}, {"table", table.table}},
                  table.*value);
        }
      }
    }
  };
  family("liststore_table_partitions", Type::kGauge,
         "Partitions that are stored, deleted ones that wait to be given back included.",
         &TableStatsView::partitions);
  family("liststore_table_rows", Type::kGauge,
         "Rows that are stored, expired ones that wait to be given back included.",
         &TableStatsView::rows);
  family("liststore_table_live_bytes", Type::kGauge, "Bytes of blocks that are in use.",
         &TableStatsView::live_bytes);
  family("liststore_table_held_bytes", Type::kGauge, "Bytes of pages that are held.",
         &TableStatsView::held_bytes);
  family("liststore_table_expired_rows_total", Type::kCounter,
         "Rows that were given back because everything in them had expired.",
         &TableStatsView::expired_rows);
}

void AppendStores(std::span<const StoreFigures> stores, PrometheusText& out) {
  const auto family = [&](std::string_view name, Type type, std::string_view help,
                          const auto& value) {
    AddFamily(stores, "store", name, type, help, value, out);
  };
  family("liststore_held_bytes", Type::kGauge, "Pages of all tables, which count to the limit.",
         [](const Stats& stats) { return stats.held_bytes; });
  family("liststore_memory_limit_bytes", Type::kGauge, "What may be held.",
         [](const Stats& stats) { return stats.memory_limit_bytes; });
  family("liststore_writes_refused_for_memory_total", Type::kCounter,
         "Writes that were refused at the limit.",
         [](const Stats& stats) { return stats.refused_writes; });
  family("liststore_evicted_bytes_total", Type::kCounter,
         "Bytes that evictions for memory gave back.",
         [](const Stats& stats) { return stats.evicted_bytes; });
  family("liststore_commit_log_bytes", Type::kGauge, "Files of the commit log.",
         [](const Stats& stats) { return stats.log_bytes; });
  family("liststore_shards", Type::kGauge, "Shards.",
         [](const Stats& stats) { return uint64_t{stats.shards}; });
  family("liststore_list_additions_total", Type::kCounter,
         "Additions to lists that stored something.",
         [](const Stats& stats) { return stats.cache.additions; });
  family("liststore_list_puts_total", Type::kCounter, "Lists that were put whole.",
         [](const Stats& stats) { return stats.cache.puts; });
  family("liststore_list_evictions_total", Type::kCounter, "Lists that were evicted for memory.",
         [](const Stats& stats) { return stats.cache.evictions; });
  family("liststore_list_evicted_items_total", Type::kCounter, "Items of these.",
         [](const Stats& stats) { return stats.cache.evicted_items; });
  family("liststore_list_forgotten_total", Type::kCounter, "Lists that ForgetList dropped.",
         [](const Stats& stats) { return stats.cache.forgotten; });
}

// Of each kind of answer one sample.
void AppendReads(std::span<const StoreFigures> stores, PrometheusText& out) {
  if (stores.empty()) return;
  constexpr std::pair<std::string_view, uint64_t CacheStats::*> kResults[] = {
      {"hit", &CacheStats::hits},
      {"partial_hit", &CacheStats::partial_hits},
      {"miss", &CacheStats::misses}};
  out.Begin("liststore_list_reads_total", Type::kCounter, "Reads of lists, by what was found.");
  for (const StoreFigures& store : stores) {
    for (const auto& [result, count] : kResults) {
      if (store.name.empty()) {
        out.Add({{"result", result}}, store.stats.cache.*count);
      } else {
        out.Add({{"store", store.name}, {"result", result}}, store.stats.cache.*count);
      }
    }
  }
  out.Begin("liststore_feature_reads_total", Type::kCounter,
            "Reads of lists of a feature version, by what was found; with Options::feature_stats.");
  for (const StoreFigures& store : stores) {
    for (const FeatureStatsView& feature : store.stats.features) {
      for (const auto& [result, count] : kResults) {
        out.Add({{"store", store.name},
                 {"entity_type", feature.entity_type},
                 {"feature", feature.feature},
                 {"version", feature.version},
                 {"result", result}},
                feature.cache.*count);
      }
    }
  }
}

void AppendCaches(std::span<const CacheFigures> caches, PrometheusText& out) {
  const auto counter = [&](std::string_view name, std::string_view help,
                           uint64_t ListCacheStats::*value) {
    AddFamily(
        caches, "cache", name, Type::kCounter, help,
        [value](const ListCacheStats& stats) { return stats.*value; }, out);
  };
  counter("liststore_cache_loader_calls_total", "Calls of the loader.",
          &ListCacheStats::loader_calls);
  counter("liststore_cache_lists_loaded_total",
          "Lists that the loader answered for, absent ones included.",
          &ListCacheStats::lists_loaded);
  counter("liststore_cache_lists_absent_total", "Of these, lists that the source does not have.",
          &ListCacheStats::lists_absent);
  counter("liststore_cache_load_failures_total", "Lists that could not be loaded.",
          &ListCacheStats::load_failures);
  counter("liststore_cache_reads_joined_total", "Reads that waited for another read's load.",
          &ListCacheStats::reads_joined);
  counter("liststore_cache_stale_served_total",
          "Reads that were answered with a list that was no longer fresh.",
          &ListCacheStats::stale_served);
  counter("liststore_cache_refreshes_total", "Lists that were loaded ahead.",
          &ListCacheStats::refreshes);
  counter("liststore_cache_loads_overtaken_total",
          "Lists that were not kept, because they changed while they were loaded.",
          &ListCacheStats::loads_overtaken);
  counter("liststore_cache_loads_not_kept_total",
          "Lists that were not kept, because the store had no room.",
          &ListCacheStats::loads_not_kept);
  counter("liststore_cache_writer_failures_total", "Calls of the writer that failed.",
          &ListCacheStats::writer_failures);
  const auto seconds = [&](std::string_view name, Type type, std::string_view help,
                           uint64_t ListCacheStats::*nanos) {
    AddFamily(
        caches, "cache", name, type, help,
        [nanos](const ListCacheStats& stats) { return static_cast<double>(stats.*nanos) / 1e9; },
        out);
  };
  seconds("liststore_cache_load_seconds_total", Type::kCounter, "Time in the loader, all calls.",
          &ListCacheStats::load_nanos);
  seconds("liststore_cache_load_seconds_max", Type::kGauge, "Time of the longest call.",
          &ListCacheStats::load_nanos_max);
}

}  // namespace

std::string MetricsText(std::span<const StoreFigures> stores,
                        std::span<const CacheFigures> caches) {
  PrometheusText out;
  if (!stores.empty()) AppendTables(stores, out);
  AppendStores(stores, out);
  AppendReads(stores, out);
  AppendCaches(caches, out);
  return out.Take();
}

std::string MetricsText(const ListStore& store) {
  const StoreFigures figures{"", store.GetStats()};
  return MetricsText(std::span(&figures, 1));
}

std::string MetricsText(ListCache& cache) {
  const StoreFigures store{"", cache.store().GetStats()};
  const CacheFigures figures{"", cache.GetStats()};
  return MetricsText(std::span(&store, 1), std::span(&figures, 1));
}

}  // namespace liststore
