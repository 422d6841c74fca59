#include "tests/conformance/random_tuples.h"

#include <algorithm>
#include <string>

#include "engine/model/types/composite_value.h"

namespace liststore::testing {
namespace {

class TupleMaker {
 public:
  TupleMaker(Random& random, const ModelSchema& schema, ClusteringUse use, StatementText& text)
      : random_(random), schema_(schema), use_(use), text_(text) {}

  TableModel::Predicate Make(std::vector<Values>* keys) {
    const uint64_t kind = random_.Below(use_ == ClusteringUse::kWholeKeys ? 2 : 3);
    if (kind == 2) return AddSlices();
    const size_t columns = use_ == ClusteringUse::kWholeKeys
                               ? schema_.clustering.size()
                               : 1 + random_.Below(schema_.clustering.size());
    AddNames(columns);
    std::vector<Values> tuples;
    if (kind == 0) {
      text_ << " = ";
      tuples = {RandomTuple(columns)};
      text_.CountAs(AddTuple() ? kTupleEqualBound : kTupleEqual);
    } else {
      text_ << " IN ";
      for (uint64_t left = 1 + random_.Below(3); left > 0; --left) {
        tuples.push_back(RandomTuple(columns));
      }
      text_.CountAs(text_.AddTuples(values_) ? kTupleInBound : kTupleIn);
    }
    if (keys != nullptr) *keys = tuples;
    return [tuples, &schema = schema_](const Values& row) {
      return std::ranges::any_of(
          tuples, [&](const Values& tuple) { return Compare(schema, row, tuple) == 0; });
    };
  }

 private:
  static int Compare(const ModelSchema& schema, const Values& row, const Values& tuple) {
    for (size_t i = 0; i < tuple.size(); ++i) {
      const int order = CompareValues(schema.clustering[i].type, row[i], tuple[i]);
      if (order != 0) return order;
    }
    return 0;
  }

  void AddNames(size_t columns) {
    if (columns == 1) text_.CountAs(kTupleOfOne);
    for (size_t i = 0; i < columns; ++i) {
      text_ << (i == 0 ? "(" : ", ") << schema_.clustering[i].name;
    }
    text_ << ")";
  }
  // Its bytes; the values are the last of values_.
  Values RandomTuple(size_t columns) {
    Values tuple;
    values_.emplace_back();
    for (size_t i = 0; i < columns; ++i) {
      values_.back().push_back(RandomPoolValue(random_, schema_.clustering[i]));
      tuple.push_back(values_.back().back().bytes);
    }
    return tuple;
  }
  bool AddTuple() { return text_.AddTuple(values_.back()); }

  // Ranges are deleted where the order of tuples is that of the table.
  size_t ColumnsOfSlice() {
    size_t columns = 1 + random_.Below(schema_.clustering.size());
    if (use_ != ClusteringUse::kDeletion) return columns;
    const auto is_same = [&](size_t i) {
      return schema_.clustering[i].descending == schema_.clustering[0].descending;
    };
    size_t same = 1;
    while (same < columns && is_same(same)) ++same;
    return same;
  }
  TableModel::Predicate AddSlice(bool is_lower, bool inclusive) {
    const size_t columns = ColumnsOfSlice();
    AddNames(columns);
    text_ << (is_lower ? " >" : " <") << (inclusive ? "= " : " ");
    const Values bound = RandomTuple(columns);
    AddTuple();
    return [=, &schema = schema_](const Values& row) {
      const int order = Compare(schema, row, bound);
      if (order == 0) return inclusive;
      return is_lower ? order > 0 : order < 0;
    };
  }
  TableModel::Predicate AddSlices() {
    const bool is_lower = random_.OneIn(2);
    const TableModel::Predicate one = AddSlice(is_lower, random_.OneIn(2));
    if (!random_.OneIn(3)) return one;
    text_ << " AND ";
    text_.CountAs(kTupleSlices);
    const TableModel::Predicate other = AddSlice(!is_lower, random_.OneIn(2));
    return [one, other](const Values& row) { return one(row) && other(row); };
  }

  Random& random_;
  const ModelSchema& schema_;
  const ClusteringUse use_;
  StatementText& text_;
  std::vector<std::vector<PoolValue>> values_;
};

}  // namespace

TableModel::Predicate AddTuples(Random& random, const ModelSchema& schema, ClusteringUse use,
                                StatementText& text, std::vector<Values>* keys) {
  return TupleMaker(random, schema, use, text).Make(keys);
}

}  // namespace liststore::testing
