// Random types and random valid values of them.
#ifndef LISTSTORE_TESTS_CQL_RANDOM_LITERALS_H_
#define LISTSTORE_TESTS_CQL_RANDOM_LITERALS_H_

#include <string>

#include "engine/base/random.h"
#include "engine/model/types/data_type.h"

namespace liststore::testing {

// Of at most `depth` collections and tuples inside of each other; never a counter.
DataType RandomType(Random& random, int depth);
// Valid, maybe empty where that is valid, sets and maps in any order and with duplicates.
std::string RandomValue(Random& random, const DataType& type);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CQL_RANDOM_LITERALS_H_
