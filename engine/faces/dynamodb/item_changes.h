// ItemChanges: items that are looked at and written in one step: PutItem, UpdateItem and DeleteItem, with and
// without conditions, and transactions.
#ifndef LISTSTORE_ENGINE_FACES_DYNAMODB_ITEM_CHANGES_H_
#define LISTSTORE_ENGINE_FACES_DYNAMODB_ITEM_CHANGES_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/dynamodb/expressions/condition.h"
#include "engine/dynamodb/expressions/update.h"
#include "engine/dynamodb/values/attribute_value.h"
#include "engine/dynamodb/values/error.h"
#include "engine/execute/row_changes.h"
#include "engine/faces/dynamodb/item_row.h"
#include "engine/faces/dynamodb/table_shape.h"
#include "engine/model/cell.h"

namespace liststore::dynamodb_face {

struct ItemChange {
  enum class Kind : uint8_t {
    kPut,
    kUpdate,
    kDelete,
    kCheck,    // the condition alone, or a look
    kRewrite,  // as it is, if it is there, by the shape as it is now
  };

  Kind kind = Kind::kPut;
  std::shared_ptr<const TableShape> shape;
  Item key;
  std::vector<std::string> key_values;  // KeyValuesOf it
  dynamodb::Condition condition = {};
  Item item = {};                // kPut
  dynamodb::Update update = {};  // kUpdate
  size_t constant_bytes = 0;     // of values in the condition and the update
  bool returns = false;          // the answer says what was there, or what has come of it

  // Something depends on what is there.
  bool IsLooking() const {
    return returns || !condition.is_always() || (kind != Kind::kPut && kind != Kind::kDelete);
  }

  // kRewrite: the shape of before, where its attribute for ends counts no more.
  std::shared_ptr<const TableShape> former = {};

  // ---- What came of it.
  bool existed = false;
  Liveness lives = {};  // until when
  // As it was, where it existed and IsLooking: the item's column.
  std::string before_bytes = {};
  size_t after_size = 0;  // ItemSize as it is, of kPut, kUpdate and kRewrite
  // Both decoded, where the change is the only one and no mere look: what a transaction looks at is many
  // times its bytes, so that it is one item at a time.
  Item before = {};
  Item after = {};
  std::optional<dynamodb::Error> error = {};  // why nothing was written
};

// Of all items that are looked at together, in bytes as they are kept, and again of all that are written, as Amazon
// counts. Source: DynamoDB's developer guide, "Quotas", transactions.
inline constexpr size_t kTransactionBytesMax = size_t{4} << 20;
dynamodb::Error TransactionTooLarge();
// What a loop begins at most.
inline constexpr size_t kLoopTransactionItems = 2;

class ItemChanges final : public execute::RowChanges {
 public:
  // Items in no order, none twice.
  explicit ItemChanges(std::vector<ItemChange> changes);

  std::span<const Row> Rows() const override { return rows_; }
  void OnAttempt() override;
  void OnRow(size_t index, const RowView& row) override;
  bool Decide(int64_t now_seconds) override;
  Written WrittenOf(size_t index) const override { return written_[index].written; }
  void OnApplied() override {
    if (is_applied_ != nullptr) *is_applied_ = true;
  }

  // Set when it was carried out, whatever came behind that: an answer that was lost, too.
  void TellOfApplied(bool* is_applied) { is_applied_ = is_applied; }

  // Once it was run.
  std::span<ItemChange> changes() { return changes_; }
  bool has_failed() const;
  // Why nothing was written, of all together: there is more than kTransactionBytesMax.
  const std::optional<dynamodb::Error>& error() const { return error_; }

 private:
  // What is written of a row, and what that borrows.
  struct Bytes {
    Written written;
    std::string item;
    std::vector<std::optional<std::string>> indexed;
    std::vector<CellUpdate> cells;
  };

  std::optional<dynamodb::Error> DecideOne(ItemChange& change, Bytes& bytes, int64_t now_seconds,
                                           dynamodb::Effort& effort);
  static void SetWritten(const ItemChange& change, const Item& after, Bytes& bytes,
                         int64_t now_seconds);

  std::vector<ItemChange> changes_;
  std::vector<Row> rows_;
  std::deque<Bytes> written_;
  size_t looked_at_bytes_ = 0;
  std::optional<dynamodb::Error> error_;
  bool* is_applied_ = nullptr;  // outlives it
};

// The statement that shows it, and its key as values: nullopt of kCheck.
const PreparedText* StatementOf(const ItemChange& change);
BoundStatement BoundStatementOf(const ItemChange& change);

}  // namespace liststore::dynamodb_face

#endif  // LISTSTORE_ENGINE_FACES_DYNAMODB_ITEM_CHANGES_H_
