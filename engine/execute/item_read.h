// ItemRead: what a prepared SELECT of list items takes out of its values, found once, so that they go
// from the request into key and range as they are.
#ifndef LISTSTORE_ENGINE_EXECUTE_ITEM_READ_H_
#define LISTSTORE_ENGINE_EXECUTE_ITEM_READ_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/cql/plan/plan.h"
#include "engine/execute/text_key.h"
#include "engine/model/clustering_key.h"
#include "engine/protocol/primitives.h"

namespace liststore::execute {

// One partition by its texts, all of its rows or those from an item key on, a number of them. As TextKey
// a short way for values in their usual form: each function says false to others. Immutable.
class ItemRead {
 public:
  using Values = TextKey::Values;

  // nullopt: the plan, one that a group may run, has another shape. `variables`: how many it has.
  static std::optional<ItemRead> Of(const cql::SelectPlan& plan, size_t variables);

  // Of its partition; says as well whether the other functions may be asked.
  const TextKey& key() const { return key_; }
  // Rows; 0: the value is no plain limit.
  uint64_t Limit(Values values) const;
  // The lower bound, a view into the value; false as well where the bound has no packed form.
  bool MakeBound(Values values, ClusteringBound& bound) const;

 private:
  TextKey key_;
  std::optional<uint16_t> from_;       // the variable of `item_key >= ?`; none: all rows
  std::optional<uint16_t> limit_;      // of LIMIT ?
  uint64_t fixed_limit_ = UINT64_MAX;  // without a variable
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_ITEM_READ_H_
