// A conditional write: rows are looked at, and if what is asked of them holds, writes are applied,
// all in one step: nothing comes between. With borrowed bytes, as a command.
#ifndef LISTSTORE_ENGINE_COMMAND_CONDITIONAL_WRITE_H_
#define LISTSTORE_ENGINE_COMMAND_CONDITIONAL_WRITE_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "engine/command/command.h"
#include "engine/command/row_follower.h"
#include "engine/model/clustering_key.h"
#include "engine/model/op_status.h"
#include "engine/model/row_view.h"
#include "engine/model/table_schema.h"
#include "engine/model/time.h"

namespace liststore {

// Decides whether a write is applied. Called while lanes are held: it only looks and copies, and
// does not call the engine.
class RowConditions {
 public:
  virtual ~RowConditions() = default;
  // An attempt begins, maybe not the first: after a refusal for memory the rows are read again.
  virtual void OnAttempt() = 0;
  // The live cells of the partition's static row, before any row; called where there are some and
  // the look asks for them. Valid during the call.
  virtual void OnStaticRow(std::span<const LiveCellView> /*cells*/) {}
  // The live row in range `index` of RowLook::rows, the first one in the order of the table; not
  // called where there is none. Valid during the call.
  virtual void OnRow(size_t index, const RowView& row) = 0;
  // Behind the last row. What depends on the rows is completed here: bytes that the writes borrow,
  // and the cells of their row updates, may change until this returns; which rows they write, and
  // under what keys, may not.
  virtual bool Hold() = 0;
};

// A look at rows of one partition.
struct RowLook {
  TableId table;
  std::string_view partition_key;  // serialised
  // At least one. Each holds one key, or everything: for a table without clustering columns, or to
  // see whether the partition has any row.
  std::span<const ClusteringRange> rows;
  bool with_static_row = false;
  RowConditions* conditions = nullptr;
};

struct ConditionalWrite {
  std::span<const RowLook> looks;  // all hold; none where there is a follower
  // As Engine::ExecuteBatch takes them. None: nothing is to be changed, the looks alone count.
  std::span<const Command> writes;
  // What follows from the writes is changed in the same step. nullptr: nothing does.
  RowFollower* follower = nullptr;
};

struct ConditionalReply {
  // Of a refusal; nothing of the write was applied, and `applied` does not count.
  OpStatus status = OpStatus::kOk;
  bool applied = false;      // the conditions held
  WriteTimestamp timestamp;  // of the writes that have none of their own
  RowSize large_row = {};    // kRowTooLarge
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_COMMAND_CONDITIONAL_WRITE_H_
