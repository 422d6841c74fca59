// Random bytes, item keys and typed values for tests.
#ifndef LISTSTORE_TESTS_SUPPORT_RANDOM_VALUES_H_
#define LISTSTORE_TESTS_SUPPORT_RANDOM_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/model/table_schema.h"

namespace liststore::testing {

std::string RandomBytes(Random& rng, size_t size);

// The 44 characters of a canonical item key at `nanos` with a random digest.
std::string RandomItemKey(Random& rng, uint64_t nanos);

// A type that may be a clustering column.
CqlType RandomKeyType(Random& rng);
// A valid encoding of `type`, often one of few and sometimes empty.
std::string RandomKeyValue(Random& rng, CqlType type);

// AppendClusteringKey for owned values.
void EncodeClusteringKey(const std::vector<ClusteringColumnSchema>& columns,
                         const std::vector<std::string>& values, std::string& out);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_RANDOM_VALUES_H_
