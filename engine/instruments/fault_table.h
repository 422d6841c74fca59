// The table liststore.faults: arms faults and shows what has come of them. Its columns are
// described in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_FAULT_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_FAULT_TABLE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/instruments/fault_plan.h"
#include "engine/model/schema.h"

namespace liststore::instruments {

// Thread-safe. A row for each fault, under its name.
class FaultTable final : public cql::VirtualTable {
 public:
  using SchemaOfNow = std::function<std::shared_ptr<const Schema>()>;

  // `plan` outlives the table.
  FaultTable(FaultPlan& plan, SchemaOfNow schema);

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }
  std::vector<cql::VirtualRow> Rows(const cql::VirtualReadContext& context) const override;
  // Arms a fault, with what the statement gives: what it leaves out is null. Errors are Invalid and
  // leave all faults as they are. Of a table that is not there it warns, as the row does until there is
  // one: a test may arm its faults first.
  std::optional<cql::CqlError> WriteAndWarn(const Values& values,
                                            std::vector<std::string>& warnings) override;
  std::optional<cql::CqlError> Delete(const Values& key) override;
  bool can_be_truncated() const override { return true; }
  void Truncate() override { plan_.Reset(); }

 private:
  FaultPlan& plan_;
  const SchemaOfNow schema_;
  const std::shared_ptr<const TableDefinition> definition_;
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_FAULT_TABLE_H_
