// BaselineJournal: who writes down marks and returns, so that they are made again from a log.
#ifndef LISTSTORE_ENGINE_SHARD_BASELINE_JOURNAL_H_
#define LISTSTORE_ENGINE_SHARD_BASELINE_JOURNAL_H_

#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/model/op_status.h"
#include "engine/model/schema_change_record.h"
#include "engine/model/table_schema.h"

namespace liststore::shard {

// One call at a time; Mark and Return within Catalog::ChangeAs.
class BaselineJournal {
 public:
  virtual ~BaselineJournal() = default;

  // Called at the instant, while every lane is held, if it comes to that: with the ids that the tables have
  // from then on. Takes nothing of the heap, and does not fail.
  using AtInstant = absl::FunctionRef<void(std::span<const TableId> tables)>;
  // Does what is to be written down. kOutOfMemory: nothing has changed, and the instant did not come.
  using Act = absl::FunctionRef<OpStatus(AtInstant at_instant)>;

  // Sees to room, runs `mark` and returns what it says. kNotKept: there is no room, and it was not run.
  virtual OpStatus Mark(Act mark) = 0;
  // The same of a return, to the mark if there is one, to nothing else. `tables`: those that are there then,
  // in the order in which the instant has their ids.
  virtual OpStatus Return(std::vector<NumberedTable> tables, Act go_back) = 0;
  // Why the last of these was not kept.
  virtual std::string Refusal() const = 0;
  // There is no mark any more.
  virtual void Forget() = 0;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_BASELINE_JOURNAL_H_
