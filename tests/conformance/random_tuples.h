// Relations on tuples of clustering columns.
#ifndef LISTSTORE_TESTS_CONFORMANCE_RANDOM_TUPLES_H_
#define LISTSTORE_TESTS_CONFORMANCE_RANDOM_TUPLES_H_

#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "tests/conformance/random_statements.h"
#include "tests/conformance/table_model.h"

namespace liststore::testing {

// Kinds that a test is to have made.
inline constexpr std::string_view kTupleEqual = "tuples: (a, b) = (x, y)";
inline constexpr std::string_view kTupleEqualBound = "tuples: (a, b) = ?";
inline constexpr std::string_view kTupleIn = "tuples: (a, b) IN ((x, y))";
inline constexpr std::string_view kTupleInBound = "tuples: (a, b) IN ?";
inline constexpr std::string_view kTupleOfOne = "tuples: (a) > (x)";
inline constexpr std::string_view kTupleSlices = "tuples: of two lengths, from both sides";

// "(c0, c1) = (x, y)", "(c0) IN ?", "(c0) > (x) AND (c0, c1) <= ?": they begin with the first
// column, each bound comes once, and nothing else goes with `=` or IN. Source: ScyllaDB
// cql3/restrictions/statement_restrictions.cc, add_multi_column_clustering_key_restriction. What it
// selects outlives changes of types. `keys`: those that kWholeKeys names.
TableModel::Predicate AddTuples(Random& random, const ModelSchema& schema, ClusteringUse use,
                                StatementText& text, std::vector<Values>* keys);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_RANDOM_TUPLES_H_
