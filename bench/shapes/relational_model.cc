// What lists replace: a table of values and a table of relations, read with ALLOW FILTERING, beside
// the list model in the same server.
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measure/median.h"
#include "bench/shapes/shapes.h"
#include "bench/shapes/wire_shape.h"
#include "bench/wire/wire_sources.h"
#include "engine/base/random.h"
#include "engine/base/status_macros.h"
#include "programs/client/cql_client.h"

namespace liststore {
namespace {

constexpr uint64_t kEntities = 2'000;
constexpr size_t kNewestItems = 10;
// An entity has relations of so many features in one partition, item by item in turn; the first is
// the one that is read. The list model keeps each feature in a partition of its own.
constexpr std::array<std::string_view, 4> kFeatures = {"reading_history", "shown_stories",
                                                       "followed_topics", "blocked_authors"};
constexpr int kRequestsOfARead = 2;
// In turn, so that what else happens on the machine meets both sides alike.
constexpr int kModelTurns = 10;

constexpr const char* kSchema[] = {
    "CREATE TABLE feature_store.feature_values (value_id bigint PRIMARY KEY, value blob)",
    "CREATE TABLE feature_store.feature_relations (entity_id text, created_at bigint, "
    "feature text, value_id bigint, PRIMARY KEY (entity_id, created_at)) "
    "WITH CLUSTERING ORDER BY (created_at DESC)",
};
constexpr char kInsertValue[] =
    "INSERT INTO feature_store.feature_values (value_id, value) VALUES (?, ?) USING TTL ?";
constexpr char kInsertRelation[] =
    "INSERT INTO feature_store.feature_relations (entity_id, created_at, feature, value_id) "
    "VALUES (?, ?, ?, ?) USING TTL ?";
constexpr char kSelectRelations[] =
    "SELECT value_id FROM feature_store.feature_relations WHERE entity_id = ? AND feature = ? "
    "LIMIT ? ALLOW FILTERING";
constexpr char kSelectValues[] =
    "SELECT value_id, value FROM feature_store.feature_values WHERE value_id IN ?";

absl::Status WrongModel(uint32_t entity, const char* what) {
  return absl::DataLossError(absl::StrCat("entity ", EntityIdOfList(entity), ": ", what));
}

int64_t ValueId(uint32_t entity, uint32_t number, size_t feature) {
  return static_cast<int64_t>((uint64_t{entity} * WireShape::kItems + number) * kFeatures.size() +
                              feature);
}

// The same items as `shape`'s lists, and those of the other features, by one connection.
class RelationalModel {
 public:
  static absl::StatusOr<RelationalModel> Open(WireShape& shape) {
    RelationalModel model(shape);
    for (const char* statement : kSchema) {
      LS_RETURN_IF_ERROR(model.client_.Query(statement).status());
    }
    LS_ASSIGN_OR_RETURN(model.select_relations_, model.client_.Prepare(kSelectRelations));
    LS_ASSIGN_OR_RETURN(model.select_values_, model.client_.Prepare(kSelectValues));
    LS_RETURN_IF_ERROR(model.Load());
    return model;
  }

  const std::string& select_relations() const { return select_relations_; }
  const std::string& select_values() const { return select_values_; }
  const GrowingLists& lists() const { return lists_; }

 private:
  explicit RelationalModel(WireShape& shape)
      : client_(*shape.clients()[0]), lists_(shape.lists()) {}

  // A batch for each entity.
  absl::Status Load() {
    LS_ASSIGN_OR_RETURN(const std::string insert_value, client_.Prepare(kInsertValue));
    LS_ASSIGN_OR_RETURN(const std::string insert_relation, client_.Prepare(kInsertRelation));
    const std::string ttl = CqlInt(static_cast<int32_t>(kBenchTtlSeconds));
    for (uint32_t entity = 0; entity < kEntities; ++entity) {
      const std::string entity_id = EntityIdOfList(entity);
      struct Row {
        std::string id, created_at, value;
        std::array<std::string_view, 5> relation;
        std::array<std::string_view, 3> stored;
      };
      std::vector<Row> rows(WireShape::kItems * kFeatures.size());
      std::vector<CqlRequests::Execution> executions;
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto number = static_cast<uint32_t>(i / kFeatures.size());
        const size_t feature = i % kFeatures.size();
        Row& row = rows[i];
        row.id = CqlBigint(ValueId(entity, number, feature));
        row.created_at =
            CqlBigint(static_cast<int64_t>(lists_.TimestampOf(entity, number) + feature));
        row.value = lists_.ValueOf(entity, number);
        row.relation = {entity_id, row.created_at, kFeatures[feature], row.id, ttl};
        row.stored = {row.id, row.value, ttl};
        executions.push_back({insert_relation, row.relation});
        executions.push_back({insert_value, row.stored});
      }
      LS_RETURN_IF_ERROR(client_.Batch("items of an entity", executions, std::nullopt));
    }
    return absl::OkStatus();
  }

  CqlClient& client_;
  const GrowingLists& lists_;
  std::string select_relations_, select_values_;
};

// The newest values of the first feature of random entities: two requests, the second made of the
// first one's answer. Every answer is read.
class RelationalSource final : public WireSource {
 public:
  RelationalSource(const RelationalModel& model, size_t slots) : model_(model), asked_(slots) {}

  bool Next(size_t slot, int16_t stream, CqlRequests& requests) override {
    Asked& asked = asked_[slot];
    if (asked.ids.empty()) {
      asked.entity = static_cast<uint32_t>(random_.Below(kEntities));
      const std::string entity_id = EntityIdOfList(asked.entity);
      const std::array<std::string_view, 3> wanted = {entity_id, kFeatures[0], limit_};
      requests.Execute(stream, model_.select_relations(), wanted);
    } else {
      const std::string_view ids = asked.ids;
      requests.Execute(stream, model_.select_values(), {&ids, 1});
    }
    return true;
  }

  absl::Status OnReply(size_t slot, const CqlReply& reply) override {
    Asked& asked = asked_[slot];
    LS_RETURN_IF_ERROR(CqlRows::Decode(reply.body, &rows_));
    if (rows_.size() != kNewestItems) return WrongModel(asked.entity, "rows are missing");
    if (!asked.ids.empty()) {
      asked.ids.clear();
      return CheckValues(asked.entity);
    }
    asked.ids = CqlInt(static_cast<int32_t>(rows_.size()));
    for (size_t i = 0; i < kNewestItems; ++i) {
      if (rows_.Integer(i, 0) != ValueId(asked.entity, NumberOf(i), 0)) {
        return WrongModel(asked.entity, "the newest relations are others");
      }
      asked.ids.append(CqlInt(sizeof(int64_t))).append(rows_.at(i, 0));
    }
    return absl::OkStatus();
  }

 private:
  struct Asked {
    uint32_t entity = 0;
    std::string ids;  // a list of them, once the relations are known
  };

  // Of the newest row but i.
  static uint32_t NumberOf(size_t i) { return static_cast<uint32_t>(WireShape::kItems - 1 - i); }

  // Rows of an IN come in the order of their tokens: a service puts them in order by their ids.
  absl::Status CheckValues(uint32_t entity) const {
    for (size_t i = 0; i < kNewestItems; ++i) {
      size_t row = 0;
      while (row < kNewestItems && rows_.Integer(row, 0) != ValueId(entity, NumberOf(i), 0)) ++row;
      if (row == kNewestItems || rows_.at(row, 1) != model_.lists().ValueOf(entity, NumberOf(i))) {
        return WrongModel(entity, "a value is another");
      }
    }
    return absl::OkStatus();
  }

  const RelationalModel& model_;
  const std::string limit_ = CqlInt(kNewestItems);
  std::vector<Asked> asked_;
  Random random_{1};
  CqlRows rows_;
};

}  // namespace

absl::Status MeasureRelationalModel(const ShapeOptions& options, ShapeReport* report) {
  report->Begin(
      absl::StrCat("newest 10 by one list, and by relations and values: ", options.connections,
                   " connections, ", WireShape::kInFlight, " requests under way on each"));
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WireShape> shape, WireShape::Open(options, kEntities));
  LS_ASSIGN_OR_RETURN(const RelationalModel relational, RelationalModel::Open(*shape));
  const size_t slots = options.connections * WireShape::kInFlight;
  std::vector<double> lists, relations, ratios;  // by the server's time on its core, a turn each
  for (int turn = 0; turn < kModelTurns; ++turn) {
    const ListPicker picker(kEntities, false, static_cast<uint64_t>(turn) + 1);
    SelectSource list_source(shape->lists(), shape->select(), slots, picker);
    LS_ASSIGN_OR_RETURN(WireLine line, shape->Measure(list_source, options.seconds / kModelTurns));
    lists.push_back(Median(line.core_rates));
    RelationalSource source(relational, slots);
    LS_ASSIGN_OR_RETURN(line, shape->Measure(source, options.seconds / kModelTurns));
    relations.push_back(Median(line.core_rates) / kRequestsOfARead);
    ratios.push_back(lists.back() / relations.back());
  }
  report->Number("model_list_per_core_s", "one list, by the server's time on its core",
                 Median(lists), "a second");
  report->Number("model_relational_per_core_s",
                 "relations with ALLOW FILTERING and their values, likewise", Median(relations),
                 "a second");
  report->Number("model_cost_ratio", "the latter's cost by that of a list, median of turns",
                 Median(ratios), "times");
  return absl::OkStatus();
}

}  // namespace liststore
