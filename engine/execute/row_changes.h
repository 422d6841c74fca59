// RowChanges: rows of one or more tables that are looked at and changed in one step, by whoever knows
// what becomes of them from what they are: a face whose operations are no statements of CQL.
#ifndef LISTSTORE_ENGINE_EXECUTE_ROW_CHANGES_H_
#define LISTSTORE_ENGINE_EXECUTE_ROW_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/model/cell.h"
#include "engine/model/mutation.h"
#include "engine/model/row_view.h"
#include "engine/model/schema.h"

namespace liststore::execute {

// Beside a request's statements, which say for everybody who looks at requests (faults, the journal,
// permissions) what is read and written: the statements' values do not count then. All that is written is
// written at one timestamp, rows of views with it. One thread at a time.
class RowChanges {
 public:
  enum class Kind : uint8_t {
    kLook,    // it stays as it is
    kUpsert,  // with its marker
    kDelete
  };
  // A row by its key. Of a table that a statement of the request writes to, but where it is looked at alone: for
  // that the client needs SELECT on the table, whatever the statements are.
  struct Row {
    std::shared_ptr<const TableDefinition> table;
    std::string partition_key;   // serialised
    std::string clustering_key;  // encoded; empty: the table has no clustering columns
    Kind kind = Kind::kLook;
    // The client learns what is there, by conditions or values that come back: that needs SELECT as well.
    bool is_read = false;
  };
  // What is written of a row. Borrowed until the next attempt.
  struct Written {
    int64_t ttl_seconds = 0;
    int64_t expiry_seconds = kNoExpiry;  // kNoExpiry exactly when ttl_seconds is 0
    std::span<const CellUpdate> cells = {};
  };

  virtual ~RowChanges() = default;

  // At least one, none twice. Constant.
  virtual std::span<const Row> Rows() const = 0;
  // ---- Called while lanes are held: they only look and copy, and do not call the engine.
  // An attempt begins, maybe not the first: after a refusal for memory rows are read again.
  virtual void OnAttempt() = 0;
  // The row of that index lives. Valid during the call.
  virtual void OnRow(size_t index, const RowView& row) = 0;
  // All that live were seen. False: nothing is written.
  virtual bool Decide(int64_t now_seconds) = 0;
  // Of an upsert, once Decide has said true.
  virtual Written WrittenOf(size_t index) const = 0;
  // ---- Called behind the lanes, whatever the client is answered then.
  // What Decide has said true to is done, or was only looked at.
  virtual void OnApplied() {}
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_ROW_CHANGES_H_
