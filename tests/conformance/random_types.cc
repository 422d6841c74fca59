#include "tests/conformance/random_types.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "engine/base/check.h"
#include "engine/model/types/composite_value.h"
#include "tests/conformance/value_pool.h"

namespace liststore::testing {
namespace {

constexpr char kAltered[] = "altered";
// More would say nothing new.
constexpr size_t kFieldsMax = 5;

DataType TypeOfFields(const std::string& keyspace, const std::string& name,
                      std::vector<DataType> types) {
  UserTypeNames names{keyspace, name, name, {}};
  for (size_t i = 0; i < types.size(); ++i) names.fields.push_back("f" + std::to_string(i));
  return DataType::User(std::make_shared<const UserTypeNames>(std::move(names)), std::move(types));
}

const DataType& RandomFieldType(Random& random) {
  const std::span<const DataType> durations = DurationPoolTypes();
  if (random.OneIn(8)) return durations[random.Below(durations.size())];
  return PoolTypes()[random.Below(PoolTypes().size())];
}

std::string FullName(const DataType& type) { return type.user().keyspace + "." + type.user().name; }

TypeChange WithField(const DataType& type, const DataType& field) {
  std::vector<DataType> types = type.parameters();
  UserTypeNames names = type.user();
  names.fields.push_back("f" + std::to_string(types.size()));
  types.push_back(field);
  return {
      "ALTER TYPE " + FullName(type) + " ADD " + names.fields.back() + " " + field.ToString(),
      DataType::User(std::make_shared<const UserTypeNames>(std::move(names)), std::move(types))};
}

}  // namespace

std::vector<std::string> ModelUserTypes::CreateStatements() const {
  std::vector<std::string> statements;
  for (const DataType* type : {&fixed, &altered}) {
    std::string fields;
    for (size_t i = 0; i < type->parameters().size(); ++i) {
      fields +=
          (i == 0 ? "" : ", ") + type->user().fields[i] + " " + type->parameters()[i].ToString();
    }
    statements.push_back("CREATE TYPE " + FullName(*type) + " (" + fields + ")");
  }
  return statements;
}

ModelUserTypes RandomUserTypes(Random& random, const std::string& keyspace) {
  return {TypeOfFields(keyspace, "fixed", {CqlType::kInt, CqlType::kText}),
          TypeOfFields(keyspace, kAltered, {CqlType::kText, RandomFieldType(random)})};
}

TypeChange RandomTypeChange(Random& random, const DataType& type) {
  if (type.parameters().size() == kFieldsMax || random.OneIn(2)) {
    return RandomFieldRename(random, type);
  }
  return WithField(type, RandomFieldType(random));
}

std::optional<TypeChange> RandomKeyField(Random& random, const DataType& type) {
  if (type.parameters().size() == kFieldsMax) return std::nullopt;
  return WithField(type, PoolTypes()[random.Below(PoolTypes().size())]);
}

std::string WithAllFields(const DataType& type, const std::string& value) {
  const auto fields = SplitTuple(type, value);
  LS_CHECK(fields.has_value(), "values of pools are valid");
  return EncodeTuple({fields->begin(), fields->end()});
}

TypeChange RandomFieldRename(Random& random, const DataType& type) {
  UserTypeNames names = type.user();
  std::string& name = names.fields[random.Below(names.fields.size())];
  std::string statement = "ALTER TYPE " + FullName(type) + " RENAME " + name;
  // f0, g0, h0, and f0 again.
  name[0] = name[0] == 'h' ? 'f' : static_cast<char>(name[0] + 1);
  return {statement + " TO " + name,
          DataType::User(std::make_shared<const UserTypeNames>(names), type.parameters())};
}

bool IsAltered(const DataType& type) {
  return type.kind() == DataType::Kind::kUser && type.user().name == kAltered;
}

}  // namespace liststore::testing
