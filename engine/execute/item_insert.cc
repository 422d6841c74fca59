#include "engine/execute/item_insert.h"

#include <string_view>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/model/time.h"

namespace liststore::execute {
namespace {

// Of seconds; -1: not in its usual form.
int64_t TtlOf(std::string_view bytes) {
  if (bytes.size() != sizeof(int32_t)) return -1;
  const int64_t ttl = static_cast<int32_t>(LoadBigEndian32(bytes.data()));
  return ttl < 0 || ttl > kTtlSecondsMax ? -1 : ttl;
}

// Nothing but a row with one value.
bool IsPlain(const cql::ModificationPlan& plan) {
  return plan.kind == cql::ModificationPlan::Kind::kInsert && !plan.only_statics &&
         plan.static_assignments.empty() && plan.assignments.size() == 1 && plan.views == nullptr &&
         !plan.condition && !plan.is_counter && !plan.timestamp && !plan.timeout &&
         !plan.table->is_virtual && plan.table->storage.packs_item_keys();
}

}  // namespace

std::optional<ItemInsert> ItemInsert::Of(const cql::ModificationPlan& plan, size_t variables) {
  if (!IsPlain(plan)) return std::nullopt;
  std::optional<TextKey> key = TextKey::Of(plan.partition_key, variables);
  const std::optional<TextKey> item_key = TextKey::Of(plan.clustering.prefix, variables);
  const cql::CellAssignment& value = plan.assignments[0];
  const bool is_set = value.kind == cql::CellAssignment::Kind::kSet && !value.of_elements() &&
                      !value.element && !value.hidden_until && value.value.marker &&
                      *value.value.marker < variables;
  if (!key || !item_key || !plan.clustering.slices.empty() || !is_set) return std::nullopt;
  ItemInsert insert;
  insert.key_ = *std::move(key);
  insert.item_key_ = *TextVariable(plan.clustering.prefix[0].alternatives[0][0], variables);
  insert.value_ = static_cast<uint16_t>(*value.value.marker);
  insert.value_type_ = value.value.type;
  insert.column_ = value.column;
  if (!plan.ttl) {
    insert.fixed_ttl_ = plan.table->options.default_ttl_seconds;
  } else if (plan.ttl->marker) {
    if (*plan.ttl->marker >= variables) return std::nullopt;
    insert.ttl_ = static_cast<uint16_t>(*plan.ttl->marker);
  } else {
    if (!plan.ttl->constant) return std::nullopt;
    insert.fixed_ttl_ = TtlOf(*plan.ttl->constant);
    if (insert.fixed_ttl_ < 0) return std::nullopt;
  }
  return insert;
}

int64_t ItemInsert::Ttl(Values values) const {
  if (!ttl_) return fixed_ttl_;
  const protocol::Value& value = values[*ttl_];
  return value.has_bytes() ? TtlOf(value.bytes()) : -1;
}

bool ItemInsert::MakeRow(Values values, int64_t now_seconds, ItemRow& row) const {
  const protocol::Value& item_key = values[item_key_];
  const protocol::Value& value = values[value_];
  if (!item_key.has_bytes() || !value.has_bytes()) return false;
  const int64_t ttl = Ttl(values);
  // Nearly all values are blobs, which any bytes are.
  const bool is_valid = value_type_.is(CqlType::kBlob) || value_type_.IsValid(value.bytes());
  if (ttl < 0 || value.bytes().size() > kValueBytesMax || !is_valid ||
      !PackItemKey(item_key.bytes(), row.key.data())) {
    return false;
  }
  row.cell = {.column = column_, .value = value.bytes()};
  row.update = {.key = {{row.key.data(), row.key.size()}, true},
                .ttl_seconds = ttl,
                .expiry_seconds = ttl == 0 ? kNoExpiry : now_seconds + ttl,
                .cells = {&row.cell, 1}};
  return true;
}

}  // namespace liststore::execute
