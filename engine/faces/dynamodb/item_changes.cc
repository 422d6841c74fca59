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

// No item of DynamoDB's is as long, but what CQL has written may be: it is not taken apart.
constexpr size_t kItemColumnBytesMax = 3 * dynamodb::kItemBytesMax;

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

Item BeforeOf(const ItemChange& change) {
  Item before = dynamodb::ItemFromBytes(change.before_bytes).value_or(Item());
  for (const auto& attribute : change.key) before.Set(attribute.name, attribute.value);
  return before;
}

}  // namespace

Error TransactionTooLarge() {
  return dynamodb::Invalid(
      "Collection size of items in the transaction exceeded the maximum of 4 MB");
}

ItemChanges::ItemChanges(std::vector<ItemChange> changes) : changes_(std::move(changes)) {
  for (const ItemChange& change : changes_) {
    Row& row = rows_.emplace_back();
    row.table = change.shape->table;
    row.kind = RowKindOf(change.kind);
    row.is_read = change.returns || !change.condition.is_always();
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
  looked_at_bytes_ = 0;
  error_.reset();
  for (ItemChange& change : changes_) {
    change.existed = false;
    change.before_bytes.clear();
    change.before = {};
    change.after = {};
    change.after_size = 0;
    change.lives = {};
    change.error.reset();
  }
}

void ItemChanges::OnRow(size_t index, const RowView& row) {
  ItemChange& change = changes_[index];
  change.existed = true;
  change.lives = row.marker;
  if (!change.IsLooking() || error_) return;
  const auto item = std::ranges::find(row.cells, change.shape->item_column, &LiveCellView::column);
  if (item == row.cells.end()) return;
  if (!change.lives.present()) change.lives = item->liveness;
  looked_at_bytes_ += item->value.size();
  if (item->value.size() > kItemColumnBytesMax) {
    error_ = dynamodb::Invalid("Item size has exceeded the maximum allowed size");
  } else if (looked_at_bytes_ > kTransactionBytesMax) {
    error_ = TransactionTooLarge();
  } else {
    change.before_bytes = item->value;
  }
}

bool ItemChanges::Decide(int64_t now_seconds) {
  // Lanes are held until all are decided.
  dynamodb::Effort effort;
  size_t written_bytes = 0;
  for (size_t i = 0; i < changes_.size() && !error_; ++i) {
    ItemChange& change = changes_[i];
    if (change.kind == ItemChange::Kind::kCheck && change.condition.is_always()) continue;
    if (change.existed && change.IsLooking()) change.before = BeforeOf(change);
    change.error = DecideOne(change, written_[i], now_seconds, effort);
    written_bytes += change.after_size;
    if (written_bytes > kTransactionBytesMax && changes_.size() > 1) error_ = TransactionTooLarge();
    if (changes_.size() > 1) {
      change.before = {};
      change.after = {};
    }
  }
  return !error_ && !has_failed();
}

bool ItemChanges::has_failed() const {
  return std::ranges::any_of(changes_,
                             [](const ItemChange& change) { return change.error.has_value(); });
}

std::optional<Error> ItemChanges::DecideOne(ItemChange& change, Bytes& bytes, int64_t now_seconds,
                                            dynamodb::Effort& effort) {
  if (!change.condition.is_always()) {
    const dynamodb::ErrorOr<bool> is_true =
        dynamodb::Evaluate(change.condition, change.before, effort);
    if (!is_true.ok()) return is_true.error();
    if (!*is_true) {
      return Error{ErrorCode::kConditionalCheckFailed, "The conditional request failed"};
    }
  }
  switch (change.kind) {
    case ItemChange::Kind::kCheck:
    case ItemChange::Kind::kDelete:
      return std::nullopt;
    case ItemChange::Kind::kPut:
      change.after_size = dynamodb::ItemSize(change.item);
      SetWritten(change, change.item, bytes, now_seconds);
      return std::nullopt;
    case ItemChange::Kind::kRewrite:
      if (!change.existed) return Error{ErrorCode::kConditionalCheckFailed, "it is gone"};
      change.after_size = dynamodb::ItemSize(change.before);
      SetWritten(change, change.before, bytes, now_seconds);
      return std::nullopt;
    case ItemChange::Kind::kUpdate: {
      dynamodb::ErrorOr<Item> after =
          dynamodb::Apply(change.update, change.existed ? change.before : change.key);
      if (!after.ok()) return after.error();
      change.after = *std::move(after);
      change.after_size = dynamodb::ItemSize(change.after);
      if (change.after_size > dynamodb::kItemBytesMax) {
        change.after_size = 0;
        return dynamodb::Invalid("Item size to update has exceeded the maximum allowed size");
      }
      dynamodb::Status indexed = CheckIndexed(*change.shape, change.after);
      if (!indexed.ok()) return indexed.TakeError();
      SetWritten(change, change.after, bytes, now_seconds);
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void ItemChanges::SetWritten(const ItemChange& change, const Item& after, Bytes& bytes,
                             int64_t now_seconds) {
  const TableShape& shape = *change.shape;
  bytes.item = ItemColumnOf(shape, after);
  bytes.indexed = IndexedValuesOf(shape, after);
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
  if (const std::optional<int64_t> expiry = ExpiryOf(shape, after, now_seconds)) {
    bytes.written.ttl_seconds = *expiry - now_seconds;
    bytes.written.expiry_seconds = *expiry;
  } else if (change.kind == ItemChange::Kind::kRewrite && change.lives.expiring() &&
             !(change.former && ExpiryOf(*change.former, after, now_seconds))) {
    // By a TTL of CQL's.
    bytes.written.ttl_seconds = change.lives.expiry_seconds - now_seconds;
    bytes.written.expiry_seconds = change.lives.expiry_seconds;
  }
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
