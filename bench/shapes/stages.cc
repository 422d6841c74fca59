// Where the time of a read goes: the same read with one stage more each time, and the differences.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measure/median.h"
#include "bench/measure/workload.h"
#include "bench/shapes/shapes.h"
#include "bench/shapes/wire_shape.h"
#include "bench/wire/wire_sources.h"
#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/base/status_macros.h"
#include "engine/lists/list_key.h"
#include "engine/model/token.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr uint32_t kStageLists = 200'000;  // far more than caches hold
constexpr uint64_t kStageItems = 20;
constexpr size_t kStageValueBytes = 24;
constexpr size_t kBatch = 1'024;  // calls between two readings of the clock; a multiple of 16
constexpr int kRounds = 5;        // of each stage, in turn; medians

// One way to spend time on `kBatch` calls; `ids` are entity ids that lie in caches.
struct Stage {
  const char* key;
  const char* name;
  bool random_lists;  // else one list over and over
  std::function<absl::Status(const std::vector<std::string_view>& ids)> run;
};

// Median nanoseconds a call of every stage.
absl::StatusOr<std::vector<double>> MeasureAll(const std::vector<Stage>& stages, double seconds) {
  Random random(41);
  std::vector<std::string> texts(kBatch);
  std::vector<std::string_view> ids(kBatch);
  std::vector<std::vector<double>> rounds(stages.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t s = 0; s < stages.size(); ++s) {
      Steady::duration time{};
      uint64_t calls = 0;
      const auto end = Steady::now() + std::chrono::duration<double>(seconds / kRounds);
      do {
        for (size_t i = 0; i < kBatch; ++i) {
          const uint64_t list = stages[s].random_lists ? random.Below(kStageLists) : 0;
          texts[i] = EntityIdOfList(static_cast<uint32_t>(list));
          ids[i] = texts[i];
        }
        const auto begin = Steady::now();
        LS_RETURN_IF_ERROR(stages[s].run(ids));
        time += Steady::now() - begin;
        calls += kBatch;
      } while (Steady::now() < end);
      rounds[s].push_back(std::chrono::duration<double, std::nano>(time).count() /
                          static_cast<double>(calls));
    }
  }
  std::vector<double> nanos;
  for (const std::vector<double>& values : rounds) nanos.push_back(Median(values));
  return nanos;
}

absl::Status LoadAll(ListStore& store, const ListFeature& feature) {
  const BenchItems contents(SystemClock::Instance().NowNanos(), kStageItems, kStageValueBytes);
  std::vector<std::string> values(kStageItems, std::string(kStageValueBytes, '\0'));
  std::vector<NewItem> items(kStageItems);
  for (uint32_t list = 0; list < kStageLists; ++list) {
    for (uint32_t i = 0; i < kStageItems; ++i) {
      contents.WriteValue(list, i, values[i].data());
      items[i] = {contents.TimestampOf(list, i), values[i]};
    }
    LS_ASSIGN_OR_RETURN(const AddResult added,
                        store.AddListItems({feature, EntityIdOfList(list)}, items));
    if (added.stored != kStageItems) return absl::DataLossError("items of a list not stored");
  }
  while (store.Reclaim() > 0) {
  }
  return absl::OkStatus();
}

// Reads of the newest `limit`, one call for each list.
auto Reads(const ListStore& store, const ListFeature& feature, size_t limit, size_t expected) {
  return [&store, feature, limit, expected,
          items = std::make_shared<ListItems>()](const std::vector<std::string_view>& ids) {
    for (const std::string_view id : ids) {
      LS_RETURN_IF_ERROR(store.GetListItems({feature, id}, {.limit = limit}, items.get()));
      if (items->size() != expected) return absl::DataLossError("a list has another length");
    }
    return absl::OkStatus();
  };
}

auto GroupReads(const ListStore& store, const ListFeature& feature, size_t limit) {
  return [&store, feature, limit, lists = std::make_shared<std::vector<ListItems>>()](
             const std::vector<std::string_view>& ids) {
    for (size_t i = 0; i < ids.size(); i += kBenchGroup) {
      LS_RETURN_IF_ERROR(store.MultiGetListItems({feature, {&ids[i], kBenchGroup}},
                                                 {.limit = limit}, lists.get()));
      if (lists->back().size() != limit) return absl::DataLossError("a list has another length");
    }
    return absl::OkStatus();
  };
}

// The partition key and its token alone. What is made of them is asserted, so that it is made.
absl::Status MakeKeys(std::string_view framed_feature, const std::vector<std::string_view>& ids) {
  ListKey key;
  int64_t sum = 0;
  for (const std::string_view id : ids) {
    LS_RETURN_IF_ERROR(key.Assign(framed_feature, id));
    sum ^= TokenOf(key.partition_key()).value;
  }
  return sum != INT64_MIN ? absl::OkStatus() : absl::InternalError("no tokens");
}

// As EXECUTE of a prepared statement, or nothing but a frame when there is none.
class FrameSource final : public WireSource {
 public:
  // `statement_id` empty: OPTIONS. The reply must have `opcode`.
  FrameSource(std::string_view statement_id, std::string_view entity_id, int32_t limit,
              uint64_t lists, uint8_t opcode)
      : entity_id_(entity_id),
        limit_(CqlInt(limit)),
        values_{kWireFeatureKey, entity_id_, kWireZeroBound, limit_},
        frame_(statement_id, values_, {.skip_metadata = true, .page_size = 5'000}),
        entity_id_at_(frame_.Find(entity_id_)),
        is_options_(statement_id.empty()),
        lists_(lists),
        opcode_(opcode) {}

  bool Next(size_t /*slot*/, int16_t stream, CqlRequests& requests) override {
    if (is_options_) {
      const char frame[] = {
          0x04, 0, static_cast<char>(stream >> 8), static_cast<char>(stream & 0xff), 0x05, 0, 0,
          0,    0};
      requests.Append({frame, sizeof(frame)});
      return true;
    }
    char* const frame = frame_.AppendTo(requests, stream);
    if (lists_ > 0) {
      WriteEntityId(static_cast<uint32_t>(random_.Below(lists_)), frame + entity_id_at_);
    }
    return true;
  }
  absl::Status OnReply(size_t /*slot*/, const CqlReply& reply) override {
    return reply.opcode == opcode_ ? absl::OkStatus()
                                   : absl::DataLossError("a reply of another kind came");
  }

 private:
  const std::string entity_id_;
  const std::string limit_;
  const std::string_view values_[4];
  const FrameTemplate frame_;
  const size_t entity_id_at_;
  const bool is_options_;
  const uint64_t lists_;
  const uint8_t opcode_;
  Random random_{43};
};

}  // namespace

absl::Status MeasureStages(const ShapeOptions& options, ShapeReport* report) {
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<ListStore> store, ListStore::Open(Options()));
  LS_RETURN_IF_ERROR(store->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds));
  LS_RETURN_IF_ERROR(store->CreateListFeature(kBenchEntityType, "empty", kBenchTtlSeconds));
  LS_ASSIGN_OR_RETURN(const ListFeature feature,
                      store->FindListFeature(kBenchEntityType, kBenchFeature));
  LS_ASSIGN_OR_RETURN(const ListFeature empty, store->FindListFeature(kBenchEntityType, "empty"));
  LS_RETURN_IF_ERROR(LoadAll(*store, feature));
  const std::string framed =
      FramedFeatureKey(absl::StrCat(kBenchEntityType, "#", kBenchFeature, "|"));

  const std::vector<Stage> stages = {
      {"stage_key", "partition key and token", false,
       [&framed](const std::vector<std::string_view>& ids) { return MakeKeys(framed, ids); }},
      {"stage_absent", "lane, clock, directory: a list that is not there", false,
       Reads(*store, empty, 10, 0)},
      {"stage_one_row", "its block and one row, in caches", false, Reads(*store, feature, 1, 1)},
      {"stage_ten_rows", "nine rows more", false, Reads(*store, feature, 10, 10)},
      {"stage_memory", "memory: lists at random (the whole get 10)", true,
       Reads(*store, feature, 10, 10)},
  };
  LS_ASSIGN_OR_RETURN(const std::vector<double> nanos, MeasureAll(stages, options.seconds));
  report->Begin(
      absl::StrCat("get 10 in the process, ", kStageLists, " lists; each line adds a stage"));
  for (size_t i = 0; i < stages.size(); ++i) {
    report->Number(stages[i].key, stages[i].name, nanos[i] - (i == 0 ? 0 : nanos[i - 1]), "ns");
  }
  report->Number("stages_get10", "get 10", nanos.back(), "ns");

  const std::vector<Stage> group = {
      {"stage_group_one_row", "one row of each", true, GroupReads(*store, feature, 1)},
      {"stage_group_ten_rows", "nine rows more (the whole multi-get)", true,
       GroupReads(*store, feature, 10)},
  };
  LS_ASSIGN_OR_RETURN(const std::vector<double> grouped, MeasureAll(group, options.seconds));
  report->Begin("multi-get of 16 lists at random; by the list");
  report->Number(group[0].key, group[0].name, grouped[0], "ns");
  report->Number(group[1].key, group[1].name, grouped[1] - grouped[0], "ns");
  report->Number("stages_multiget16", "multi-get, a list", grouped[1], "ns");
  return absl::OkStatus();
}

absl::Status MeasureWireStages(const ShapeOptions& options, ShapeReport* report) {
  constexpr uint8_t kSupported = 0x06, kResult = 0x08;
  constexpr uint64_t kWireLists = 100'000;
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WireShape> shape, WireShape::Open(options, kWireLists));
  const std::string first = EntityIdOfList(0);
  const std::string absent(first.size(), 'x');
  struct WireStage {
    const char* key;
    const char* name;
    FrameSource source;
  };
  const std::string& select = shape->select();
  WireStage stages[] = {
      {"wire_stage_frame", "socket, frame, answer: OPTIONS", {"", first, 10, 0, kSupported}},
      {"wire_stage_absent",
       "EXECUTE of a list that is not there",
       {select, absent, 10, 0, kResult}},
      {"wire_stage_one_row", "one row", {select, first, 1, 0, kResult}},
      {"wire_stage_ten_rows", "nine rows more", {select, first, 10, 0, kResult}},
      {"wire_stage_memory",
       "memory: lists at random (the whole SELECT)",
       {select, first, 10, kWireLists, kResult}},
  };
  report->Begin(absl::StrCat(
      "SELECT 10 over the wire, ", WireShape::kInFlight, " under way on each of ",
      options.connections, " connections: the server's time on its core; each line adds a stage"));
  double before = 0;
  for (WireStage& stage : stages) {
    LS_ASSIGN_OR_RETURN(const WireLine line, shape->Measure(stage.source, options.seconds));
    if (line.core_rates.empty()) return absl::UnavailableError("the server's time is not known");
    const double nanos = 1e9 / Median(line.core_rates);
    report->Number(stage.key, stage.name, nanos - before, "ns");
    before = nanos;
  }
  report->Number("wire_stages_select10", "SELECT 10", before, "ns");
  return absl::OkStatus();
}

}  // namespace liststore
