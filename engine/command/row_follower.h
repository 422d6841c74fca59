// RowFollower: keeps rows of some tables, those of views, as they follow from the rows of others.
// It sees the rows that a write touches as they are and as they will be, and says what is to become of
// the rows that follow, all in one step with the write.
#ifndef LISTSTORE_ENGINE_COMMAND_ROW_FOLLOWER_H_
#define LISTSTORE_ENGINE_COMMAND_ROW_FOLLOWER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/model/cell.h"
#include "engine/model/row_view.h"
#include "engine/model/stored_row.h"
#include "engine/model/table_schema.h"

namespace liststore {

// A row as it is to be from now on, whatever was there and whatever the timestamps; without a
// marker it is taken out. Bytes are borrowed.
struct DerivedRow {
  TableId table;
  std::string_view partition_key;   // serialised
  std::string_view clustering_key;  // encoded, not packed
  Liveness marker;
  std::span<const StoredCell> cells;  // live ones, ascending by column and path

  bool present() const { return marker.present(); }
};

// Called while lanes are held: it only looks and copies, and does not call the engine.
class RowFollower {
 public:
  virtual ~RowFollower() = default;
  // Tables whose rows it asks to see; others that are written do not concern it.
  virtual bool Follows(TableId table) const = 0;
  // Tables whose rows follow. Nobody else writes to them.
  virtual std::span<const TableId> Derived() const = 0;
  // An attempt begins, maybe not the first: what was seen before does not count.
  virtual void OnAttempt() = 0;
  // A live row of a table that it follows, as it is before the write, or as it will be behind it. A row
  // may come more than once. Valid during the call.
  virtual void OnRowBefore(TableId table, std::string_view partition_key, const RowView& row) = 0;
  virtual void OnRowAfter(TableId table, std::string_view partition_key, const RowView& row) = 0;
  // Behind the last row: the rows that will be others. Valid until the next attempt.
  virtual std::span<const DerivedRow> Changes() = 0;
  // Behind that: bytes of values and keys in the rows that are taken out for them, which is what comes
  // free, at least.
  virtual uint64_t BytesTakenOut() const = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_COMMAND_ROW_FOLLOWER_H_
