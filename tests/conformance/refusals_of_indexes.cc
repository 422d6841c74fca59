// Refused changes of indexes and of materialized views.
#include <algorithm>
#include <string_view>

#include "tests/conformance/random_statements.h"
#include "tests/conformance/refusal_maker.h"
#include "tests/conformance/value_pool.h"

namespace liststore::testing {
namespace {

using Kind = DataType::Kind;

std::string_view ThoseWithDurations(const DataType& type) {
  if (type.is_collection()) return "collections containing durations";
  if (type.kind() == Kind::kUser) return "UDTs containing durations";
  return type.has_fields() ? "tuples containing durations" : "duration columns";
}

}  // namespace

RefusalMaker::Maybe RefusalMaker::IndexOfANameThatIsThere() {
  const auto& other = AnyModel().schema();
  if (!other.index) return std::nullopt;
  ModelSchema indexed = schema_;
  indexed.index = RandomIndex(random_, schema_);
  if (!indexed.index) return std::nullopt;
  indexed.index->name = IndexName(other);
  return Of(indexed.CreateIndexStatement(), "Index already exists");
}

RefusalMaker::Maybe RefusalMaker::IndexTwice() {
  if (!schema_.index) return std::nullopt;
  const std::string there = IndexName(schema_);
  ModelSchema again = schema_;
  again.index->name = "";
  const std::string name = IndexName(again);
  return Of(again.CreateIndexStatement(), "Index " + name + (name == there ? "_1" : "") +
                                              " is a duplicate of existing index " + there);
}

RefusalMaker::Maybe RefusalMaker::IndexOnNoColumn() {
  return Of(Index(schema_, "nope"), "No column definition found for column nope");
}

RefusalMaker::Maybe RefusalMaker::IndexOnCounters() {
  const ModelSchema& counters = tables_.counters->schema();
  return Of(Index(counters, counters.regular[0].name),
            "Secondary indexes are not supported on counter tables");
}

RefusalMaker::Maybe RefusalMaker::IndexOnView() {
  const ViewModel* view = AnyView();
  if (view == nullptr) return std::nullopt;
  return Of(Index(view->schema(), view->schema().regular[0].name),
            "Secondary indexes are not supported on materialized views");
}

RefusalMaker::Maybe RefusalMaker::IndexOnPartitionKey() {
  if (schema_.partition_key.size() > 1) return std::nullopt;
  const std::string& name = schema_.partition_key[0].name;
  return Of(Index(schema_, name), "Cannot create secondary index on partition key column " + name);
}

RefusalMaker::Maybe RefusalMaker::IndexOnColumn() {
  const size_t i = random_.Below(schema_.values());
  const ModelColumn& column = schema_.ValueColumn(i);
  const std::string& name = column.name;
  if (HasDuration(column.type)) {
    return Of(Index(schema_, name), "Secondary indexes are not supported on " +
                                        std::string(ThoseWithDurations(column.type)));
  }
  if (!column.type.is_multi_cell()) return IndexOnOneCell(column, schema_.is_static(i));
  if (column.type.kind() == Kind::kUser) {
    return Of(Index(schema_, name), "Cannot create secondary index on UDT column " + name);
  }
  if (!schema_.is_static(i) && random_.OneIn(2)) {
    return Of(Index(schema_, LocalTo(name)),
              "Local secondary index on collection column " + name + " is not implemented yet.");
  }
  if (column.type.kind() == Kind::kMap || random_.OneIn(2)) {
    return Of(Index(schema_, "FULL(" + name + ")"),
              "full() indexes can only be created on frozen collections");
  }
  const bool keys = random_.OneIn(2);
  return Of(Index(schema_, (keys ? "KEYS(" : "ENTRIES(") + name + ")"),
            std::string("Cannot create secondary index on ") + (keys ? "keys" : "entries") +
                " of column " + name + " with non-map type");
}

RefusalMaker::Maybe RefusalMaker::DropNoIndex() {
  return Of("DROP INDEX " + tables_.keyspace + ".nope",
            "Index 'nope' could not be found in any of the tables of keyspace '" +
                tables_.keyspace + "'");
}

RefusalMaker::Maybe RefusalMaker::ViewOfWhatCannotHaveOne() {
  const ViewModel* view = AnyView();
  if (view != nullptr && random_.OneIn(2)) {
    return Of(View(view->schema(), ""),
              "Materialized views cannot be created against other materialized views");
  }
  return Of(View(tables_.counters->schema(), ""),
            "Materialized views are not supported on counter tables");
}

RefusalMaker::Maybe RefusalMaker::ViewWithoutNotNull() {
  if (schema_.clustering.empty()) return std::nullopt;
  return Of(View(schema_, schema_.clustering[0].name, /*restricted=*/false),
            "Primary key column '" + schema_.clustering[0].name +
                "' is required to be filtered by 'IS NOT NULL'");
}

RefusalMaker::Maybe RefusalMaker::ViewWithoutAKeyColumn() {
  if (schema_.clustering.empty() || !schema_.statics.empty()) return std::nullopt;
  std::string missing;
  for (const ModelColumn& column : schema_.clustering) {
    missing += (missing.empty() ? "" : ", ") + column.name;
  }
  std::string key;
  std::string where;
  for (const ModelColumn& column : schema_.partition_key) {
    key += (key.empty() ? "" : ", ") + column.name;
    where += (where.empty() ? "" : " AND ") + column.name + " IS NOT NULL";
  }
  return Of("CREATE MATERIALIZED VIEW " + tables_.keyspace + ".another AS SELECT * FROM " +
                schema_.table + " WHERE " + where + " PRIMARY KEY (" + key + ")",
            "Cannot create Materialized View another without primary key columns from base " +
                Short(schema_) + " (" + missing + ")");
}

RefusalMaker::Maybe RefusalMaker::ViewByAColumnThatCannotBe() {
  const size_t i = random_.Below(schema_.values());
  const ModelColumn& column = schema_.ValueColumn(i);
  const char* const what = column.type.is_multi_cell() ? "MultiCell"
                           : HasDuration(column.type)  ? "Duration"
                           : schema_.is_static(i)      ? "Static"
                                                       : nullptr;
  if (what == nullptr) return std::nullopt;
  return Of(View(schema_, column.name), "Cannot use " + std::string(what) + " column '" +
                                            column.name + "' in PRIMARY KEY of materialized view");
}

RefusalMaker::Maybe RefusalMaker::ViewOfStatics() {
  if (schema_.statics.empty()) return std::nullopt;
  return Of(View(schema_, ""),
            "Unable to include static column '" + schema_.statics[0].name +
                "' which would be included by Materialized View SELECT * statement");
}

RefusalMaker::Maybe RefusalMaker::ViewOfANameThatIsThere() {
  const std::string& there = tables_.readable(random_.Below(tables_.readables())).schema().table;
  return Of(RandomView(random_, schema_, there, /*plain=*/false).create, IsThere(there),
            kAlreadyExists);
}

RefusalMaker::Maybe RefusalMaker::DropOfNoView() {
  if (random_.OneIn(2)) {
    return Of(
        "DROP MATERIALIZED VIEW " + tables_.keyspace + ".nope",
        "Cannot drop non existing materialized view 'nope' in keyspace '" + tables_.keyspace + "'.",
        kConfig);
  }
  return Of("DROP MATERIALIZED VIEW " + AnyTable().schema().table,
            "Cannot use DROP MATERIALIZED VIEW on Table");
}

RefusalMaker::Maybe RefusalMaker::AlterOfNoView() {
  return Of("ALTER MATERIALIZED VIEW " + AnyTable().schema().table + " WITH comment = 'no'",
            "Cannot use ALTER MATERIALIZED VIEW on Table");
}

RefusalMaker::Maybe RefusalMaker::OptionThatNoViewHas() {
  const ViewModel* view = AnyView();
  if (view == nullptr) return std::nullopt;
  const std::string alter = "ALTER MATERIALIZED VIEW " + view->schema().table + " WITH ";
  if (random_.OneIn(2)) {
    return Of(alter + "default_time_to_live = 5",
              "Cannot set or alter default_time_to_live for a materialized view. Data in a "
              "materialized view always expire at the same time than the corresponding data in "
              "the parent table.");
  }
  return Of(alter + "gc_grace_seconds = 0",
            "Cannot alter gc_grace_seconds of a materialized view to 0, since this value is used "
            "to TTL undelivered updates. Setting gc_grace_seconds too low might cause "
            "undelivered updates to expire before being replayed.");
}

RefusalMaker::Maybe RefusalMaker::IndexOnOneCell(const ModelColumn& column, bool is_static) {
  const std::string& name = column.name;
  if (is_static && random_.OneIn(2)) {
    return Of(Index(schema_, LocalTo(name)),
              "Local indexes containing static columns are not supported.");
  }
  if (column.type.is_collection()) {
    return Of(Index(schema_, "KEYS(" + name + ")"),
              "Cannot create index on keys() of frozen collection column " + name);
  }
  if (random_.OneIn(2)) {
    return Of(Index(schema_, "FULL(" + name + ")"),
              "full() indexes can only be created on frozen collections");
  }
  return Of(Index(schema_, "VALUES(" + name + ")"),
            "Cannot create index on values() of column " + name +
                "; only non-frozen collections support values() indexes");
}

std::string RefusalMaker::View(const ModelSchema& schema, const std::string& first,
                               bool restricted) const {
  std::string key = first;
  std::string where;
  const auto restrict = [&](const std::string& name) {
    if (!restricted && name == first) return;
    where += (where.empty() ? " WHERE " : " AND ") + name + " IS NOT NULL";
  };
  if (!first.empty()) restrict(first);
  for (const ModelColumn* column : KeyColumns(schema)) {
    if (column->name == first) continue;
    key += (key.empty() ? "" : ", ") + column->name;
    restrict(column->name);
  }
  return "CREATE MATERIALIZED VIEW " + tables_.keyspace + ".another AS SELECT * FROM " +
         schema.table + where + " PRIMARY KEY (" + key + ")";
}

}  // namespace liststore::testing
