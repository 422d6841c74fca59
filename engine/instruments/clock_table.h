// The table liststore.clock: reads, moves and changes the server's clock. Its columns are described
// in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_CLOCK_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_CLOCK_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/cql/schema/virtual_table.h"
#include "liststore/server_clock.h"

namespace liststore::instruments {

// Thread-safe. One row, under the key 'clock'. A write changes the clock at once, before it
// returns; statements that are under way may still go by the instant before.
class ClockTable final : public cql::VirtualTable {
 public:
  // The second at which the next row or cell expires that lives at an instant; nullopt: none does.
  // Thread-safe.
  using NextExpiry = std::function<std::optional<int64_t>(uint64_t now_nanos)>;

  // Who keeps the clock over the end of the process.
  struct Kept {
    // Why it cannot be moved; nullopt: it can. Empty: it always can.
    std::function<std::optional<std::string>()> refusal = {};
    // It was.
    std::function<void()> moved = {};
  };

  // `clock` outlives the table.
  ClockTable(ServerClock& clock, NextExpiry next_expiry, Kept kept = {nullptr, nullptr});

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }
  // `now` and `now_nanos` are the clock's at the time of the call, not the context's.
  std::vector<cql::VirtualRow> Rows(const cql::VirtualReadContext& context) const override;
  // Exactly one of now, now_nanos, advance, advance_seconds, jump and mode, not null. Errors are
  // Invalid and leave the clock as it is: the real clock is not moved, none goes backwards or
  // behind the year 2262, months have no length, the mode of a clock that was handed in stays; and
  // where nothing expires there is nothing to jump to.
  std::optional<cql::CqlError> Write(const Values& values) override;
  // A jump looks at every row that has a TTL, and waits for another one.
  bool WriteTakesLong(const Values& values) const override;

 private:
  std::optional<cql::CqlError> Change(const Values& values);
  std::optional<cql::CqlError> Jump();

  ServerClock& clock_;
  const NextExpiry next_expiry_;
  const Kept kept_;
  Mutex jumps_;  // one at a time, so that two of them go to two expiries
  const std::shared_ptr<const TableDefinition> definition_;
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_CLOCK_TABLE_H_
