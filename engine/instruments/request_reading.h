// Recorded requests made readable: what the journal has left undone while it recorded.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_READING_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_READING_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/partitions_of.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/statement_outline.h"
#include "engine/instruments/journal_record.h"
#include "engine/model/schema.h"

namespace liststore::instruments {

// One statement of a request. Views and pointers into its record.
struct StatementReading {
  std::string text;  // with "..." behind it when the journal has cut it
  cql::StatementOutline outline;
  // How it was prepared; of a text how it would be planned now. nullptr: it does not plan (any
  // more), or it is not known.
  std::shared_ptr<const cql::Plan> plan;
  // One for each of the plan's variables; absent: there is no plan, or values are missing or cut.
  std::optional<std::vector<cql::BoundValue>> bound;
  // The values as CQL literals: blobs where no plan tells types, with "..." where they are cut.
  std::vector<std::string> literals;
};

// The partitions that a statement names: none of a scan, or when values are not known.
cql::Partitions PartitionsOf(const StatementReading& statement);

struct RequestReading {
  cql::StatementOp op = cql::StatementOp::kOther;
  std::string table;               // "keyspace.table"; empty: none, or several
  std::optional<std::string> key;  // as PartitionKeyText; absent: none, or several
  std::string text;
  bool prepared = false;
  std::vector<StatementReading> statements;
};

// `schema`: of now. The record outlives the reading. O(text and values); a
// text is planned.
RequestReading ReadRequest(const JournalRecord& record, const Schema& schema);

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_READING_H_
