// Parts of columns of several cells, as UPDATE and DELETE name them.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_PARTS_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_PARTS_H_

#include <cstddef>

#include "engine/base/random.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

// Of SET: "c = c + v", "c[k] = v", "c.f = v" and the like; what it does. None of them looks at what
// is there.
ModelPart AddAssignedPart(Random& random, const ModelSchema& schema, size_t column,
                          bool may_prepend, StatementText& text);

// Of DELETE: "c[k]" or "c.f". Not of a list.
ModelPart AddDeletedPart(Random& random, const ModelSchema& schema, size_t column,
                         StatementText& text);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_PARTS_H_
