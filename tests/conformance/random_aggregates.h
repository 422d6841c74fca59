// Aggregates among what a SELECT selects.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_AGGREGATES_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_AGGREGATES_H_

#include "tests/conformance/random_selection.h"

namespace liststore::testing {

// Of rows and of values, maybe with the key of the first row.
void AddAggregates(const Selection& to);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_AGGREGATES_H_
