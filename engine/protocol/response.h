// Responses, written as whole frames straight into a connection's OutputBuffer. One function for
// each message; rows of a result come in one by one (RowsEncoder).
//
// Strings that people read are cut to fit a [string] (AppendTruncatedString); names of schema
// objects are taken to be within the limits of the schema.
//
// Source: native_protocol_v4.spec sections 4.2 and 9; ScyllaDB transport/server.cc, response.hh.
#ifndef LISTSTORE_ENGINE_PROTOCOL_RESPONSE_H_
#define LISTSTORE_ENGINE_PROTOCOL_RESPONSE_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/output_buffer.h"
#include "engine/model/types/data_type.h"
#include "engine/protocol/error_code.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/primitives.h"
#include "engine/protocol/request.h"
#include "engine/protocol/scylla_options.h"

namespace liststore::protocol {

// What an answer belongs to, and what goes before its message. v3 has neither warnings nor custom
// payloads: they are left out there.
struct ResponseContext {
  ProtocolVersion version = kProtocolVersionMax;
  int16_t stream = 0;
  // What the connection agreed on.
  Extensions extensions;
  // 16 bytes when the request was traced, else empty.
  std::string_view tracing_id;
  std::span<const std::string_view> warnings;
  std::span<const BytesPair> custom_payload;

  // Nothing goes before the message: nearly always.
  bool is_plain() const { return tracing_id.empty() && warnings.empty() && custom_payload.empty(); }
};

// A response frame being written: the header goes out first, its length when the frame is finished.
// Nothing else may be appended to `out` in between. For messages that have no function below.
class FrameEncoder {
 public:
  // Of the ERROR (Invalid) that stands for what does not fit into a frame.
  static std::string OverflowText();

  FrameEncoder(OutputBuffer& out, const ResponseContext& context, Opcode opcode)
      : out_(&out), begin_(out.size()), version_(context.version), stream_(context.stream) {
    StoreResponseHeader(out.Extend(kFrameHeaderBytes), context.version, 0, context.stream, opcode,
                        0);
    if (!context.is_plain()) [[unlikely]]
      AppendBeforeMessage(context);
  }
  // Of a frame whose header the caller has written, at `begin` and for a plain context.
  FrameEncoder(OutputBuffer& out, const ResponseContext& context, size_t begin)
      : out_(&out), begin_(begin), version_(context.version), stream_(context.stream) {}
  // Where the heap refuses a part of it, the whole answer goes with the buffer.
  ~FrameEncoder() {
    LS_DCHECK(out_ == nullptr || std::uncaught_exceptions() > 0,
              "a frame is finished or abandoned");
  }
  FrameEncoder(const FrameEncoder&) = delete;
  FrameEncoder& operator=(const FrameEncoder&) = delete;

  // Where the frame begins in the buffer: for CompressFrame.
  size_t begin() const { return begin_; }
  // What does not fit into a frame becomes an ERROR that says so: a row has no largest size, nor
  // have the names of columns together.
  void Finish();
  // Takes everything back that was written since the beginning.
  void Abandon();

 private:
  void AppendBeforeMessage(const ResponseContext& context);
  void Refuse();

  OutputBuffer* out_;
  size_t begin_;
  // For what stands in its place.
  ProtocolVersion version_;
  int16_t stream_;
};

// READY, AUTHENTICATE, AUTH_CHALLENGE, AUTH_SUCCESS, SUPPORTED.
void EncodeReady(OutputBuffer& out, const ResponseContext& context);
// `authenticator`: the class name that drivers look at, like kPasswordAuthenticator.
inline constexpr std::string_view kPasswordAuthenticator =
    "org.apache.cassandra.auth.PasswordAuthenticator";
void EncodeAuthenticate(OutputBuffer& out, const ResponseContext& context,
                        std::string_view authenticator);
void EncodeAuthChallenge(OutputBuffer& out, const ResponseContext& context, const Value& token);
void EncodeAuthSuccess(OutputBuffer& out, const ResponseContext& context, const Value& token);
void EncodeSupported(OutputBuffer& out, const ResponseContext& context,
                     std::span<const SupportedOption> options);

// ERROR.

enum class WriteType : uint8_t {
  kSimple,
  kBatch,
  kUnloggedBatch,
  kCounter,
  kBatchLog,
  kCas,
  kView,
  kCdc
};
std::string_view WriteTypeName(WriteType type);

// What each code has beside its message. Source: native_protocol_v4.spec section 9.
struct UnavailableDetails {
  Consistency consistency = Consistency::kOne;
  int32_t required = 0;
  int32_t alive = 0;
};
struct WriteTimeoutDetails {
  Consistency consistency = Consistency::kOne;
  int32_t received = 0;
  int32_t block_for = 0;
  WriteType write_type = WriteType::kSimple;
};
struct ReadTimeoutDetails {
  Consistency consistency = Consistency::kOne;
  int32_t received = 0;
  int32_t block_for = 0;
  bool data_present = false;
};
struct ReadFailureDetails {
  Consistency consistency = Consistency::kOne;
  int32_t received = 0;
  int32_t block_for = 0;
  int32_t failures = 0;
  bool data_present = false;
};
struct WriteFailureDetails {
  Consistency consistency = Consistency::kOne;
  int32_t received = 0;
  int32_t block_for = 0;
  int32_t failures = 0;
  WriteType write_type = WriteType::kSimple;
};
struct FunctionFailureDetails {
  std::string_view keyspace;
  std::string_view function;
  std::span<const std::string_view> argument_types;
};
struct AlreadyExistsDetails {
  std::string_view keyspace;
  std::string_view table;  // empty: the keyspace itself exists
};
struct UnpreparedDetails {
  std::string_view id;  // the one that is unknown
};
struct RateLimitDetails {
  bool is_write = false;
  bool rejected_by_coordinator = false;
};

struct ErrorResponse {
  ErrorCode code = ErrorCode::kServerError;
  std::string_view message;
  // The alternative of the code; none for codes without details.
  std::variant<std::monostate, UnavailableDetails, WriteTimeoutDetails, ReadTimeoutDetails,
               ReadFailureDetails, WriteFailureDetails, FunctionFailureDetails,
               AlreadyExistsDetails, UnpreparedDetails, RateLimitDetails>
      details;
};

// Codes that a connection cannot read are replaced as ScyllaDB does: in v3 a failure by the timeout
// of its kind, kFunctionFailure by kInvalid; without Extensions::rate_limit_error that by
// kConfig. Returns the code that was sent.
ErrorCode EncodeError(OutputBuffer& out, const ResponseContext& context,
                      const ErrorResponse& error);
void EncodeError(OutputBuffer& out, const ResponseContext& context, const ProtocolError& error);
// The last frame of a connection whose bytes are no frames.
void EncodeRefusal(OutputBuffer& out, const FrameRefusal& refusal);

// RESULT.

void EncodeVoid(OutputBuffer& out, const ResponseContext& context);
void EncodeSetKeyspace(OutputBuffer& out, const ResponseContext& context,
                       std::string_view keyspace);

struct ColumnSpec {
  std::string_view keyspace;
  std::string_view table;
  // Of a column, an alias, a selection's text, or a bind marker.
  std::string_view name;
  const DataType* type = nullptr;
};

// Names and types of the columns of a result, or of the bind markers of a statement, in their
// encoded form. Made once, when a statement is prepared, and copied into every answer; does not
// refer to the specs. Movable. A table that all columns share is named once (GLOBAL_TABLES_SPEC).
class ColumnsMetadata {
 public:
  // No columns.
  ColumnsMetadata() = default;

  // Replaces the contents, keeps the memory. Refused with kServerError and ScyllaDB's `Value too
  // large, N > 65535` when a name does not fit a [string] (an alias can be of any length); without
  // columns then. O(specs).
  [[nodiscard]] std::optional<ProtocolError> Assign(std::span<const ColumnSpec> columns);

  size_t column_count() const { return column_count_; }
  bool has_global_table() const { return has_global_table_; }
  // What it has on the heap.
  size_t bytes() const { return encoded_.capacity(); }
  // [keyspace, table when global] and the columns.
  std::string_view encoded() const { return encoded_.view(); }

 private:
  uint32_t column_count_ = 0;
  bool has_global_table_ = false;
  OutputBuffer encoded_;
};

// Appends the [option] of a type: what Assign writes for each column.
void AppendTypeOption(OutputBuffer& out, const DataType& type);

struct PreparedResult {
  // At most 65,535 bytes; ScyllaDB's are the 16 of an MD5.
  std::string_view id;
  // Written with Extensions::metadata_id only.
  std::string_view result_metadata_id;
  const ColumnsMetadata* bind_markers = nullptr;  // never null
  // Markers of the partition key columns, in the order of the key; empty when one has none. v4.
  std::span<const uint16_t> partition_key_indexes;
  // Null when the statement returns no rows.
  const ColumnsMetadata* result_columns = nullptr;
  // Marked with Extensions::lwt_mark only.
  bool is_conditional = false;
};
void EncodePrepared(OutputBuffer& out, const ResponseContext& context,
                    const PreparedResult& prepared);

struct SchemaChange {
  enum class Change : uint8_t {
    kCreated,
    kUpdated,
    kDropped
  };
  enum class Target : uint8_t {
    kKeyspace,
    kTable,
    kType,
    kFunction,   // v4
    kAggregate,  // v4
  };
  Change change = Change::kCreated;
  Target target = Target::kKeyspace;
  std::string_view keyspace;
  std::string_view name;  // not of a keyspace
  std::span<const std::string_view> argument_types;
};
// As the protocol says them: "CREATED", "TABLE".
std::string_view NameOf(SchemaChange::Change change);
std::string_view NameOf(SchemaChange::Target target);
// v3 has no functions and aggregates: a change of their keyspace is told instead.
void EncodeSchemaChange(OutputBuffer& out, const ResponseContext& context,
                        const SchemaChange& change);

struct RowsOptions {
  // The client's skip_metadata.
  bool skip_metadata = false;
  // With Extensions::metadata_id: the current id, where the client holds another. The metadata are
  // written then, whatever skip_metadata says.
  std::optional<std::string_view> changed_metadata_id = std::nullopt;
};

// A Rows result, written while the rows are found:
//
//   RowsEncoder rows(out, context, columns, options);
//   for each row: rows.AppendBytes(...) or rows.AppendNull() for each column, then rows.EndRow();
//   rows.Finish(paging_state or empty);
//
// Cells go directly into the buffer, 3 ns each with the copy (44 and 24 bytes). How many rows
// there are, and whether there are more pages, is known at the end: Finish patches the count and
// the flags, and a paging state is inserted where it belongs, in front of the rows, which moves
// them by its length. That is 1.1 ns a row of 76 bytes (5 us of the 39 that a page of 5000 takes;
// Xeon 2.5 GHz, shared, bench/micro/protocol_bench.cc), and only where there are more pages.
// Rejected: room kept for it, which would have to be taken out of every last page, and would have
// no largest size since a paging state holds keys; and writing the metadata last, which needs a
// second buffer.
//
// Nothing else may be appended to the buffer before Finish or Abandon.
class RowsEncoder {
 public:
  RowsEncoder(OutputBuffer& out, const ResponseContext& context, const ColumnsMetadata& columns,
              const RowsOptions& options);
  // Of a plain context, for a client that knows the columns.
  RowsEncoder(OutputBuffer& out, const ResponseContext& context, size_t column_count);
  RowsEncoder(const RowsEncoder&) = delete;
  RowsEncoder& operator=(const RowsEncoder&) = delete;

  // The next cell of the row.
  void AppendBytes(std::string_view bytes) {
    CountCell();
    protocol::AppendBytes(*out_, bytes);
  }
  void AppendNull() {
    CountCell();
    protocol::AppendNull(*out_);
  }
  void Append(const Value& value) {
    LS_DCHECK(!value.is_unset(), "a cell is null or has bytes");
    value.has_bytes() ? AppendBytes(value.bytes()) : AppendNull();
  }
  void AppendInt(int32_t value) { StoreBigEndian32(Cell(4), static_cast<uint32_t>(value)); }
  void AppendBigint(int64_t value) { StoreBigEndian64(Cell(8), static_cast<uint64_t>(value)); }
  void AppendBoolean(bool value) { *Cell(1) = value ? 1 : 0; }
  // A cell of `bytes` that the caller writes before the next call.
  char* Cell(size_t bytes) {
    CountCell();
    char* const to = out_->Extend(sizeof(int32_t) + bytes);
    StoreBigEndian32(to, static_cast<uint32_t>(bytes));
    return to + sizeof(int32_t);
  }
  // `bytes` are `rows` whole rows in their encoded form: each cell behind its length.
  void AppendEncodedRows(std::string_view bytes, uint32_t rows) {
    LS_DCHECK(cells_ == 0, "rows begin where the last has ended");
    out_->Append(bytes);
    row_count_ += rows;
  }
  // `rows` whole rows of `row_bytes` each, which the caller writes before the next call: each cell
  // behind its length.
  char* Rows(size_t rows, size_t row_bytes) {
    LS_DCHECK(cells_ == 0, "rows begin where the last has ended");
    row_count_ += static_cast<uint32_t>(rows);
    return out_->Extend(rows * row_bytes);
  }
  void EndRow() {
    LS_DCHECK(cells_ == column_count_, "a row has a cell for each column");
    cells_ = 0;
    ++row_count_;
  }

  uint32_t row_count() const { return row_count_; }
  // What the page has taken so far, for limits on its size.
  size_t row_bytes() const { return out_->size() - rows_; }
  // Where the frame begins: for CompressFrame.
  size_t begin() const { return frame_.begin(); }

  // `paging_state` empty: there are no more pages.
  void Finish(std::string_view paging_state = {});
  // Takes the whole frame back, so that an ERROR can stand in its place.
  void Abandon() { frame_.Abandon(); }

 private:
  void CountCell() {
    LS_DCHECK(cells_ < column_count_, "a row has a cell for each column");
#ifndef NDEBUG
    ++cells_;
#endif
  }

  OutputBuffer* out_;
  FrameEncoder frame_;
  size_t flags_ = 0;         // where they stand in the buffer
  size_t paging_state_ = 0;  // where it would stand
  size_t rows_ = 0;          // where the first row stands, behind the count
  uint32_t row_count_ = 0;
  size_t column_count_;
  size_t cells_ = 0;  // of the current row; counted with assertions only
};

// EVENT. Pushed on stream -1, uncompressed or not, to connections that registered for it.

struct TopologyChange {
  enum class Change : uint8_t {
    kNewNode,
    kRemovedNode,
    kMovedNode
  };
  Change change = Change::kNewNode;
  InetAddress node;
};
struct StatusChange {
  enum class Change : uint8_t {
    kUp,
    kDown
  };
  Change change = Change::kUp;
  InetAddress node;
};
void EncodeEvent(OutputBuffer& out, ProtocolVersion version, const TopologyChange& change);
void EncodeEvent(OutputBuffer& out, ProtocolVersion version, const StatusChange& change);
void EncodeEvent(OutputBuffer& out, ProtocolVersion version, const SchemaChange& change);

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_RESPONSE_H_
