#include "engine/instruments/request_metrics.h"

#include <algorithm>

#include "engine/base/check.h"

namespace liststore::instruments {
namespace {

using cql::StatementOp;

// Names of tables that there may be are no longer.
constexpr size_t kNameBytesMax = 192;

}  // namespace

const std::array<double, LatencyBuckets::kBounds>& LatencyBuckets::BoundsInMicros() {
  static const auto kInMicros = [] {
    std::array<double, kBounds> bounds{};
    for (size_t i = 0; i < kBounds; ++i) {
      const double power = static_cast<double>(uint64_t{1} << (i / 2));
      bounds[i] = i % 2 == 0 ? power : power * 1.5;
    }
    return bounds;
  }();
  return kInMicros;
}

RequestMetrics::RequestMetrics(uint32_t loops) {
  for (uint32_t i = 0; i <= loops; ++i) places_.push_back(std::make_unique<Place>());
  places_.back()->is_shared = true;
  for (size_t op = 0; op < kOps; ++op) {
    kinds_[kSeriesMax + 1 + op] = static_cast<uint8_t>(KindOf(static_cast<StatementOp>(op)));
  }
}

LatencyKind RequestMetrics::KindOf(StatementOp op) {
  switch (op) {
    case StatementOp::kSelect:
      return LatencyKind::kRead;
    case StatementOp::kInsert:
    case StatementOp::kUpdate:
    case StatementOp::kDelete:
    case StatementOp::kBatch:
      return LatencyKind::kWrite;
    default:
      return LatencyKind::kOther;
  }
}

void RequestMetrics::Note(std::span<execute::RequestView> requests, execute::ClientState& client,
                          const execute::StatementCache& statements,
                          std::chrono::nanoseconds took) {
  const bool is_beside = client.place.begun_at.has_value();
  Place& place = is_beside ? *places_.back() : *places_[client.shard];
  std::array<uint64_t, kLatencyKinds> of_kind{};
  const execute::PreparedStatement* last = nullptr;
  Series series = 0;
  uint64_t run = 0;
  const auto end_run = [&] {
    if (run == 0) return;
    Count(place, series, run);
    of_kind[kinds_[series].load(std::memory_order_relaxed)] += run;
    run = 0;
  };
  for (execute::RequestView& request : requests) {
    const execute::Outcome& outcome = request.outcome;
    const bool is_ok = outcome.answered && !outcome.error;
    const execute::PreparedStatement* const prepared =
        request.kind() == execute::RequestKind::kExecute ? request.statement().prepared() : nullptr;
    if (is_ok && prepared != nullptr && prepared == last) [[likely]] {
      ++run;
      continue;
    }
    if (!is_ok && !outcome.IsOver()) continue;
    end_run();
    last = is_ok ? prepared : nullptr;
    // What was counted before is known, and hardly anything else is executed.
    series = prepared == nullptr ? 0 : prepared->metrics_series.load(std::memory_order_relaxed);
    if (series == 0) [[unlikely]]
      series = SeriesOf(place, request, client, statements);
    if (is_ok) [[likely]] {
      run = 1;
      continue;
    }
    ++of_kind[kinds_[series].load(std::memory_order_relaxed)];
    const MutexLock lock(place.mutex);
    ++place.others[{series, outcome.Name()}];
  }
  end_run();
  const size_t bucket = LatencyBuckets::IndexOf(took);
  for (size_t kind = 0; kind < kLatencyKinds; ++kind) {
    if (of_kind[kind] == 0) continue;
    Latency& latency = place.latencies[kind];
    Add(latency.buckets[bucket], of_kind[kind], place.is_shared);
    Add(latency.sum_nanos,
        of_kind[kind] * static_cast<uint64_t>(std::max<int64_t>(took.count(), 0)), place.is_shared);
  }
}

void RequestMetrics::Count(Place& place, Series series, uint64_t count) {
  const size_t chunk = series / kChunkCells;
  Cells* cells = place.answered[chunk].load(std::memory_order_acquire);
  if (cells == nullptr) [[unlikely]] {
    AddCells(place, chunk);
    cells = place.answered[chunk].load(std::memory_order_acquire);
  }
  Add((*cells)[series % kChunkCells], count, place.is_shared);
}

void RequestMetrics::AddCells(Place& place, size_t chunk) {
  const MutexLock lock(place.mutex);
  if (place.answered[chunk].load(std::memory_order_relaxed) != nullptr) return;
  place.cells.push_back(std::make_unique<Cells>());
  place.answered[chunk].store(place.cells.back().get(), std::memory_order_release);
}

RequestMetrics::Series RequestMetrics::SeriesOf(Place& place, execute::RequestView& request,
                                                execute::ClientState& client,
                                                const execute::StatementCache& cache) {
  const std::span<execute::StatementView> statements = request.statements();
  // What failed may name a table that there is not; what was prepared does not.
  const bool may_enter = request.outcome.answered && !request.outcome.error;
  if (request.kind() != execute::RequestKind::kPrepare && !statements.empty() &&
      statements.front().prepared() == nullptr) {
    statements.front().Find(client.statements, cache);
  }
  cql::StatementOutline none;
  if (request.kind() == execute::RequestKind::kBatch) {
    none.op = StatementOp::kBatch;
    if (statements.empty()) return SeriesOf(place, none, /*may_enter=*/true);
    const cql::StatementOutline& first = statements.front().Outline(client.keyspace);
    none.keyspace = first.keyspace;
    none.table = first.table;
    return SeriesOf(place, none, may_enter || statements.front().prepared() != nullptr);
  }
  if (request.kind() == execute::RequestKind::kPrepare) {
    none.op = StatementOp::kPrepare;
    return SeriesOf(place, none, /*may_enter=*/true);
  }
  const execute::PreparedStatement* const prepared =
      statements.front().is_prepared() ? statements.front().prepared() : nullptr;
  if (prepared == nullptr) {
    if (statements.front().is_prepared()) return SeriesOf(place, none, /*may_enter=*/true);
    return SeriesOf(place, statements.front().Outline(client.keyspace), may_enter);
  }
  const Series series = SeriesOf(place, prepared->outline, /*may_enter=*/true);
  prepared->metrics_series.store(series, std::memory_order_relaxed);
  return series;
}

RequestMetrics::Series RequestMetrics::SeriesOf(Place& place, const cql::StatementOutline& outline,
                                                bool may_enter) {
  const auto of_others = static_cast<Series>(kSeriesMax + 1 + static_cast<size_t>(outline.op));
  // Of a text without a keyspace it may be what the others are called.
  const bool is_called_others = outline.keyspace.empty() && outline.table == kOthers;
  if (is_called_others || outline.keyspace.size() > kNameBytesMax ||
      outline.table.size() > kNameBytesMax) {
    return of_others;
  }
  const Key key(outline.keyspace, outline.table, outline.op);
  if (!place.is_shared) {
    if (const auto known = place.known.find(key); known != place.known.end()) return known->second;
  }
  // Of no table there are few.
  const bool is_of_none = outline.keyspace.empty() && outline.table.empty();
  const Series series = Enter(key, may_enter || is_of_none);
  if (series == 0) return of_others;
  if (!place.is_shared) place.known.emplace(key, series);
  return series;
}

RequestMetrics::Series RequestMetrics::Enter(const Key& key, bool may_enter) {
  const MutexLock lock(mutex_);
  if (const auto known = series_.find(key); known != series_.end()) return known->second;
  if (!may_enter || series_.size() >= kSeriesMax) return 0;
  const auto series = static_cast<Series>(series_.size() + 1);
  kinds_[series].store(static_cast<uint8_t>(KindOf(std::get<2>(key))), std::memory_order_relaxed);
  series_.emplace(key, series);
  return series;
}

std::vector<RequestCount> RequestMetrics::Requests() const {
  std::vector<std::pair<Series, RequestCount>> known;
  {
    const MutexLock lock(mutex_);
    for (const auto& [key, series] : series_) {
      known.push_back({series, {std::get<0>(key), std::get<1>(key), std::get<2>(key), "ok", 0}});
    }
  }
  for (size_t op = 0; op < kOps; ++op) {
    known.push_back({static_cast<Series>(kSeriesMax + 1 + op),
                     {"", std::string(kOthers), static_cast<StatementOp>(op), "ok", 0}});
  }
  std::map<std::pair<Series, std::string_view>, uint64_t> others;
  for (const auto& place : places_) {
    const MutexLock lock(place->mutex);
    for (const auto& [key, count] : place->others) others[key] += count;
  }
  std::vector<RequestCount> counts;
  for (auto& [series, count] : known) {
    for (const auto& place : places_) {
      const Cells* const cells =
          place->answered[series / kChunkCells].load(std::memory_order_acquire);
      if (cells != nullptr) {
        count.count += (*cells)[series % kChunkCells].load(std::memory_order_relaxed);
      }
    }
    if (count.count > 0) counts.push_back(count);
    for (auto at = others.lower_bound({series, ""});
         at != others.end() && at->first.first == series; ++at) {
      count.outcome = at->first.second;
      count.count = at->second;
      counts.push_back(count);
    }
  }
  return counts;
}

void RequestMetrics::AddTo(LatencyCounts& sum, const Place& place, LatencyKind kind) const {
  const Latency& latency = place.latencies[static_cast<size_t>(kind)];
  for (size_t i = 0; i < sum.buckets.size(); ++i) {
    sum.buckets[i] += latency.buckets[i].load(std::memory_order_relaxed);
  }
  sum.sum_nanos += latency.sum_nanos.load(std::memory_order_relaxed);
}

LatencyCounts RequestMetrics::Latencies(LatencyKind kind) const {
  LatencyCounts sum;
  for (const auto& place : places_) AddTo(sum, *place, kind);
  return sum;
}

std::vector<LatencyCounts> RequestMetrics::LatenciesByLoop(LatencyKind kind) const {
  std::vector<LatencyCounts> all;
  for (const auto& place : places_) AddTo(all.emplace_back(), *place, kind);
  return all;
}

}  // namespace liststore::instruments
