#include "tests/conformance/random_types.h"

#include <cstddef>
#include <memory>
#include <utility>

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
  UserTypeNames names = type.user();
  std::vector<DataType> types = type.parameters();
  std::string statement = "ALTER TYPE " + FullName(type);
  if (types.size() < kFieldsMax && random.OneIn(2)) {
    names.fields.push_back("f" + std::to_string(types.size()));
    types.push_back(RandomFieldType(random));
    statement += " ADD " + names.fields.back() + " " + types.back().ToString();
  } else {
    std::string& name = names.fields[random.Below(names.fields.size())];
    statement += " RENAME " + name;
    // f0, g0, h0, and f0 again.
    name[0] = name[0] == 'h' ? 'f' : static_cast<char>(name[0] + 1);
    statement += " TO " + name;
  }
  return {
      std::move(statement),
      DataType::User(std::make_shared<const UserTypeNames>(std::move(names)), std::move(types))};
}

bool IsAltered(const DataType& type) {
  return type.kind() == DataType::Kind::kUser && type.user().name == kAltered;
}

}  // namespace liststore::testing
