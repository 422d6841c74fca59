#include "engine/execute/answers.h"

#include <string>
#include <vector>

#include "engine/model/mutation.h"

namespace liststore::execute {

cql::CqlError Unprepared(std::string_view id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : id) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return {CqlErrorCode::kUnprepared, "No prepared statement with ID " + hex + " found.",
          cql::UnpreparedDetail{std::string(id)}};
}

cql::CqlError ToCqlError(const protocol::ProtocolError& error) {
  return {error.code, error.message, {}};
}

cql::CqlStatus CheckConditionalTable(const TableDefinition& table) {
  if (!table.uses_tablets) return {};
  return cql::CqlError::Invalid("Cannot use LightWeight Transactions for table " + table.keyspace +
                                "." + table.name + ": LWT is not yet supported with tablets");
}

void AnswerError(const protocol::ErrorResponse& error, const protocol::ResponseContext& context,
                 Outcome& outcome, OutputBuffer& out) {
  outcome.error = protocol::EncodeError(out, context, error);
  outcome.message = error.message;
}

void AnswerError(const cql::CqlError& error, const protocol::ResponseContext& context,
                 Outcome& outcome, OutputBuffer& out) {
  protocol::ErrorResponse response;
  std::vector<std::string_view> argument_types;
  response.code = error.code;
  response.message = error.message;
  if (const auto* exists = std::get_if<cql::AlreadyExistsDetail>(&error.detail)) {
    response.details = protocol::AlreadyExistsDetails{exists->keyspace, exists->table};
  } else if (const auto* unprepared = std::get_if<cql::UnpreparedDetail>(&error.detail)) {
    response.details = protocol::UnpreparedDetails{unprepared->statement_id};
  } else if (const auto* unavailable = std::get_if<cql::UnavailableDetail>(&error.detail)) {
    response.details =
        protocol::UnavailableDetails{static_cast<protocol::Consistency>(unavailable->consistency),
                                     unavailable->required, unavailable->alive};
  } else if (const auto* write = std::get_if<cql::WriteFailureDetail>(&error.detail)) {
    response.details =
        protocol::WriteFailureDetails{static_cast<protocol::Consistency>(write->consistency), 0, 1,
                                      1, protocol::WriteType::kSimple};
  } else if (const auto* failure = std::get_if<cql::FunctionFailureDetail>(&error.detail)) {
    argument_types.assign(failure->argument_types.begin(), failure->argument_types.end());
    response.details =
        protocol::FunctionFailureDetails{failure->keyspace, failure->function, argument_types};
  }
  AnswerError(response, context, outcome, out);
}

cql::CqlError RowTooLarge(const RowSize& row, uint64_t bytes_max) {
  const std::string refused = "The write was refused and nothing of it applied: ";
  if (row.rewritten_cells != 0) {
    return cql::CqlError::Invalid(
        refused + "the rows that it looks at or changes have " +
        std::to_string(row.rewritten_cells) +
        " values and elements, counted again for each timestamp and null, more than the " +
        std::to_string(kCellsRewrittenMax) + " that one request may: take fewer of them at a time");
  }
  if (row.looked_at_bytes != 0) {
    return cql::CqlError::Invalid(refused + "the rows that it looks at have more than " +
                                  std::to_string(row.looked_at_bytes_max) +
                                  " bytes: take fewer of them at a time");
  }
  if (row.cells != 0) {
    return cql::CqlError::Invalid(refused + "a row of " + std::to_string(row.cells) +
                                  " values and elements exceeds the " +
                                  std::to_string(kRowCellsMax) +
                                  " that a row may have: keep a part of it in other rows, or a "
                                  "collection that is written whole in a frozen one");
  }
  return cql::CqlError::Invalid(refused + "a row of " + std::to_string(row.bytes) +
                                " bytes exceeds the " + std::to_string(bytes_max) +
                                " bytes that a row may have: keep a part of it in other rows");
}

std::string NotKept(const shard::Engine& engine) {
  const absl::Status refusal = engine.log_refusal();
  // Meanwhile it may have room again.
  if (refusal.ok()) return "the commit log had no room for it: try again";
  return std::string(refusal.message());
}

void AnswerRefusedWrite(const WriteRefusal& refusal, const shard::Engine& engine,
                        protocol::Consistency consistency, protocol::WriteType type,
                        const protocol::ResponseContext& context, Outcome& outcome,
                        OutputBuffer& out) {
  if (refusal.status == OpStatus::kRowTooLarge) {
    AnswerError(RowTooLarge(refusal.large_row, engine.row_bytes_max()), context, outcome, out);
    return;
  }
  const std::string why =
      refusal.status == OpStatus::kNotKept ? NotKept(engine) : engine.memory_refusal().Text();
  const std::string message = "The write was refused and nothing of it applied: " + why;
  AnswerError(protocol::ErrorResponse{protocol::ErrorCode::kWriteFailure, message,
                                      protocol::WriteFailureDetails{consistency, 0, 1, 1, type}},
              context, outcome, out);
}

namespace {

// Source: ScyllaDB exceptions/exceptions.cc, read_write_timeout_exception.
std::string TimedOut(const TableDefinition& table, protocol::Consistency consistency) {
  return "Operation timed out for " + table.keyspace + "." + table.name +
         " - received only 0 responses from 1 CL=" +
         std::string(protocol::ConsistencyName(consistency)) + ".";
}

}  // namespace

void AnswerReadTimeout(const TableDefinition& table, protocol::Consistency consistency,
                       const protocol::ResponseContext& context, Outcome& outcome,
                       OutputBuffer& out) {
  const std::string message = TimedOut(table, consistency);
  AnswerError(protocol::ErrorResponse{protocol::ErrorCode::kReadTimeout, message,
                                      protocol::ReadTimeoutDetails{consistency, 0, 1, false}},
              context, outcome, out);
}

void AnswerWriteTimeout(const TableDefinition& table, protocol::Consistency consistency,
                        protocol::WriteType type, const protocol::ResponseContext& context,
                        Outcome& outcome, OutputBuffer& out) {
  const std::string message = TimedOut(table, consistency);
  AnswerError(protocol::ErrorResponse{protocol::ErrorCode::kWriteTimeout, message,
                                      protocol::WriteTimeoutDetails{consistency, 0, 1, type}},
              context, outcome, out);
}

}  // namespace liststore::execute
