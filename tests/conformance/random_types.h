// The user types of a run, and how one of them changes while it is in use.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_TYPES_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_TYPES_H_

#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/model/data_type.h"

namespace liststore::testing {

struct ModelUserTypes {
  DataType fixed = CqlType::kInt;    // has the fields that it has, for keys
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

// Whether the type is, or was, ModelUserTypes::altered.
bool IsAltered(const DataType& type);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_TYPES_H_
