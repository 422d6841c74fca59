// WRITETIME and TTL among what a SELECT selects: of columns, of elements and of fields.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_TIMES_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_TIMES_H_

#include <cstddef>
#include <string>

#include "tests/conformance/random_selection.h"

namespace liststore::testing {

// Of value `i`; `all`, or some of them.
void AddTimes(const Selection& to, size_t i, bool all);

// A SELECT that asks for a time that nothing has: of a key, of a column of several cells as a
// whole, of an element of a list, of a part of what is frozen.
struct RefusedRead {
  CqlStatement sent;
  std::string words;  // a part of the error
};
RefusedRead RandomRefusedTime(Random& random, const ModelSchema& schema);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_TIMES_H_
