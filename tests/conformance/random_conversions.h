// Values of other types made of columns: CAST, and functions.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_CONVERSIONS_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_CONVERSIONS_H_

#include <cstddef>

#include "tests/conformance/random_selection.h"

namespace liststore::testing {

// Of value `i`, where its type has some: CAST(c AS type), and functions of times.
void AddConversion(const Selection& to, size_t i);
// typeAsBlob(c), and back again.
void AddBlobConversion(const Selection& to, size_t i);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_CONVERSIONS_H_
