#include "engine/base/check.h"
#include "engine/protocol/response.h"

namespace liststore::protocol {
namespace {

// Appends what stands behind the message; one overload for each kind of details.
class DetailsEncoder {
 public:
  explicit DetailsEncoder(OutputBuffer& out) : out_(out) {}

  void operator()(std::monostate) {}
  void operator()(const UnavailableDetails& details) {
    AppendConsistency(out_, details.consistency);
    AppendInt(out_, details.required);
    AppendInt(out_, details.alive);
  }
  void operator()(const WriteTimeoutDetails& details) {
    AppendResponses(details);
    AppendString(out_, WriteTypeName(details.write_type));
  }
  void operator()(const ReadTimeoutDetails& details) {
    AppendResponses(details);
    AppendBool(details.data_present);
  }
  void operator()(const ReadFailureDetails& details) {
    AppendResponses(details);
    AppendInt(out_, details.failures);
    AppendBool(details.data_present);
  }
  void operator()(const WriteFailureDetails& details) {
    AppendResponses(details);
    AppendInt(out_, details.failures);
    AppendString(out_, WriteTypeName(details.write_type));
  }
  void operator()(const FunctionFailureDetails& details) {
    AppendTruncatedString(out_, details.keyspace);
    AppendTruncatedString(out_, details.function);
    AppendStringList(out_, details.argument_types);
  }
  void operator()(const AlreadyExistsDetails& details) {
    AppendTruncatedString(out_, details.keyspace);
    AppendTruncatedString(out_, details.table);
  }
  void operator()(const UnpreparedDetails& details) { AppendShortBytes(out_, details.id); }
  void operator()(const RateLimitDetails& details) {
    AppendBool(details.is_write);
    AppendBool(details.rejected_by_coordinator);
  }

 private:
  template <typename Details>
  void AppendResponses(const Details& details) {
    AppendConsistency(out_, details.consistency);
    AppendInt(out_, details.received);
    AppendInt(out_, details.block_for);
  }
  void AppendBool(bool value) { out_.AppendByte(value ? 1 : 0); }

  OutputBuffer& out_;
};

// A driver takes a frame apart by its code: the details must be those of the code.
bool DetailsFit(const ErrorResponse& error) {
  const auto& details = error.details;
  switch (error.code) {
    case ErrorCode::kUnavailable:
      return std::holds_alternative<UnavailableDetails>(details);
    case ErrorCode::kWriteTimeout:
      return std::holds_alternative<WriteTimeoutDetails>(details);
    case ErrorCode::kReadTimeout:
      return std::holds_alternative<ReadTimeoutDetails>(details);
    case ErrorCode::kReadFailure:
      return std::holds_alternative<ReadFailureDetails>(details);
    case ErrorCode::kWriteFailure:
      return std::holds_alternative<WriteFailureDetails>(details);
    case ErrorCode::kFunctionFailure:
      return std::holds_alternative<FunctionFailureDetails>(details);
    case ErrorCode::kAlreadyExists:
      return std::holds_alternative<AlreadyExistsDetails>(details);
    case ErrorCode::kUnprepared:
      return std::holds_alternative<UnpreparedDetails>(details);
    case ErrorCode::kRateLimit:
      return std::holds_alternative<RateLimitDetails>(details);
    default:
      return std::holds_alternative<std::monostate>(details);
  }
}

// `error` as this connection can read it. Source: ScyllaDB transport/server.cc
// (make_read_failure_error, make_mutation_write_failure_error, make_rate_limit_error); Cassandra
// transport/messages/ErrorMessage.java for functions.
ErrorResponse ForConnection(const ResponseContext& context, const ErrorResponse& error) {
  ErrorResponse known = error;
  if (const auto* rate = std::get_if<RateLimitDetails>(&error.details);
      rate != nullptr && !context.extensions.rate_limit_error) {
    known.code = ErrorCode::kConfig;
    known.details = std::monostate();
  }
  if (context.version >= ProtocolVersion::kV4) return known;
  if (const auto* read = std::get_if<ReadFailureDetails>(&error.details)) {
    known.code = ErrorCode::kReadTimeout;
    known.details =
        ReadTimeoutDetails{read->consistency, read->received, read->block_for, read->data_present};
  } else if (const auto* write = std::get_if<WriteFailureDetails>(&error.details)) {
    known.code = ErrorCode::kWriteTimeout;
    known.details = WriteTimeoutDetails{write->consistency, write->received, write->block_for,
                                        write->write_type};
  } else if (std::holds_alternative<FunctionFailureDetails>(error.details)) {
    known.code = ErrorCode::kInvalid;
    known.details = std::monostate();
  }
  return known;
}

}  // namespace

std::string_view WriteTypeName(WriteType type) {
  switch (type) {
    case WriteType::kSimple:
      return "SIMPLE";
    case WriteType::kBatch:
      return "BATCH";
    case WriteType::kUnloggedBatch:
      return "UNLOGGED_BATCH";
    case WriteType::kCounter:
      return "COUNTER";
    case WriteType::kBatchLog:
      return "BATCH_LOG";
    case WriteType::kCas:
      return "CAS";
    case WriteType::kView:
      return "VIEW";
    case WriteType::kCdc:
      return "CDC";
  }
  LS_UNREACHABLE("a write type is one of the protocol's");
}

// <code: int><message: string><details of the code>
ErrorCode EncodeError(OutputBuffer& out, const ResponseContext& context,
                      const ErrorResponse& error) {
  LS_CHECK(DetailsFit(error), "an error has the details of its code");
  const ErrorResponse known = ForConnection(context, error);
  FrameEncoder frame(out, context, Opcode::kError);
  AppendInt(out, static_cast<int32_t>(known.code));
  AppendTruncatedString(out, known.message);
  std::visit(DetailsEncoder(out), known.details);
  frame.Finish();
  return known.code;
}

void EncodeError(OutputBuffer& out, const ResponseContext& context, const ProtocolError& error) {
  EncodeError(out, context, ErrorResponse{error.code, error.message, std::monostate()});
}

void EncodeRefusal(OutputBuffer& out, const FrameRefusal& refusal) {
  ResponseContext context;
  context.version = refusal.version;
  context.stream = refusal.stream;
  EncodeError(out, context, refusal.error);
}

}  // namespace liststore::protocol
