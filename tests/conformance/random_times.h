// WRITETIME and TTL among what a SELECT selects: of columns, of elements and of fields.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_TIMES_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_TIMES_H_

#include <cstddef>

#include "tests/conformance/random_selection.h"

namespace liststore::testing {

// Of value `i`; `all`, or some of them.
void AddTimes(const Selection& to, size_t i, bool all);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_TIMES_H_
