// Refused changes of user types and of keyspaces.
#include <algorithm>
#include <string_view>

#include "tests/conformance/refusal_maker.h"

namespace liststore::testing {
namespace {

std::string HexOfName(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : text) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

}  // namespace

RefusalMaker::Maybe RefusalMaker::CreateTypeThatIsThere() {
  const std::string name = FullName(random_.OneIn(2) ? altered() : tables_.types.fixed);
  return Of("CREATE TYPE " + name + " (a int)", "A user type of name " + name + " already exists");
}

RefusalMaker::Maybe RefusalMaker::AlterNoType() {
  return Of("ALTER TYPE " + tables_.keyspace + ".nope ADD a int",
            "No user type named " + tables_.keyspace + ".nope exists.");
}

RefusalMaker::Maybe RefusalMaker::AddFieldThatIsThere() {
  const std::string field = AnyField();
  return Of(AlterAltered() + "ADD " + field + " int",
            "Cannot add new field " + field + " to type " + FullName(altered()) +
                ": a field of the same name already exists");
}

RefusalMaker::Maybe RefusalMaker::AddFieldThatCannotBe() {
  if (random_.OneIn(2)) {
    return Of(AlterAltered() + "ADD another counter", "A user type cannot contain counters");
  }
  return Of(AlterAltered() + "ADD another frozen<altered>",
            "Cannot add new field another of type frozen<altered> to type " + FullName(altered()) +
                " as this would create a circular reference");
}

RefusalMaker::Maybe RefusalMaker::AddFieldOfCells() {
  const auto has_cells = [&](const auto& model) {
    const ModelSchema& schema = model->schema();
    for (size_t i = 0; i < schema.values(); ++i) {
      if (schema.ValueColumn(i).type == altered()) return true;
    }
    return false;
  };
  if (std::ranges::none_of(tables_.models, has_cells)) return std::nullopt;
  return Of(AlterAltered() + "ADD another list<int>",
            "Non-frozen UDTs with nested non-frozen collections are not supported");
}

RefusalMaker::Maybe RefusalMaker::RenameField() {
  if (random_.OneIn(2)) {
    return Of(AlterAltered() + "RENAME nope TO another",
              "Unknown field nope in type " + FullName(altered()));
  }
  const std::vector<std::string>& fields = altered().user().fields;
  return Of(AlterAltered() + "RENAME " + fields[0] + " TO " + fields[1],
            "Duplicate field name " + HexOfName(fields[1]) + " in type " + altered().user().name);
}

RefusalMaker::Maybe RefusalMaker::AlterField() {
  if (random_.OneIn(2)) {
    return Of(AlterAltered() + "ALTER nope TYPE blob",
              "Unknown field nope in type " + FullName(altered()));
  }
  const size_t i = random_.Below(altered().parameters().size());
  const DataType& before = altered().parameters()[i];
  const std::string& field = altered().user().fields[i];
  if (before.is(CqlType::kInet)) return std::nullopt;
  return Of(AlterAltered() + "ALTER " + field + " TYPE inet",
            "Type inet in incompatible with previous type " + before.ToString() + " of field " +
                field + " in user type " + FullName(altered()));
}

RefusalMaker::Maybe RefusalMaker::AlterTypeOfPartitionKey() {
  const std::string where = UseIn(&ModelSchema::partition_key);
  if (where.empty()) return std::nullopt;
  const std::string name = FullName(tables_.types.fixed);
  const std::string change = random_.OneIn(2)
                                 ? "ADD another int"
                                 : "RENAME " + tables_.types.fixed.user().fields[0] + " TO one";
  return Of("ALTER TYPE " + name + " " + change,
            "Cannot add new field to type " + name +
                " because it is used in the partition key column " + where);
}

RefusalMaker::Maybe RefusalMaker::AddDurationToKey() {
  const std::string where = UseIn(&ModelSchema::clustering);
  if (where.empty() || !UseIn(&ModelSchema::partition_key).empty()) return std::nullopt;
  const std::string name = FullName(tables_.types.fixed);
  return Of("ALTER TYPE " + name + " ADD another duration",
            "Cannot add new field to type " + name +
                " because it is used in the clustering key column " + where +
                " where durations are not allowed");
}

RefusalMaker::Maybe RefusalMaker::DropTypeInUse() {
  const DataType& type = random_.OneIn(2) ? altered() : tables_.types.fixed;
  for (const ModelSchema* schema : SchemasByName()) {
    for (const auto* columns :
         {&schema->partition_key, &schema->clustering, &schema->statics, &schema->regular}) {
      for (const ModelColumn& column : *columns) {
        if (!column.type.Contains(type.user())) continue;
        return Of("DROP TYPE " + FullName(type), "Cannot drop user type " + FullName(type) +
                                                     " as it is still used by table " +
                                                     schema->table);
      }
    }
  }
  return std::nullopt;
}

RefusalMaker::Maybe RefusalMaker::DropNoType() {
  return Of("DROP TYPE " + tables_.keyspace + ".nope",
            "No user type named " + tables_.keyspace + ".nope exists.");
}

RefusalMaker::Maybe RefusalMaker::ChangeOfKeyspace() {
  if (random_.OneIn(2)) {
    return Of("DROP KEYSPACE nope", "Cannot drop non existing keyspace 'nope'.", kConfig);
  }
  return Of("CREATE KEYSPACE " + tables_.keyspace +
                " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            "Cannot add existing keyspace \"" + tables_.keyspace + "\"", kAlreadyExists);
}

std::string RefusalMaker::UseIn(std::vector<ModelColumn> ModelSchema::*columns) const {
  const UserTypeNames& type = tables_.types.fixed.user();
  const std::vector<const ModelSchema*> schemas = SchemasByName();
  for (const ModelSchema* schema : schemas) {
    for (const ModelColumn& column : schema->*columns) {
      if (column.type.Contains(type)) return column.name + " of table " + schema->table;
    }
  }
  const bool is_local = columns == &ModelSchema::clustering;
  for (const ModelSchema* schema : schemas) {
    if (!schema->index || schema->index->is_local != is_local) continue;
    const ModelColumn& column = schema->IndexedColumn();
    if (!column.type.Contains(type)) continue;
    return column.name + " of table " + tables_.keyspace + "." + IndexName(*schema) + "_index";
  }
  return "";
}

std::vector<const ModelSchema*> RefusalMaker::SchemasByName() const {
  std::vector<const ModelSchema*> schemas;
  for (size_t i = 0; i < tables_.readables(); ++i) {
    schemas.push_back(&tables_.readable(i).schema());
  }
  std::ranges::sort(schemas, {}, [](const ModelSchema* schema) { return schema->table; });
  return schemas;
}

}  // namespace liststore::testing
