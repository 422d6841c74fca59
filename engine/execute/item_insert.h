// ItemInsert: what a prepared INSERT of a list item takes out of its values, found once, so that they go
// from the request into the row as they are.
#ifndef LISTSTORE_ENGINE_EXECUTE_ITEM_INSERT_H_
#define LISTSTORE_ENGINE_EXECUTE_ITEM_INSERT_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/cql/plan/plan.h"
#include "engine/execute/text_key.h"
#include "engine/model/mutation.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/types/data_type.h"
#include "engine/protocol/primitives.h"

namespace liststore::execute {

// One row, as the engine takes it. Not copied: its parts point to each other.
struct ItemRow {
  ItemRow() = default;
  ItemRow(const ItemRow&) = delete;
  ItemRow& operator=(const ItemRow&) = delete;

  PackedItemKey key;
  CellUpdate cell;
  RowUpdate update;
};

// One row with a value, its key an item key, in the partition of its texts. As TextKey a short way for
// values in their usual form. Immutable.
class ItemInsert {
 public:
  using Values = TextKey::Values;

  // nullopt: the plan, one that a group may run, has another shape. `variables`: how many it has.
  static std::optional<ItemInsert> Of(const cql::ModificationPlan& plan, size_t variables);

  // Of its partition; says as well whether the other functions may be asked.
  const TextKey& key() const { return key_; }
  // The value stays the request's.
  bool MakeRow(Values values, int64_t now_seconds, ItemRow& row) const;

 private:
  // Longer ones of an indexed column have a limit to be checked.
  static constexpr size_t kValueBytesMax = 32'768;

  // Seconds, 0: the row lasts; -1: no TTL in its usual form.
  int64_t Ttl(Values values) const;

  TextKey key_;
  uint16_t item_key_ = 0;
  uint16_t value_ = 0;
  ColumnId column_ = 0;
  std::optional<uint16_t> ttl_;  // the variable of USING TTL ?
  int64_t fixed_ttl_ = 0;        // without a variable
  DataType value_type_ = CqlType::kBlob;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_ITEM_INSERT_H_
