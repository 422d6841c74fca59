// Additions to lists with and without a log, and what was written down applied again: items a second of one
// core. The log is in memory: what the disk takes comes on top.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark/benchmark.h"

#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/commitlog/record_source.h"
#include "engine/commitlog/write_log.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/partition_key.h"
#include "engine/shard/engine.h"
#include "engine/shard/replay.h"

namespace liststore {
namespace {

constexpr size_t kItemsPerList = 20;
constexpr uint64_t kNow = 1'700'000'000'000'000'000u;

TableSchema Items() {
  TableSchema schema;
  schema.keyspace = "lists";
  schema.name = "list_items";
  schema.partition_key = {{"feature_key", CqlType::kText}, {"entity_id", CqlType::kText}};
  schema.clustering = {{"item_key", CqlType::kText, true}};
  schema.regular = {{"value", CqlType::kText}};
  return schema;
}

// Bytes one behind the other, as a file has them.
class PlainLog final : public commitlog::WriteLog {
 public:
  bool Reserve(size_t) override { return true; }
  void Unreserve(size_t) override {}
  uint64_t Append(commitlog::RecordKind, std::string_view record, size_t) override {
    const auto bytes = static_cast<uint32_t>(record.size());
    bytes_.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    bytes_.append(record);
    return bytes_.size();
  }
  uint64_t AppendEncoded(commitlog::RecordKind, size_t, absl::FunctionRef<size_t(char*)>) override {
    return bytes_.size();
  }
  uint64_t appended() const override { return bytes_.size(); }
  absl::Status refusal() const override { return absl::OkStatus(); }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

class PlainSource final : public commitlog::RecordSource {
 public:
  explicit PlainSource(std::string_view bytes) : rest_(bytes) {}
  absl::StatusOr<bool> Next(commitlog::LogRecord& record) override {
    if (rest_.empty()) return false;
    uint32_t bytes = 0;
    std::memcpy(&bytes, rest_.data(), sizeof(bytes));
    record.kind = commitlog::RecordKind::kWrite;
    record.bytes = rest_.substr(sizeof(bytes), bytes);
    rest_.remove_prefix(sizeof(bytes) + bytes);
    record.end += sizeof(bytes) + bytes;
    return true;
  }

 private:
  std::string_view rest_;
};

class NoSchema final : public shard::ReplaySink {
 public:
  absl::Status OnBarrier(std::string_view, shard::RecordedTables&) override {
    return absl::OkStatus();
  }
  absl::Status OnEvent(std::string_view) override { return absl::OkStatus(); }
};

// Items for so many lists, one after the other to lists in a random order.
class Additions {
 public:
  explicit Additions(size_t lists) : lists_(lists) {
    for (size_t i = 0; i < lists; ++i) {
      const std::string entity = std::to_string(i * 7919);
      const std::string_view components[] = {"recently_viewed", entity};
      keys_.emplace_back();
      AppendPartitionKey(components, keys_.back());
    }
  }
  size_t items() const { return lists_ * kItemsPerList; }

  void AddAll(shard::Engine& engine, TableId table) {
    Random rng(1712);
    for (size_t i = 0; i < items(); ++i) {
      const uint8_t digest[16] = {static_cast<uint8_t>(i)};
      PackedItemKey key;
      PackItemKeyFromDigest(kNow + i, digest, key.data());
      const CellUpdate cell{.value = "a value of 24 characters"};
      RowUpdate row{.key = {{key.data(), key.size()}, true}, .cells = {&cell, 1}};
      const Command command{.table = table,
                            .partition_key = keys_[rng.Below(lists_)],
                            .body = UpsertCommand{{&row, 1}}};
      const Reply reply = engine.Execute(command, kNow + i * 1000);
      LS_CHECK(reply.status == OpStatus::kOk, "there is room");
    }
  }

 private:
  const size_t lists_;
  std::vector<std::string> keys_;
};

shard::EngineOptions Options() { return {.memory_limit_bytes = uint64_t{6} << 30}; }

void Add(benchmark::State& state, bool with_log) {
  Additions additions(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    state.PauseTiming();
    PlainLog log;
    log.bytes().reserve(additions.items() * 160);
    std::memset(log.bytes().data(), 0, log.bytes().capacity());
    auto engine = std::make_unique<shard::Engine>(Options());
    const TableId table = engine->CreateTable(Items());
    commitlog::WriteLog* const logs[] = {&log};
    if (with_log) engine->SetWriteLogs(logs, 1);
    state.ResumeTiming();
    additions.AddAll(*engine, table);
    state.PauseTiming();
    engine.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * additions.items()));
}
void AddWithoutLog(benchmark::State& state) { Add(state, false); }
void AddWithLog(benchmark::State& state) { Add(state, true); }

void Replay(benchmark::State& state) {
  Additions additions(static_cast<size_t>(state.range(0)));
  PlainLog log;
  TableId table;
  {
    shard::Engine engine(Options());
    table = engine.CreateTable(Items());
    commitlog::WriteLog* const logs[] = {&log};
    engine.SetWriteLogs(logs, 1);
    additions.AddAll(engine, table);
  }
  const std::vector<shard::ReplayedLog> logs{
      {0, [&] {
         return absl::StatusOr<std::unique_ptr<commitlog::RecordSource>>(
             std::make_unique<PlainSource>(log.bytes()));
       }}};
  for (auto _ : state) {
    state.PauseTiming();
    auto engine = std::make_unique<shard::Engine>(Options());
    shard::RecordedTables tables;
    tables.Set(table, engine->CreateTable(Items()));
    NoSchema sink;
    state.ResumeTiming();
    const auto result = shard::ReplayLogs(*engine, tables, logs, sink);
    LS_CHECK(result.ok() && result->writes == additions.items(), "all of it comes again");
    state.PauseTiming();
    engine.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * additions.items()));
  state.counters["bytes_per_item"] =
      static_cast<double>(log.bytes().size()) / static_cast<double>(additions.items());
}

BENCHMARK(AddWithoutLog)->Arg(1'000)->Arg(200'000)->Unit(benchmark::kMillisecond);
BENCHMARK(AddWithLog)->Arg(1'000)->Arg(200'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Replay)->Arg(1'000)->Arg(200'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace liststore
