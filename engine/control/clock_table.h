// The table liststore.clock: reads, moves and changes the server's clock. Its columns are described
// in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_CONTROL_CLOCK_TABLE_H_
#define LISTSTORE_ENGINE_CONTROL_CLOCK_TABLE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/virtual_table.h"
#include "liststore/server_clock.h"

namespace liststore {

// Thread-safe. One row, under the key 'clock'. A write changes the clock at once, before it
// returns; statements that are under way may still go by the instant before.
class ClockTable final : public VirtualTable {
 public:
  // `clock` outlives the table.
  explicit ClockTable(ServerClock& clock);

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }
  // `now` and `now_nanos` are the clock's at the time of the call, not the context's.
  std::vector<VirtualRow> Rows(const VirtualReadContext& context) const override;
  // Exactly one of now, now_nanos, advance, advance_seconds and mode, not null. Errors are Invalid
  // and leave the clock as it is: the real clock is not moved, none goes backwards or behind the
  // year 2262, months have no length, the mode of a clock that was handed in stays.
  std::optional<CqlError> Write(const Values& values) override;

 private:
  ServerClock& clock_;
  const std::shared_ptr<const TableDefinition> definition_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CONTROL_CLOCK_TABLE_H_
