#include "engine/faces/dynamodb/item_changes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/dynamodb/values/item_bytes.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/partition_key.h"

namespace liststore::dynamodb_face {
namespace {

using dynamodb::Error;
using dynamodb::ErrorCode;

execute::RowChanges::Kind RowKindOf(ItemChange::Kind kind) {
  switch (kind) {
    case ItemChange::Kind::kCheck:
      return execute::RowChanges::Kind::kLook;
    case ItemChange::Kind::kDelete:
      return execute::RowChanges::Kind::kDelete;
    default:
      return execute::RowChanges::Kind::kUpsert;
  }
}

}  // namespace

ItemChanges::ItemChanges(std::vector<ItemChange> changes) : changes_(std::move(changes)) {
  for (const ItemChange& change : changes_) {
    Row& row = rows_.emplace_back();
    row.table = change.shape->table;
    row.kind = RowKindOf(change.kind);
    const std::string_view hash = change.key_values[0];
    AppendPartitionKey({&hash, 1}, row.partition_key);
    if (change.key_values.size() > 1) {
      const std::string_view sort = change.key_values[1];
      AppendClusteringKey(row.table->storage.clustering, {&sort, 1}, row.clustering_key);
    }
    written_.emplace_back();
  }
}

void ItemChanges::OnAttempt() {
  for (ItemChange& change : changes_) {
    change.existed = false;
    change.before = {};
    change.error.reset();
  }
}

void ItemChanges::OnRow(size_t index, const RowView& row) {
  ItemChange& change = changes_[index];
  change.existed = true;
  const auto item = std::ranges::find(row.cells, change.shape->item_column, &LiveCellView::column);
  if (item != row.cells.end()) {
    change.before = dynamodb::ItemFromBytes(item->value).value_or(Item());
  }
  for (const auto& attribute : change.key) change.before.Set(attribute.name, attribute.value);
}

bool ItemChanges::Decide(int64_t now_seconds) {
  for (size_t i = 0; i < changes_.size(); ++i) {
    changes_[i].error = DecideOne(changes_[i], written_[i], now_seconds);
  }
  return !has_failed();
}

bool ItemChanges::has_failed() const {
  return std::ranges::any_of(changes_,
                             [](const ItemChange& change) { return change.error.has_value(); });
}

std::optional<Error> ItemChanges::DecideOne(ItemChange& change, Bytes& bytes, int64_t now_seconds) {
  if (!change.condition.is_always() && !dynamodb::Evaluate(change.condition, change.before)) {
    return Error{ErrorCode::kConditionalCheckFailed, "The conditional request failed"};
  }
  const TableShape& shape = *change.shape;
  switch (change.kind) {
    case ItemChange::Kind::kCheck:
    case ItemChange::Kind::kDelete:
      return std::nullopt;
    case ItemChange::Kind::kPut:
      change.after = change.item;
      break;
    case ItemChange::Kind::kRewrite:
      if (!change.existed) return Error{ErrorCode::kConditionalCheckFailed, "it is gone"};
      change.after = change.before;
      break;
    case ItemChange::Kind::kUpdate: {
      dynamodb::ErrorOr<Item> after =
          dynamodb::Apply(change.update, change.existed ? change.before : change.key);
      if (!after.ok()) return after.error();
      change.after = *std::move(after);
      if (dynamodb::ItemSize(change.after) > dynamodb::kItemBytesMax) {
        return dynamodb::Invalid("Item size to update has exceeded the maximum allowed size");
      }
      dynamodb::Status indexed = CheckIndexed(shape, change.after);
      if (!indexed.ok()) return indexed.TakeError();
    }
  }
  bytes.item = ItemColumnOf(shape, change.after);
  bytes.indexed = IndexedValuesOf(shape, change.after);
  bytes.cells.clear();
  for (size_t column = 0; column < bytes.indexed.size(); ++column) {
    const auto id = static_cast<ColumnId>(column);
    if (id == shape.item_column) {
      bytes.cells.push_back({.column = id, .value = bytes.item});
    } else if (!shape.indexed[column].name.empty()) {
      const std::optional<std::string>& value = bytes.indexed[column];
      bytes.cells.push_back({.column = id,
                             .live = value.has_value(),
                             .value = value ? std::string_view(*value) : std::string_view()});
    }
  }
  bytes.written = {.cells = bytes.cells};
  if (const std::optional<int64_t> expiry = ExpiryOf(shape, change.after, now_seconds)) {
    bytes.written.ttl_seconds = *expiry - now_seconds;
    bytes.written.expiry_seconds = *expiry;
  }
  return std::nullopt;
}

const PreparedText* StatementOf(const ItemChange& change) {
  switch (change.kind) {
    case ItemChange::Kind::kPut:
      return &change.shape->put;
    case ItemChange::Kind::kUpdate:
    case ItemChange::Kind::kRewrite:
      return &change.shape->update;
    case ItemChange::Kind::kDelete:
      return &change.shape->remove;
    case ItemChange::Kind::kCheck:
      break;
  }
  return &change.shape->get;
}

BoundStatement BoundStatementOf(const ItemChange& change) {
  BoundStatement statement;
  statement.text = StatementOf(change);
  // Their other values are what the rows come to.
  if (change.kind == ItemChange::Kind::kUpdate || change.kind == ItemChange::Kind::kRewrite) {
    statement.values.emplace_back(std::nullopt);
  }
  for (const std::string& value : change.key_values) statement.values.emplace_back(value);
  if (change.kind == ItemChange::Kind::kPut) {
    for (const KeyAttribute& attribute : change.shape->indexed) {
      if (!attribute.name.empty()) statement.values.emplace_back(std::nullopt);
    }
    statement.values.emplace_back(std::nullopt);
  }
  return statement;
}

}  // namespace liststore::dynamodb_face
