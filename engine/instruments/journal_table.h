// The table liststore.journal: how much the journal holds, and whether it records. Its columns are
// described in docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_TABLE_H_

#include <memory>
#include <optional>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/instruments/journal.h"

namespace liststore::instruments {

// Thread-safe. One row, under the key 'journal'.
class JournalTable final : public cql::VirtualTable {
 public:
  // `journal` outlives the table.
  explicit JournalTable(Journal& journal);

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }
  std::vector<cql::VirtualRow> Rows(const cql::VirtualReadContext& context) const override;
  // `enabled`, `capacity` or both, as Journal::Configure. Invalid, with nothing changed: another
  // key or column, null.
  std::optional<cql::CqlError> Write(const Values& values) override;

 private:
  Journal& journal_;
  const std::shared_ptr<const TableDefinition> definition_;
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_TABLE_H_
