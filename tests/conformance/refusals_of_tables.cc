// Refused changes of tables: their columns, their options, the tables themselves.
#include <algorithm>

#include "tests/conformance/refusal_maker.h"

namespace liststore::testing {
namespace {

using On = ModelIndex::On;

}  // namespace

std::vector<const ModelColumn*> RefusalMaker::KeyColumns(const ModelSchema& schema) {
  std::vector<const ModelColumn*> columns;
  for (const ModelColumn& column : schema.partition_key) columns.push_back(&column);
  for (const ModelColumn& column : schema.clustering) columns.push_back(&column);
  return columns;
}

RefusalMaker::Maybe RefusalMaker::AddWhatIsThere() {
  const TableModel& model = AnyTable();
  const ModelSchema& schema = model.schema();
  const std::string type = IsCounters(model) ? " counter" : " int";
  if (random_.OneIn(3)) {
    const std::string& name = AnyOf(KeyColumns(schema))->name;
    const bool in_partition_key =
        std::ranges::find(schema.partition_key, name, &ModelColumn::name) !=
        schema.partition_key.end();
    return Of(Alter(schema) + "ADD " + name + type,
              "Invalid column name " + name + " because it conflicts with " +
                  (in_partition_key ? "a PRIMARY KEY part" : "an existing column"));
  }
  // What stands before it is not added either.
  const std::string& name = schema.ValueColumn(random_.Below(schema.values())).name;
  return Of(Alter(schema) + "ADD (another" + type + ", " + name + type + ")",
            "Invalid column name " + name + " because it conflicts with an existing column");
}

RefusalMaker::Maybe RefusalMaker::AddStaticWithoutRows() {
  const TableModel& model = AnyTable();
  if (!model.schema().clustering.empty()) return std::nullopt;
  return Of(Alter(model.schema()) + "ADD another int STATIC",
            "Static columns are only useful (and thus allowed) if the table has at least one "
            "clustering column");
}

RefusalMaker::Maybe RefusalMaker::AddCounter() {
  return Of(Alter(schema_) + "ADD another counter",
            "Cannot add a counter column (another) in a non counter column family", kConfig);
}

RefusalMaker::Maybe RefusalMaker::AddBesideCounters() {
  return Of(Alter(tables_.counters->schema()) + "ADD another int",
            "Cannot add a non counter column (another) in a counter column family", kConfig);
}

RefusalMaker::Maybe RefusalMaker::AddCounterAgain() {
  const ModelSchema& schema = tables_.counters->schema();
  if (schema.dropped.empty()) return std::nullopt;
  const std::string& name = schema.dropped.begin()->first;
  return Of(Alter(schema) + "ADD " + name + (random_.OneIn(2) ? " counter" : " int"),
            "Cannot re-add previously dropped counter column " + name);
}

// No collection of pools has elements of this type.
RefusalMaker::Maybe RefusalMaker::AddOtherCollectionAgain() {
  for (const auto& [name, type] : schema_.dropped) {
    if (!type.is_collection() || !type.is_multi_cell()) continue;
    return Of(Alter(schema_) + "ADD " + name + (random_.OneIn(2) ? " list<inet>" : " set<inet>"),
              "Cannot add a collection with the name " + name +
                  " because a collection with the same name and a different type has already been "
                  "used in the past");
  }
  return std::nullopt;
}

RefusalMaker::Maybe RefusalMaker::AddOfNoType() {
  return Of(Alter(schema_) + "ADD another frozen<nope>",
            "Unknown type " + tables_.keyspace + ".nope");
}

RefusalMaker::Maybe RefusalMaker::AlterView() {
  const ViewModel* view = AnyView();
  if (view == nullptr) return std::nullopt;
  const std::string change = random_.OneIn(2) ? "ADD another int" : "WITH comment = 'no'";
  return Of(Alter(view->schema()) + change, "Cannot use ALTER TABLE on Materialized View");
}

RefusalMaker::Maybe RefusalMaker::AlterNoTable() {
  return Of("ALTER TABLE " + tables_.keyspace + ".nope ADD v int", "unconfigured table nope");
}

RefusalMaker::Maybe RefusalMaker::DropKey() {
  const ModelSchema& schema = AnyTable().schema();
  const std::string& name = AnyOf(KeyColumns(schema))->name;
  return Of(Alter(schema) + "DROP " + name, "Cannot drop PRIMARY KEY part " + name);
}

RefusalMaker::Maybe RefusalMaker::DropKeyBehindAnother() {
  if (schema_.index || !tables_.ViewsOf(model_).empty()) return std::nullopt;
  const std::string& name = AnyOf(KeyColumns(schema_))->name;
  return Of(Alter(schema_) + "DROP (" + schema_.regular[0].name + ", " + name + ")",
            "Cannot drop PRIMARY KEY part " + name);
}

RefusalMaker::Maybe RefusalMaker::DropNothing() {
  const ModelSchema& schema = AnyTable().schema();
  return Of(Alter(schema) + "DROP nope", "Column nope was not found in table " + Short(schema));
}

RefusalMaker::Maybe RefusalMaker::DropIndexed() {
  if (!schema_.index) return std::nullopt;
  // An index on a key column needs all that makes a row live.
  const std::string& name =
      schema_.index->on == On::kValue ? schema_.IndexedColumn().name : AnyOf(schema_.regular).name;
  return Of(Alter(schema_) + "DROP " + name, Needed(name, IndexName(schema_) + "_index"));
}

RefusalMaker::Maybe RefusalMaker::DropWhatAViewNeeds() {
  std::vector<ViewModel*> views = tables_.ViewsOf(model_);
  std::ranges::sort(views, {}, [](const ViewModel* view) { return view->schema().table; });
  for (size_t i = 0; i < schema_.values(); ++i) {
    const std::string& name = schema_.ValueColumn(i).name;
    if (schema_.index && schema_.IndexedColumn().name == name) continue;
    // Its view needs the column as well.
    if (schema_.index && schema_.index->on != On::kValue && !schema_.is_static(i)) continue;
    const auto needs = [&](const ViewModel* view) {
      return view->Needs(name, schema_.is_static(i));
    };
    const auto first = std::ranges::find_if(views, needs);
    if (first == views.end()) continue;
    return Of(Alter(schema_) + "DROP " + name, Needed(name, Short((*first)->schema())));
  }
  return std::nullopt;
}

RefusalMaker::Maybe RefusalMaker::RenameRegular() {
  const ModelSchema& schema = AnyTable().schema();
  const std::string& name = schema.ValueColumn(random_.Below(schema.values())).name;
  return Of(Alter(schema) + "RENAME " + name + " TO another",
            "Cannot rename non PRIMARY KEY part " + name);
}

RefusalMaker::Maybe RefusalMaker::RenameNothing() {
  const ModelSchema& schema = AnyTable().schema();
  return Of(Alter(schema) + "RENAME nope TO another",
            "Cannot rename unknown column nope in table " + Short(schema));
}

RefusalMaker::Maybe RefusalMaker::RenameToWhatIsThere() {
  const ModelSchema& schema = AnyTable().schema();
  const std::string& from = AnyOf(KeyColumns(schema))->name;
  const std::string& to = schema.ValueColumn(random_.Below(schema.values())).name;
  return Of(Alter(schema) + "RENAME " + from + " TO " + to,
            "Cannot rename column " + from + " to " + to + " in table " + Short(schema) +
                "; another column of that name already exist");
}

RefusalMaker::Maybe RefusalMaker::RenameNothingBehindAnother() {
  if (schema_.index) return std::nullopt;
  return Of(Alter(schema_) + "RENAME " + AnyOf(KeyColumns(schema_))->name +
                " TO another AND nope TO more",
            "Cannot rename unknown column nope in table " + Short(schema_));
}

RefusalMaker::Maybe RefusalMaker::RenameIndexed() {
  if (!schema_.index || schema_.index->on == On::kValue) return std::nullopt;
  const std::string& name = schema_.IndexedColumn().name;
  return Of(Alter(schema_) + "RENAME " + name + " TO another",
            "Cannot rename column " + name + " because it has dependent secondary indexes (" +
                IndexName(schema_) + ")");
}

RefusalMaker::Maybe RefusalMaker::AlterToInet() {
  const ModelSchema& schema = AnyTable().schema();
  std::vector<const ModelColumn*> columns = KeyColumns(schema);
  for (size_t i = 0; i < schema.values(); ++i) columns.push_back(&schema.ValueColumn(i));
  const ModelColumn& column = *AnyOf(columns);
  if (column.type.is(CqlType::kInet)) return std::nullopt;
  const bool is_ordered = std::ranges::find(schema.clustering, column.name, &ModelColumn::name) !=
                              schema.clustering.end() ||
                          (schema.index && schema.IndexedColumn().name == column.name);
  return Of(Alter(schema) + "ALTER " + column.name + " TYPE inet",
            "Cannot change " + column.name + " from type " + column.type.ToString() +
                " to type inet: types are " +
                (is_ordered ? "not order-compatible." : "incompatible."),
            kConfig);
}

RefusalMaker::Maybe RefusalMaker::AlterNoColumn() {
  const ModelSchema& schema = AnyTable().schema();
  return Of(Alter(schema) + "ALTER nope TYPE blob",
            "Column nope was not found in table " + Short(schema));
}

RefusalMaker::Maybe RefusalMaker::NoGraceUnderViews() {
  if (tables_.ViewsOf(model_).empty()) return std::nullopt;
  return Of(Alter(schema_) + "WITH comment = 'no' AND gc_grace_seconds = 0",
            "Cannot alter gc_grace_seconds of the base table of a materialized view to 0, since "
            "this value is used to TTL undelivered updates. Setting gc_grace_seconds too low "
            "might cause undelivered updates to expire before being replayed.");
}

RefusalMaker::Maybe RefusalMaker::TtlOfCounters() {
  return Of(Alter(tables_.counters->schema()) + "WITH default_time_to_live = 5",
            "Cannot set default_time_to_live on a table with counters");
}

RefusalMaker::Maybe RefusalMaker::UnknownOption() {
  return Of(Alter(AnyTable().schema()) + "WITH comment = 'no' AND nope = 1",
            "Unknown property 'nope'", kSyntax);
}

RefusalMaker::Maybe RefusalMaker::OptionBelowZero() {
  return Of(Alter(schema_) + "WITH comment = 'no' AND default_time_to_live = -1",
            "default_time_to_live cannot be smaller than 0, (default 0)", kConfig);
}

RefusalMaker::Maybe RefusalMaker::OptionTwice() {
  return Of(Alter(schema_) + "WITH caching = {'keys': 'ALL', 'keys': 'NONE'}",
            "Multiple definition for property keys", kSyntax);
}

// Of tables and views alike.
RefusalMaker::Maybe RefusalMaker::OptionOfCompaction() {
  const std::string with = Alter(schema_) + "WITH comment = 'no' AND compaction = {'class': '";
  switch (random_.Below(3)) {
    case 0:
      return Of(with + "LeveledCompactionStrategy', 'sstable_size_in_mb': 0}",
                "sstable_size_in_mb value (0) must be positive", kConfig);
    case 1:
      return Of(with + "SizeTieredCompactionStrategy', 'bucket_high': 1}",
                "bucket_high value (1) must be greater than 1.0", kConfig);
    default:
      return Of(with + "TimeWindowCompactionStrategy', 'nope': 1}",
                "Invalid compaction strategy options {\"nope\": \"1\"} for chosen strategy type",
                kConfig);
  }
}

RefusalMaker::Maybe RefusalMaker::OptionOfCompression() {
  const std::string with = Alter(schema_) +
                           "WITH comment = 'no' AND compression = {'sstable_compression': "
                           "'LZ4Compressor', ";
  if (random_.OneIn(2)) return Of(with + "'no': 1}", "Unknown compression option 'no'.", kConfig);
  return Of(with + "'chunk_length_in_kb': 256}",
            "chunk_length_in_kb/chunk_length_kb must be 128 or less.", kConfig);
}

RefusalMaker::Maybe RefusalMaker::CreateOfALongName() {
  const std::string name(49 + random_.Below(100), 'x');
  return Of("CREATE TABLE " + tables_.keyspace + "." + name + " (p int PRIMARY KEY)",
            "Table names shouldn't be more than 48 characters long (got \"" + name + "\")");
}

RefusalMaker::Maybe RefusalMaker::CreateWhatIsThere() {
  const ModelSchema& schema = tables_.readable(random_.Below(tables_.readables())).schema();
  return Of("CREATE TABLE " + schema.table + " (p int PRIMARY KEY)", IsThere(schema.table),
            kAlreadyExists);
}

RefusalMaker::Maybe RefusalMaker::DropTableWithViews() {
  std::vector<std::string> views;
  for (const ViewModel* view : tables_.ViewsOf(model_)) views.push_back(Short(view->schema()));
  if (views.empty()) return std::nullopt;
  std::ranges::sort(views);
  std::string names;
  for (const std::string& view : views) names += (names.empty() ? "" : ", ") + view;
  return Of("DROP TABLE " + schema_.table,
            "Cannot drop table when materialized views still depend on it (" + tables_.keyspace +
                ".{" + names + "})");
}

RefusalMaker::Maybe RefusalMaker::DropTableOfView() {
  const ViewModel* view = AnyView();
  if (view == nullptr) return std::nullopt;
  return Of("DROP TABLE " + view->schema().table, "Cannot use DROP TABLE on Materialized View");
}

RefusalMaker::Maybe RefusalMaker::DropNoTable() {
  return Of("DROP TABLE " + tables_.keyspace + ".nope",
            "Cannot drop non existing table 'nope' in keyspace '" + tables_.keyspace + "'.");
}

RefusalMaker::Maybe RefusalMaker::TruncateView() {
  const ViewModel* view = AnyView();
  if (view == nullptr) return std::nullopt;
  return Of("TRUNCATE " + view->schema().table,
            "Cannot TRUNCATE materialized view directly; must truncate base table instead");
}

}  // namespace liststore::testing
