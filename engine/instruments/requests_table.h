// The table liststore.requests: the journal, a row for each request. Its columns are described in
// docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_REQUESTS_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_REQUESTS_TABLE_H_

#include <memory>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/instruments/journal.h"

namespace liststore::instruments {

// Thread-safe. Reading is O(records) whatever is asked for. TRUNCATE clears the
// journal; rows cannot be written.
class RequestsTable final : public cql::VirtualTable {
 public:
  // `journal` outlives the table.
  explicit RequestsTable(Journal& journal);

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }
  std::vector<cql::VirtualRow> Rows(const cql::VirtualReadContext& context) const override;
  bool can_be_truncated() const override { return true; }
  void Truncate() override { journal_.Clear(); }

 private:
  Journal& journal_;
  const std::shared_ptr<const TableDefinition> definition_;
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_REQUESTS_TABLE_H_
