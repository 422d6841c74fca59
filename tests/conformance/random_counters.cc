#include "tests/conformance/random_counters.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/conformance/random_statements.h"
#include "tests/conformance/read_model.h"

namespace liststore::testing {
namespace {

// What is added to a counter; of a static one `clustering` is empty.
struct Addition {
  Values partition;
  Values clustering;
  size_t column = 0;
  int64_t number = 0;
};

struct Counted {
  CqlStatement sent;
  std::string shown;
  std::vector<Addition> additions;
};

// UPDATE t SET c = c + n, ... WHERE.
Counted MakeAddition(Random& random, const ModelSchema& schema) {
  StatementText text(random);
  text << "UPDATE " << schema.table << " SET ";
  const bool statics_alone = !schema.statics.empty() && random.OneIn(3);
  const size_t first = statics_alone ? schema.regular.size() : 0;
  // A regular one, where rows are meant.
  const size_t always = statics_alone ? first + random.Below(schema.statics.size())
                                      : random.Below(schema.regular.size());
  std::vector<std::pair<size_t, int64_t>> numbers;
  for (size_t i = first; i < schema.values(); ++i) {
    if (i != always && random.OneIn(2)) continue;
    const std::string& name = schema.ValueColumn(i).name;
    const int64_t number = random.Between(0, 1000);
    const bool subtracts = random.OneIn(3);
    text << (numbers.empty() ? "" : ", ") << name;
    if (random.OneIn(3)) {
      text << (subtracts ? " -= " : " += ");
    } else {
      text << " = " << name << (subtracts ? " - " : " + ");
    }
    text.AddNumber(number, 8);
    numbers.emplace_back(i, subtracts ? -number : number);
  }
  text << " WHERE ";
  const PartitionChoice partitions = AddPartitionWhere(random, schema, text);
  std::vector<Values> keys = {{}};
  if (!statics_alone) {
    AddClusteringWhere(random, schema, ClusteringUse::kWholeKeys, " AND ", text, &keys);
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
  Counted counted{text.Sent(), text.shown(), {}};
  for (const Values& partition : partitions.keys) {
    for (const Values& key : keys) {
      for (const auto& [column, number] : numbers) {
        counted.additions.push_back(
            {partition, schema.is_static(column) ? Values() : key, column, number});
      }
    }
  }
  return counted;
}

// Adds all of it up, and writes each counter once.
void Apply(TableModel& model, const std::vector<Addition>& additions, int64_t timestamp,
           int64_t now_seconds) {
  const ModelSchema& schema = model.schema();
  struct Place {
    Values partition;
    Values clustering;
    size_t column;
    auto operator<=>(const Place&) const = default;
  };
  std::map<Place, int64_t> sums;
  for (const Addition& addition : additions) {
    sums[{addition.partition, addition.clustering, addition.column}] += addition.number;
  }
  for (const auto& [place, sum] : sums) {
    const bool is_static = schema.is_static(place.column);
    const std::optional<LiveRow> row =
        is_static ? model.FindAny(place.partition, now_seconds)
                  : model.Find(place.partition, place.clustering, now_seconds);
    const bool has_value = row && row->cells[place.column];
    const int64_t before = has_value ? IntOf(row->cells[place.column]->value) : 0;
    RowWrite write;
    write.partition = place.partition;
    write.clustering = place.clustering;
    write.statics_alone = is_static;
    write.cells = {{place.column, BytesOfInt(before + sum, 8)}};
    model.Write(write, timestamp, now_seconds);
  }
}

// DELETE FROM t WHERE: a row, rows or a partition.
RandomCounterWrite MakeDeletion(Random& random, TableModel& model) {
  const ModelSchema& schema = model.schema();
  StatementText text(random);
  text << "DELETE FROM " << schema.table << " WHERE ";
  const PartitionChoice partitions = AddPartitionWhere(random, schema, text);
  TableModel::Predicate covers = [](const Values&) { return true; };
  const size_t without = text.shown().size();
  if (!random.OneIn(4)) {
    covers = AddClusteringWhere(random, schema, ClusteringUse::kDeletion, " AND ", text);
  }
  const bool whole = text.shown().size() == without;
  return {[sent = text.Sent()](CqlSession& session) { return session.Run(sent); }, text.shown(),
          [&model, keys = partitions.keys, covers, whole](int64_t timestamp, int64_t) {
            for (const Values& key : keys) model.Delete(key, covers, whole, timestamp);
          }};
}

// DELETE c FROM t WHERE: counters by themselves. They stay deleted, whatever is added.
RandomCounterWrite MakeColumnDeletion(Random& random, TableModel& model) {
  const ModelSchema& schema = model.schema();
  StatementText text(random);
  const bool statics_alone = !schema.statics.empty() && random.OneIn(3);
  const size_t column = statics_alone ? schema.regular.size() + random.Below(schema.statics.size())
                                      : random.Below(schema.regular.size());
  text << "DELETE " << schema.ValueColumn(column).name << " FROM " << schema.table << " WHERE ";
  const PartitionChoice partitions = AddPartitionWhere(random, schema, text);
  std::vector<Values> keys = {{}};
  if (!statics_alone) {
    AddClusteringWhere(random, schema, ClusteringUse::kWholeKeys, " AND ", text, &keys);
  }
  return {[sent = text.Sent()](CqlSession& session) { return session.Run(sent); }, text.shown(),
          [&model, partitions, keys, column, statics_alone](int64_t, int64_t now_seconds) {
            RowWrite write;
            write.statics_alone = statics_alone;
            write.cells = {{column, std::nullopt}};
            for (const Values& partition : partitions.keys) {
              for (const Values& key : keys) {
                write.partition = partition;
                write.clustering = key;
                model.Write(write, std::numeric_limits<int64_t>::max(), now_seconds);
              }
            }
          }};
}

}  // namespace

ModelSchema RandomCounterSchema(Random& random, std::string table, const ModelUserTypes& types) {
  ModelSchema schema = RandomSchema(random, std::move(table), types);
  for (auto* columns : {&schema.regular, &schema.statics}) {
    for (ModelColumn& column : *columns) column.type = CqlType::kCounter;
  }
  schema.index.reset();
  schema.default_ttl_seconds = 0;
  return schema;
}

RandomCounterWrite MakeRandomCounterWrite(Random& random, TableModel& model, bool may_delete) {
  if (may_delete && random.OneIn(25)) return MakeColumnDeletion(random, model);
  if (may_delete && random.OneIn(6)) return MakeDeletion(random, model);
  if (!random.OneIn(3)) {
    Counted one = MakeAddition(random, model.schema());
    return {[sent = one.sent](CqlSession& session) { return session.Run(sent); }, one.shown,
            [&model, additions = one.additions](int64_t timestamp, int64_t now_seconds) {
              Apply(model, additions, timestamp, now_seconds);
            }};
  }
  CqlStatement text{"BEGIN COUNTER BATCH", {}, random.OneIn(2)};
  std::string shown = text.text + "\n";
  std::vector<CqlStatement> sent;
  std::vector<Addition> additions;
  for (uint64_t left = 1 + random.Below(4); left > 0; --left) {
    Counted one = MakeAddition(random, model.schema());
    shown += "  " + one.shown + ";\n";
    text.text += " " + one.sent.text + ";";
    text.parameters.insert(text.parameters.end(), one.sent.parameters.begin(),
                           one.sent.parameters.end());
    additions.insert(additions.end(), one.additions.begin(), one.additions.end());
    sent.push_back(std::move(one.sent));
  }
  text.text += " APPLY BATCH";
  const bool is_message = random.OneIn(2);
  return {[=](CqlSession& session) {
            return is_message ? session.RunCounterBatch(sent) : session.Run(text);
          },
          shown + "APPLY BATCH",
          [&model, additions](int64_t timestamp, int64_t now_seconds) {
            Apply(model, additions, timestamp, now_seconds);
          }};
}

}  // namespace liststore::testing
