// The table liststore.faults: arms faults and shows what has come of them. Its columns are
// described in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_FAULT_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_FAULT_TABLE_H_

#include <memory>
#include <optional>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/instruments/fault_plan.h"

namespace liststore::instruments {

// Thread-safe. A row for each fault, under its name.
class FaultTable final : public cql::VirtualTable {
 public:
  // `plan` outlives the table.
  explicit FaultTable(FaultPlan& plan);

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }
  std::vector<cql::VirtualRow> Rows(const cql::VirtualReadContext& context) const override;
  // Arms a fault, with what the statement gives: what it leaves out is null. Errors are Invalid and
  // leave all faults as they are.
  std::optional<cql::CqlError> Write(const Values& values) override;
  std::optional<cql::CqlError> Delete(const Values& key) override;
  bool can_be_truncated() const override { return true; }
  void Truncate() override { plan_.Reset(); }

 private:
  FaultPlan& plan_;
  const std::shared_ptr<const TableDefinition> definition_;
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_FAULT_TABLE_H_
