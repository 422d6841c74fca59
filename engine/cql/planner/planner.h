// Statement + Schema -> Plan: names are looked up, types checked, restrictions sorted into what the
// partition key, the clustering order, an index and filters do.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_PLANNER_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_PLANNER_H_

#include <memory>
#include <string>
#include <string_view>

#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"
#include "engine/settings/statement_settings.h"

namespace liststore::cql {

// What a scan with clustering restrictions that was sent as a text is answered with beside its
// rows. Source: ScyllaDB cql3/statements/select_statement.cc, strict_allow_filtering = warn.
inline constexpr std::string_view kFilteringWarning =
    "This query should use ALLOW FILTERING and will be rejected in future versions.";

// `keyspace`: the connection's, empty for none. Errors are the dialect's, in its words; what
// liststore does not have is CqlError::Unsupported. Pure; O(statement x columns). A plan keeps what
// `settings` say of it (StatementSettings::HasPlansOf).
CqlOr<std::shared_ptr<const Plan>> PlanStatement(Statement statement, const Schema& schema,
                                                 std::string_view keyspace,
                                                 const Dialect& dialect = ScyllaDialect(),
                                                 const settings::StatementSettings& settings = {});

// Parses and plans.
CqlOr<std::shared_ptr<const Plan>> PlanText(std::string_view text, const Schema& schema,
                                            std::string_view keyspace,
                                            const Dialect& dialect = ScyllaDialect(),
                                            const settings::StatementSettings& settings = {});

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_PLANNER_H_
