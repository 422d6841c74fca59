// Errors as answers: the bytes, and in the outcome the same for those who do not read bytes.
#ifndef LISTSTORE_ENGINE_EXECUTE_ANSWERS_H_
#define LISTSTORE_ENGINE_EXECUTE_ANSWERS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/output_buffer.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/execute/outcome.h"
#include "engine/model/op_status.h"
#include "engine/model/schema.h"
#include "engine/protocol/response.h"
#include "engine/shard/engine.h"

namespace liststore::execute {

// The client prepares the statement again and repeats its request.
cql::CqlError Unprepared(std::string_view id);
cql::CqlError ToCqlError(const protocol::ProtocolError& error);
// Invalid: conditional writes and serial reads are none of a table that is made of tablets. Source:
// ScyllaDB service/storage_proxy.cc, cas.
cql::CqlStatus CheckConditionalTable(const TableDefinition& table);

// ERROR with the code, message and details.
void AnswerError(const protocol::ErrorResponse& error, const protocol::ResponseContext& context,
                 Outcome& outcome, OutputBuffer& out);
// The same of a statement's error.
void AnswerError(const cql::CqlError& error, const protocol::ResponseContext& context,
                 Outcome& outcome, OutputBuffer& out);
// Why the engine refused a write. `large_row`: that would be too large.
struct WriteRefusal {
  OpStatus status = OpStatus::kOutOfMemory;
  RowSize large_row = {};
};
// A write was refused: for want of memory, or by the commit log, a write failure, which drivers hand to
// the application as it is; an overloaded node they would call unreachable. Or for a row that would be too
// large. `engine`: which refused it; its words for the reason.
void AnswerRefusedWrite(const WriteRefusal& refusal, const shard::Engine& engine,
                        protocol::Consistency consistency, protocol::WriteType type,
                        const protocol::ResponseContext& context, Outcome& outcome,
                        OutputBuffer& out);
// What the commit log says of OpStatus::kNotKept.
std::string NotKept(const shard::Engine& engine);
// The largest row, named.
cql::CqlError RowTooLarge(const RowSize& row, uint64_t bytes_max);

// The time of the statement is over: a read timeout, or a write timeout.
void AnswerReadTimeout(const TableDefinition& table, protocol::Consistency consistency,
                       const protocol::ResponseContext& context, Outcome& outcome,
                       OutputBuffer& out);
void AnswerWriteTimeout(const TableDefinition& table, protocol::Consistency consistency,
                        protocol::WriteType type, const protocol::ResponseContext& context,
                        Outcome& outcome, OutputBuffer& out);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_ANSWERS_H_
