// Requests: one struct for each opcode that a client sends, and DecodeRequest, which makes them of
// a frame's body.
//
// Everything is a view: strings and values into the body, lists into the RequestScratch. A Request
// is valid until the body goes, or the scratch is used again.
//
// Source: native_protocol_v4.spec section 4.1; ScyllaDB transport/request.hh and server.cc.
#ifndef LISTSTORE_ENGINE_PROTOCOL_REQUEST_H_
#define LISTSTORE_ENGINE_PROTOCOL_REQUEST_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/unfilled_allocator.h"
#include "engine/protocol/compression.h"
#include "engine/protocol/error_code.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/primitives.h"
#include "engine/protocol/scylla_options.h"

namespace liststore::protocol {

// Parameters of QUERY, EXECUTE and BATCH.
struct QueryParameters {
  // Not defaulted: GCC 12 would clear the whole of every EXECUTE by an instruction that takes longer
  // to begin than these members take.
  QueryParameters() {}

  Consistency consistency = Consistency::kOne;
  // In the order of the bind markers, or, with names, in any.
  std::span<const Value> values;
  // Empty: the values are positional. Else one for each value. A name may be there twice, and may
  // be no marker's: both are for the binder to judge.
  std::span<const std::string_view> value_names;
  // The same as version 4 sends them, a [string] (with names) and a [value] each, for who keeps
  // them all. Empty of version 3, whose negative lengths mean something else.
  std::string_view sent_values;
  // The client knows the columns: a Rows result carries NO_METADATA.
  bool skip_metadata = false;
  // Rows of a page, positive; absent: unpaged (no page size was given, or none above 0).
  std::optional<int32_t> page_size;
  // Where to go on; empty: at the beginning. As the client sent it (DecodePagingState).
  std::string_view paging_state;
  // Of conditional statements. Any consistency: whether it is a serial one is for the statement
  // that uses it to judge.
  Consistency serial_consistency = Consistency::kSerial;
  // Microseconds since 1970; replaces the server's clock, gives way to USING TIMESTAMP. Never
  // -2^63.
  std::optional<int64_t> default_timestamp;
};

struct Startup {
  // In the order sent; unknown keys are there too, and are to be ignored.
  std::span<const StringPair> options;
  // Of COMPRESSION, in any letter case. Holds from the next frame on.
  Compression compression = Compression::kNone;
  // Those whose keys are there, whether or not they were offered (the server masks them).
  Extensions extensions;

  // The value of the option of this name; of the first, as in ScyllaDB, when there are several.
  std::optional<std::string_view> Option(std::string_view key) const;
};

struct Options {};

struct Query {
  std::string_view query;
  QueryParameters parameters;
};

struct Prepare {
  std::string_view query;
};

struct Execute {
  std::string_view id;
  // What the client holds; with Extensions::metadata_id alone, else absent.
  std::optional<std::string_view> result_metadata_id;
  QueryParameters parameters;
};

enum class BatchType : uint8_t {
  kLogged = 0,
  kUnlogged = 1,
  kCounter = 2
};

struct BatchStatement {
  enum class Kind : uint8_t {
    kQuery = 0,
    kPrepared = 1
  };
  Kind kind = Kind::kQuery;
  // The text of a query, or the id of a prepared statement.
  std::string_view query_or_id;
  // Positional: the protocol has no usable form of names here.
  std::span<const Value> values;
  std::string_view sent_values;  // as in QueryParameters
};

struct Batch {
  BatchType type = BatchType::kLogged;
  // Maybe none.
  std::span<const BatchStatement> statements;
  // Without values, page size and paging state.
  QueryParameters parameters;
};

enum class EventType : uint8_t {
  kTopologyChange,
  kStatusChange,
  kSchemaChange,
  // ScyllaDB's; may be registered, is never sent.
  kClientRoutesChange,
};
std::string_view EventTypeName(EventType type);

struct Register {
  // Maybe some of them twice.
  std::span<const EventType> event_types;
};

struct AuthResponse {
  Value token;  // may be null
};

struct Request {
  // The client asks for a trace. A server that does not trace leaves the flag clear in its answer.
  bool tracing = false;
  // v4; ScyllaDB skips it, and so may the server.
  std::span<const BytesPair> custom_payload;
  std::variant<Options, Startup, Query, Prepare, Execute, Batch, Register, AuthResponse> message;
};

// The memory behind the lists of a request. With the same scratch again, decoding allocates nothing
// once it has grown to the largest request seen. Owned by a connection, or one by each request in
// flight.
struct RequestScratch {
  // Of all statements of a batch: four bytes of a null become 24, and compressed are next to nothing.
  static constexpr size_t kValuesMax = size_t{4} << 20;

  std::vector<Value, UnfilledAllocator<Value>> values;
  // Whoever uses one of the others says no: else they need no look, which is three cache lines.
  bool has_values_alone = true;
  std::vector<std::string_view> names;
  std::vector<BatchStatement> statements;
  std::vector<StringPair> options;
  std::vector<BytesPair> custom_payload;
  std::vector<EventType> event_types;
  // Of a batch: where the values of each statement end.
  std::vector<uint32_t> value_ends;
  size_t batch_values_max = kValuesMax;
};

// Decodes the body of a request. `body` is that of `header`, decompressed where kFrameCompressed
// was set (DecompressBody); `negotiated` is what STARTUP agreed on, nothing before. Bytes behind
// the message are ignored.
//
// On an error `request` is of no use. It goes out on the request's stream and the connection stays
// open. Texts are ScyllaDB's: `truncated frame: expected N bytes, length is M`, `Cannot decode
// string as UTF8, invalid character at byte offset N`, `invalid value length: N`, `Unknown code N
// for a consistency level`, `Out of bound timestamp, ...`, `Unknown compression algorithm: X`,
// `Invalid value 'X' for Event.Type`, `Invalid query kind in BATCH messages. Must be 0 or 1 but got
// K`, `Unknown opcode N`. Whether the opcode has its place is asked before: CheckOpcode.
//
// Linear in the body; texts are checked to be UTF-8, values are not looked at. An EXECUTE of 4
// values and 137 bytes takes 58 ns with the cutting of its frame (Xeon 2.5 GHz, shared,
// bench/micro/protocol_bench.cc).
[[nodiscard]] std::optional<ProtocolError> DecodeRequest(const FrameHeader& header,
                                                         std::string_view body,
                                                         Extensions negotiated,
                                                         RequestScratch& scratch, Request& request);

// The token of SASL PLAIN (RFC 4616): [authzid] NUL user NUL password. Views into `token`, empty
// where there is no such part. As ScyllaDB takes it apart (auth/sasl_challenge.cc): from its end,
// and an empty password is passed over for what stands before it.
struct PlainCredentials {
  std::string_view user;
  std::string_view password;
};
PlainCredentials ParsePlainToken(std::string_view token);

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_REQUEST_H_
