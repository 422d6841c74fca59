// The user types of a run, and how one of them changes while it is in use.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_TYPES_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_TYPES_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/model/types/data_type.h"

namespace liststore::testing {

struct ModelUserTypes {
  DataType fixed = CqlType::kInt;    // of keys as well
  DataType altered = CqlType::kInt;  // of columns that are no key

  std::vector<std::string> CreateStatements() const;
};

// Not frozen.
ModelUserTypes RandomUserTypes(Random& random, const std::string& keyspace);

struct TypeChange {
  std::string statement;  // ALTER TYPE
  DataType altered;
};
// A field more, or another name for one.
TypeChange RandomTypeChange(Random& random, const DataType& type);
TypeChange RandomFieldRename(Random& random, const DataType& type);
// One whose values have an order; nullopt: it has as many as it should.
std::optional<TypeChange> RandomKeyField(Random& random, const DataType& type);

// A value of a user type or tuple, with a null for each field that it has not.
std::string WithAllFields(const DataType& type, const std::string& value);

// Whether the type is, or was, ModelUserTypes::altered.
bool IsAltered(const DataType& type);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_TYPES_H_
