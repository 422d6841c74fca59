#include "engine/instruments/hot_partitions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <variant>

#include "engine/cql/plan/partitions_of.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/syntax/statement_outline.h"
#include "engine/cql/values/encode_value.h"
#include "engine/cql/values/partition_key_text.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/partition_key.h"

namespace liststore::instruments {
namespace {

constexpr cql::TableSpec kHotPartitionsSpec = {
    "liststore",
    "hot_partitions",
    "top text",
    "rank int",
    "key text, longest_us bigint, looked_at bigint, more_max bigint, of_requests bigint, reads "
    "bigint, "
    "seconds int, tbl text, writes bigint",
    "the partitions that clients asked for most in the last minutes"};

// Texts that are longer are not looked at: their plans would be kept for the length of a turn.
constexpr size_t kPlannedTextBytesMax = 4096;

bool HasShortTexts(execute::RequestView& request) {
  size_t bytes = 0;
  for (const execute::StatementView& statement : request.statements()) {
    if (!statement.is_prepared()) bytes += statement.text().size();
  }
  return bytes <= kPlannedTextBytesMax;
}

// With room for the key, which comes behind it.
std::string IdOfTable(const TableDefinition& table, size_t key_bytes) {
  std::string id;
  id.reserve(table.keyspace.size() + table.name.size() + 2 + key_bytes);
  id.append(table.keyspace).push_back('\0');
  id.append(table.name).push_back('\0');
  return id;
}

HotPartition PartitionOf(std::string_view id) {
  HotPartition partition;
  const size_t keyspace_end = id.find('\0');
  const size_t table_end = id.find('\0', keyspace_end + 1);
  partition.keyspace = id.substr(0, keyspace_end);
  partition.table = id.substr(keyspace_end + 1, table_end - keyspace_end - 1);
  partition.key = id.substr(table_end + 1);
  return partition;
}

// nullptr: of no table's rows.
const TableDefinition* TableOfPlan(const cql::Plan& plan) {
  if (const auto* select = std::get_if<cql::SelectPlan>(&plan.body)) return select->table.get();
  if (const auto* change = std::get_if<cql::ModificationPlan>(&plan.body)) {
    return change->table.get();
  }
  return nullptr;
}

// The usual case, without a copy of all values: a marker for each column of the key. Empty: it is another.
std::string IdOfUsualCase(const execute::RequestView& request, const TableDefinition& table,
                          const execute::PreparedStatement& statement) {
  const std::vector<uint16_t>& variables = statement.plan->partition_key_variables;
  const protocol::QueryParameters& parameters = request.parameters();
  if (!statement.is_groupable || variables.empty() || !parameters.value_names.empty()) return {};
  constexpr size_t kAroundComponent = 3;  // of a key of several
  absl::InlinedVector<std::string_view, 4> components;
  size_t bytes = 0;
  for (const uint16_t variable : variables) {
    if (variable >= parameters.values.size() || !parameters.values[variable].has_bytes()) return {};
    components.push_back(parameters.values[variable].bytes());
    bytes += components.back().size() + kAroundComponent;
  }
  if (bytes > HotPartitions::kKeyBytesMax) return {};
  std::string id = IdOfTable(table, bytes);
  AppendPartitionKey(components, id);
  return id;
}

// As people write it; of a table that has gone, or has another key now, its bytes.
std::string KeyText(const HotPartition& partition, const Schema& schema) {
  const std::shared_ptr<const TableDefinition> table =
      schema.FindTable(partition.keyspace, partition.table);
  if (table == nullptr) return cql::PrintBlob(partition.key);
  const auto columns = table->ColumnsOf(ColumnKind::kPartitionKey);
  const auto components = SplitPartitionKey(partition.key, columns.size());
  if (!components) return cql::PrintBlob(partition.key);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i]->type.IsValid((*components)[i])) return cql::PrintBlob(partition.key);
  }
  return cql::PartitionKeyText(*table, partition.key);
}

}  // namespace

// ---- RequestSampler

void RequestSampler::Choose(size_t count, Instant now, Samples& samples) {
  if (now >= period_end_) BeginPeriod(now);
  size_t behind = 0;  // of those that were counted
  while (count - behind >= left_) {
    behind += left_;
    samples.push_back({static_cast<uint32_t>(behind - 1), carried_ + gap_});
    seen_ += gap_;
    carried_ = 0;
    Draw();
  }
  left_ -= count - behind;
}

void RequestSampler::BeginPeriod(Instant now) {
  const uint64_t passed = gap_ - left_;
  carried_ += passed;
  seen_ += passed;
  // The first begins with what there is for a burst.
  if (period_end_ != Instant()) {
    const double seconds = std::chrono::duration<double>(now - period_begin_).count();
    const double rate = static_cast<double>(seen_) / seconds;
    const double looks = std::min(kPerSecondMin + rate / kOneOf, kPerSecondMax);
    const double more = seconds * (rate < kPerSecondMin ? kPerSecondMax : looks);
    tokens_ = std::min(kBurst, std::max<int64_t>(tokens_, 0) +
                                   static_cast<int64_t>(std::min(more, double{kBurst})));
    interval_ =
        std::clamp<uint64_t>(static_cast<uint64_t>(std::ceil(rate / looks)), 1, kIntervalMax);
    // Who has been quiet is looked at closely again.
    if (tokens_ > kBurst / 2) interval_ = 1;
  }
  period_begin_ = now;
  period_end_ = now + kPeriod;
  seen_ = 0;
  ++tokens_;  // which the draw takes
  Draw();
}

void RequestSampler::Draw() {
  if (--tokens_ < 0 && -tokens_ % kBetweenDoublings == 0) {
    interval_ = std::min(2 * interval_, kIntervalMax);
  }
  gap_ = interval_ == 1 ? 1 : 1 + random_.Below(2 * interval_ - 1);
  left_ = gap_;
}

// ---- HotPartitions

HotPartitions::HotPartitions(uint32_t loops) {
  for (uint32_t i = 0; i <= loops; ++i) samplers_.push_back(std::make_unique<Place>(i + 1));
}

template <typename Visit>
void HotPartitions::WithSampler(const execute::ClientState& client, const Visit& visit) {
  if (!client.place.begun_at) return visit(samplers_[client.shard]->sampler);
  Place& place = *samplers_.back();
  const MutexLock lock(place.mutex);
  visit(place.sampler);
}

void HotPartitions::ChooseSlowly(std::span<execute::RequestView> requests,
                                 const execute::ClientState& client, Instant now,
                                 Samples& samples) {
  try {
    WithSampler(client,
                [&](RequestSampler& sampler) { sampler.Choose(requests.size(), now, samples); });
    for (const RequestSampler::Sample& sample : samples) {
      execute::RequestView& request = requests[sample.index];
      request.set_keeps_plans(HasShortTexts(request));
    }
  } catch (const std::bad_alloc&) {
    // What cannot be looked at is left out.
    samples.clear();
    for (execute::RequestView& request : requests) request.set_keeps_plans(false);
  }
}

void HotPartitions::NoteSlowly(std::span<execute::RequestView> requests,
                               const execute::ClientState& client, const Samples& samples,
                               Instant now, std::chrono::nanoseconds took) {
  const bool is_beside = client.place.begun_at.has_value();
  const auto comes_again = [](const execute::RequestView& request) {
    return !request.outcome.IsOver();
  };
  // Most groups are over as a whole, and of the others the last request is not.
  size_t again = 0;
  if (!requests.empty() && comes_again(requests.back())) {
    again = static_cast<size_t>(std::ranges::count_if(requests, comes_again));
  }
  uint64_t carried = 0;
  for (const RequestSampler::Sample& sample : samples) {
    execute::RequestView& request = requests[sample.index];
    bool is_counted = false;
    if (comes_again(request)) {
      // By itself; the others that it stood for are of the next one.
      again -= std::min<size_t>(again, 1);
      carried += sample.weight - 1;
      is_counted = true;
    }
    try {
      is_counted =
          is_counted || Count(NamesOf(request, client), sample.weight, is_beside, now, took);
    } catch (const std::bad_alloc&) {
    }
    request.set_keeps_plans(false);
    for (execute::StatementView& statement : request.statements()) statement.ForgetPlan();
    if (!is_counted) carried += sample.weight;
  }
  if (carried == 0 && again == 0) return;
  WithSampler(client, [&](RequestSampler& sampler) {
    sampler.CarryOn(carried);
    sampler.TakeBack(again);
  });
}

HotPartitions::Named HotPartitions::NamesOf(execute::RequestView& request,
                                            const execute::ClientState& client) {
  Named named;
  if (request.kind() == execute::RequestKind::kPrepare) {
    named.is_left_out = true;
    return named;
  }
  const auto add = [&](const TableDefinition& table, std::string_view key) {
    if (key.size() > kKeyBytesMax || named.ids.size() >= kNamedMax) return;
    std::string id = IdOfTable(table, key.size()).append(key);
    if (std::ranges::find(named.ids, id) == named.ids.end()) named.ids.push_back(std::move(id));
  };
  size_t looks = 0;
  for (execute::StatementView& statement : request.statements()) {
    if (++looks > kNamedMax) break;
    if (cql::IsServersKeyspace(statement.Outline(client.keyspace).keyspace)) {
      named.is_left_out = true;
      return named;
    }
    const cql::Plan* const plan = statement.kept_plan();
    if (plan == nullptr) continue;
    named.is_read |= std::holds_alternative<cql::SelectPlan>(plan->body);
    const TableDefinition* const table = TableOfPlan(*plan);
    if (request.kind() == execute::RequestKind::kExecute && table != nullptr) {
      if (std::string id = IdOfUsualCase(request, *table, *statement.prepared()); !id.empty()) {
        named.ids.push_back(std::move(id));
        continue;
      }
    }
    std::vector<cql::BoundValue> values;
    if (!request.Bind(statement, *plan, values).ok()) continue;
    for (const auto& [of_table, key] : cql::PartitionsOf(*plan, std::move(values))) {
      add(*of_table, key);
    }
  }
  return named;
}

bool HotPartitions::Count(const Named& named, uint64_t weight, bool may_wait, Instant now,
                          std::chrono::nanoseconds took) {
  if (named.is_left_out) return true;
  if (may_wait) {
    const MutexLock lock(mutex_);
    CountLocked(named, weight, now, took);
    return true;
  }
  if (!mutex_.TryLock()) return false;
  try {
    CountLocked(named, weight, now, took);
  } catch (const std::bad_alloc&) {
    // It stays among all requests, and is of no partition.
  }
  mutex_.Unlock();
  return true;
}

void HotPartitions::CountLocked(const Named& named, uint64_t weight, Instant now,
                                std::chrono::nanoseconds took) {
  Rotate(now);
  Slice& slice = slices_[current_];
  slice.requests += weight;
  ++slice.looked_at;
  for (const std::string& id : named.ids) {
    Detail& detail = slice.sketch.Add(id, weight);
    (named.is_read ? detail.reads : detail.writes) += weight;
    detail.longest = std::max(detail.longest, took);
  }
}

void HotPartitions::Rotate(Instant now) {
  Slice* slice = &slices_[current_];
  // Two loops read the clock, and come in another order.
  if (!slice->begin) slice->begin = now;
  if (now - *slice->begin >= kSliceTime * kSlices) {
    for (Slice& old : slices_) old.Begin(std::nullopt);
    slice->begin = now;
  }
  while (now - *slice->begin >= kSliceTime) {
    const Instant next = *slice->begin + kSliceTime;
    current_ = (current_ + 1) % kSlices;
    slice = &slices_[current_];
    slice->Begin(next);
  }
}

HotReport HotPartitions::Report(Instant now) {
  struct Sum {
    HotPartition partition;
    uint64_t least = 0;  // of the slices that follow it
  };
  std::map<std::string, Sum> sums;
  HotReport report;
  uint64_t least = 0;  // of all slices
  {
    const MutexLock lock(mutex_);
    Rotate(now);
    for (const Slice& slice : slices_) {
      if (!slice.begin) continue;
      report.span = std::max(report.span,
                             std::chrono::duration_cast<std::chrono::seconds>(now - *slice.begin));
      report.requests += slice.requests;
      report.looked_at += slice.looked_at;
      least += slice.sketch.least();
      for (const auto& counter : slice.sketch.counters()) {
        Sum& sum = sums[counter.key];
        sum.partition.reads += counter.detail.reads;
        sum.partition.writes += counter.detail.writes;
        sum.partition.more_max += counter.error;
        sum.partition.longest = std::max(sum.partition.longest, counter.detail.longest);
        sum.least += slice.sketch.least();
      }
    }
  }
  report.partitions.reserve(sums.size());
  for (auto& [id, sum] : sums) {
    HotPartition partition = PartitionOf(id);
    partition.reads = sum.partition.reads;
    partition.writes = sum.partition.writes;
    // Where a slice does not follow it, it may have come as often as the one that came least.
    partition.more_max = sum.partition.more_max + (least - sum.least);
    partition.longest = sum.partition.longest;
    report.partitions.push_back(std::move(partition));
  }
  std::ranges::stable_sort(report.partitions, std::ranges::greater(), &HotPartition::requests);
  if (report.partitions.size() > kShown) report.partitions.resize(kShown);
  return report;
}

size_t HotPartitions::bytes() const {
  size_t bytes = samplers_.size() * sizeof(Place) + sizeof(*this);
  const MutexLock lock(mutex_);
  for (const Slice& slice : slices_) bytes += slice.sketch.bytes();
  return bytes;
}

void HotPartitions::Reset() {
  const MutexLock lock(mutex_);
  for (Slice& slice : slices_) slice.Begin(std::nullopt);
}

std::unique_ptr<cql::VirtualTable> MakeHotPartitionsTable(HotPartitions& hot) {
  return std::make_unique<cql::ComputedTable>(
      kHotPartitionsSpec, [&hot](const cql::VirtualReadContext& context, cql::RowCollector& rows) {
        const auto bigint = [](uint64_t value) {
          return cql::EncodeBigint(static_cast<int64_t>(value));
        };
        const HotReport report = hot.Report(std::chrono::steady_clock::now());
        int32_t rank = 0;
        for (const HotPartition& partition : report.partitions) {
          const auto longest =
              std::chrono::duration_cast<std::chrono::microseconds>(partition.longest);
          rows.Row()
              .Set("top", "partitions")
              .Set("rank", cql::EncodeInt(++rank))
              .Set("tbl", partition.keyspace + "." + partition.table)
              .Set("key", KeyText(partition, context.schema))
              .Set("reads", bigint(partition.reads))
              .Set("writes", bigint(partition.writes))
              .Set("more_max", bigint(partition.more_max))
              .Set("longest_us", cql::EncodeBigint(longest.count()))
              .Set("of_requests", bigint(report.requests))
              .Set("looked_at", bigint(report.looked_at))
              .Set("seconds", cql::EncodeInt(static_cast<int32_t>(report.span.count())));
        }
      });
}

}  // namespace liststore::instruments
