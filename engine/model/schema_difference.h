// What lies between two schemas, as those who keep a copy of the schema are told of it. Plain data.
#ifndef LISTSTORE_ENGINE_MODEL_SCHEMA_DIFFERENCE_H_
#define LISTSTORE_ENGINE_MODEL_SCHEMA_DIFFERENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/schema.h"

namespace liststore {

struct SchemaDifference {
  enum class Kind : uint8_t {
    kCreated,
    kUpdated,
    kDropped,
  };
  Kind kind = Kind::kUpdated;
  std::string keyspace;
  std::string table;           // empty: a type, or the keyspace itself
  std::string type = {};       // a user type
  bool of_index_view = false;  // the table is one

  bool operator==(const SchemaDifference&) const = default;
};

// What statements would have to do, one after the other, to make `after` of `before`: what goes
// before what comes, keyspaces before the types and these before the tables in them, and the other
// way round where they go; what is in a keyspace that goes is not named. A table of the same name
// with another id is dropped and created. The ids of tables in the engine do not count. O(tables *
// what they have), those in the same place in both left out.
std::vector<SchemaDifference> DifferencesBetween(const Schema& before, const Schema& after);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_SCHEMA_DIFFERENCE_H_
