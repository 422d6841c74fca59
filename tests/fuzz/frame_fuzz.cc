// A connection's whole input, as a client may send it: the first byte chooses what was negotiated,
// the rest is the stream. Frames are cut, decompressed and decoded; a request that can be decoded
// is encoded again and must decode to the same; what is refused becomes an ERROR frame.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "engine/base/check.h"
#include "engine/protocol/compression.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/paging_state.h"
#include "engine/protocol/primitives.h"
#include "engine/protocol/request.h"
#include "engine/protocol/response.h"

namespace liststore::protocol {
namespace {

// Smaller than the protocol's limit: bombs are refused sooner, and inputs stay fast.
constexpr uint32_t kBodyBytesMax = 1u << 20;

// Bits of <flags> in <query_parameters>.
constexpr uint8_t kWithValues = 0x01;
constexpr uint8_t kSkipMetadata = 0x02;
constexpr uint8_t kWithPageSize = 0x04;
constexpr uint8_t kWithPagingState = 0x08;
constexpr uint8_t kWithSerialConsistency = 0x10;
constexpr uint8_t kWithDefaultTimestamp = 0x20;
constexpr uint8_t kWithNames = 0x40;

// The client's side: bodies of requests. Independent of the decoders on purpose.
class RequestEncoder {
 public:
  explicit RequestEncoder(OutputBuffer& out) : out_(out) {}

  void operator()(const Options&) {}
  void operator()(const Startup& startup) {
    out_.AppendBigEndian16(static_cast<uint16_t>(startup.options.size()));
    for (const StringPair& option : startup.options) {
      AppendString(out_, option.key);
      AppendString(out_, option.value);
    }
  }
  void operator()(const Query& query) {
    AppendLongString(out_, query.query);
    AppendParameters(query.parameters);
  }
  void operator()(const Prepare& prepare) { AppendLongString(out_, prepare.query); }
  void operator()(const Execute& execute) {
    AppendShortBytes(out_, execute.id);
    if (execute.result_metadata_id) AppendShortBytes(out_, *execute.result_metadata_id);
    AppendParameters(execute.parameters);
  }
  void operator()(const Batch& batch) {
    out_.AppendByte(static_cast<uint8_t>(batch.type));
    out_.AppendBigEndian16(static_cast<uint16_t>(batch.statements.size()));
    for (const BatchStatement& statement : batch.statements) {
      out_.AppendByte(static_cast<uint8_t>(statement.kind));
      if (statement.kind == BatchStatement::Kind::kQuery) {
        AppendLongString(out_, statement.query_or_id);
      } else {
        AppendShortBytes(out_, statement.query_or_id);
      }
      out_.AppendBigEndian16(static_cast<uint16_t>(statement.values.size()));
      for (const Value& value : statement.values) AppendValue(out_, value);
    }
    AppendParameters(batch.parameters);
  }
  void operator()(const Register& message) {
    out_.AppendBigEndian16(static_cast<uint16_t>(message.event_types.size()));
    for (const EventType type : message.event_types) AppendString(out_, EventTypeName(type));
  }
  void operator()(const AuthResponse& response) { AppendValue(out_, response.token); }

 private:
  void AppendParameters(const QueryParameters& parameters) {
    AppendConsistency(out_, parameters.consistency);
    uint8_t flags = kWithSerialConsistency;
    if (!parameters.values.empty()) flags |= kWithValues;
    if (!parameters.value_names.empty()) flags |= kWithNames;
    if (parameters.skip_metadata) flags |= kSkipMetadata;
    if (parameters.page_size) flags |= kWithPageSize;
    if (!parameters.paging_state.empty()) flags |= kWithPagingState;
    if (parameters.default_timestamp) flags |= kWithDefaultTimestamp;
    out_.AppendByte(flags);
    if (!parameters.values.empty()) {
      out_.AppendBigEndian16(static_cast<uint16_t>(parameters.values.size()));
      for (size_t i = 0; i < parameters.values.size(); ++i) {
        if (!parameters.value_names.empty()) AppendString(out_, parameters.value_names[i]);
        AppendValue(out_, parameters.values[i]);
      }
    }
    if (parameters.page_size) AppendInt(out_, *parameters.page_size);
    if (!parameters.paging_state.empty()) AppendBytes(out_, parameters.paging_state);
    AppendConsistency(out_, parameters.serial_consistency);
    if (parameters.default_timestamp) {
      out_.AppendBigEndian64(static_cast<uint64_t>(*parameters.default_timestamp));
    }
  }

  OutputBuffer& out_;
};

// Encodes `request` and decodes it; what comes out encodes to the same bytes.
void CheckComesBack(const FrameHeader& header, Extensions negotiated, const Request& request) {
  OutputBuffer encoded;
  std::visit(RequestEncoder(encoded), request.message);
  FrameHeader plain = header;
  plain.flags = 0;
  RequestScratch scratch;
  Request again;
  const std::optional<ProtocolError> error =
      DecodeRequest(plain, encoded.view(), negotiated, scratch, again);
  LS_CHECK(!error, "what was decoded once can be decoded again");
  LS_CHECK(again.message.index() == request.message.index(), "a request keeps its kind");
  OutputBuffer encoded_again;
  std::visit(RequestEncoder(encoded_again), again.message);
  LS_CHECK(encoded.view() == encoded_again.view(), "a request comes back as it was");
}

const QueryParameters* ParametersOf(const Request& request) {
  return std::visit(
      [](const auto& message) -> const QueryParameters* {
        if constexpr (requires { message.parameters; }) return &message.parameters;
        return nullptr;
      },
      request.message);
}

class Connection {
 public:
  explicit Connection(uint8_t settings)
      : compression_(static_cast<Compression>(settings % 3)),
        negotiated_{(settings & 4) != 0, (settings & 8) != 0, (settings & 16) != 0,
                    (settings & 32) != 0} {}

  void Receive(std::string_view stream) {
    FrameCutter cutter(kBodyBytesMax);
    Frame frame;
    for (;;) {
      switch (cutter.Next(stream, frame)) {
        case FrameCutter::Outcome::kFrame:
          LS_CHECK(frame.bytes() <= stream.size(), "a frame lies in what was received");
          Handle(frame);
          stream.remove_prefix(frame.bytes());
          continue;
        case FrameCutter::Outcome::kIncomplete:
          LS_CHECK(cutter.bytes_missing() > 0, "an incomplete frame lacks something");
          return;
        case FrameCutter::Outcome::kRefused:
          out_.Clear();
          EncodeRefusal(out_, cutter.refusal());
          CheckAnswer();
          return;
      }
    }
  }

 private:
  void Handle(const Frame& frame) {
    std::string_view body = frame.body;
    if ((frame.header.flags & kFrameCompressed) != 0) {
      if (const auto error = DecompressBody(compression_, body, kBodyBytesMax, body_)) {
        return Answer(frame.header, *error);
      }
      body = body_.view();
    }
    if (const auto error = DecodeRequest(frame.header, body, negotiated_, scratch_, request_)) {
      return Answer(frame.header, *error);
    }
    LS_CHECK(!CheckOpcode(ConnectionPhase::kReady, frame.header.opcode) ||
                 std::holds_alternative<Startup>(request_.message),
             "what is decoded has its place");
    CheckComesBack(frame.header, negotiated_, request_);
    if (const QueryParameters* parameters = ParametersOf(request_)) {
      Page(frame.header, *parameters);
    }
    if (const auto* response = std::get_if<AuthResponse>(&request_.message);
        response != nullptr && response->token.has_bytes()) {
      (void)ParsePlainToken(response->token.bytes());
    }
  }

  ResponseContext ContextOf(const FrameHeader& header) const {
    ResponseContext context;
    context.version = header.version;
    context.stream = header.stream;
    context.extensions = negotiated_;
    return context;
  }

  void Answer(const FrameHeader& header, const ProtocolError& error) {
    out_.Clear();
    EncodeError(out_, ContextOf(header), error);
    CheckAnswer();
  }

  // Answers with the values as the rows of a single column.
  void Page(const FrameHeader& header, const QueryParameters& parameters) {
    (void)DecodePagingState(parameters.paging_state);
    const DataType type = CqlType::kBlob;
    const ColumnSpec column = {"ks", "t", "c", &type};
    ColumnsMetadata columns;
    LS_CHECK(!columns.Assign({&column, 1}), "short names fit");
    ResponseContext context = ContextOf(header);
    context.warnings = parameters.value_names;
    out_.Clear();
    RowsEncoder rows(out_, context, columns, {.skip_metadata = parameters.skip_metadata});
    for (const Value& value : parameters.values) {
      rows.Append(value.is_unset() ? Value::Null() : value);
      rows.EndRow();
    }
    rows.Finish(parameters.paging_state);
    CheckAnswer();
  }

  // The buffer is one response frame; compressed, it decompresses to the same.
  void CheckAnswer() {
    LS_CHECK(out_.size() >= kFrameHeaderBytes, "an answer has a header");
    LS_CHECK(out_.BigEndian32At(5) == out_.size() - kFrameHeaderBytes, "its length is right");
    const std::string plain(out_.ViewFrom(kFrameHeaderBytes));
    OutputBuffer scratch;
    CompressFrame(compression_, 0, out_, scratch);
    const std::string_view body = out_.ViewFrom(kFrameHeaderBytes);
    if ((static_cast<uint8_t>(out_.view()[1]) & kFrameCompressed) == 0) {
      LS_CHECK(body == plain, "what is not compressed stays");
      return;
    }
    OutputBuffer decompressed;
    LS_CHECK(!DecompressBody(compression_, body, kFrameBodyBytesMax, decompressed),
             "an answer can be decompressed");
    LS_CHECK(decompressed.view() == plain, "compression loses nothing");
  }

  const Compression compression_;
  const Extensions negotiated_;
  OutputBuffer body_;
  OutputBuffer out_;
  RequestScratch scratch_;
  Request request_;
};

}  // namespace
}  // namespace liststore::protocol

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  liststore::protocol::Connection connection(data[0]);
  connection.Receive({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
