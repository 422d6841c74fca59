// Errors as answers: the bytes, and in the outcome the same for those who do not read bytes.
#ifndef LISTSTORE_ENGINE_EXECUTE_ANSWERS_H_
#define LISTSTORE_ENGINE_EXECUTE_ANSWERS_H_

#include <cstdint>
#include <string_view>

#include "engine/base/output_buffer.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/execute/outcome.h"
#include "engine/model/schema.h"
#include "engine/protocol/response.h"

namespace liststore::execute {

// The client prepares the statement again and repeats its request.
cql::CqlError Unprepared(std::string_view id);
cql::CqlError ToCqlError(const protocol::ProtocolError& error);

// ERROR with the code, message and details.
void AnswerError(const protocol::ErrorResponse& error, const protocol::ResponseContext& context,
                 Outcome& outcome, OutputBuffer& out);
// The same of a statement's error.
void AnswerError(const cql::CqlError& error, const protocol::ResponseContext& context,
                 Outcome& outcome, OutputBuffer& out);
// A write was refused by the memory limit. A write failure, which drivers hand to the application
// as it is; an overloaded node they would call unreachable.
void AnswerOutOfMemory(uint64_t limit_bytes, protocol::Consistency consistency,
                       protocol::WriteType type, const protocol::ResponseContext& context,
                       Outcome& outcome, OutputBuffer& out);

// The time that USING TIMEOUT gives was over at once: a read timeout, or a write timeout.
void AnswerReadTimeout(const TableDefinition& table, protocol::Consistency consistency,
                       const protocol::ResponseContext& context, Outcome& outcome,
                       OutputBuffer& out);
void AnswerWriteTimeout(const TableDefinition& table, protocol::Consistency consistency,
                        protocol::WriteType type, const protocol::ResponseContext& context,
                        Outcome& outcome, OutputBuffer& out);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_ANSWERS_H_
