#include "programs/client/cql_client.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/protocol/primitives.h"

namespace liststore {
namespace {

constexpr size_t kHeaderBytes = 9;
constexpr uint8_t kRequestVersion = 0x04;
constexpr uint8_t kReplyVersion = 0x84;
constexpr size_t kReplyBytesMax = size_t{256} << 20;  // the specification's limit
constexpr size_t kQuotedBytesMax = 120;               // of a statement, in messages

enum Opcode : uint8_t {
  kError = 0x00,
  kStartup = 0x01,
  kReady = 0x02,
  kAuthenticate = 0x03,
  kQuery = 0x07,
  kResult = 0x08,
  kPrepare = 0x09,
  kExecute = 0x0a,
  kBatch = 0x0d,
  kAuthResponse = 0x0f,
  kAuthSuccess = 0x10,
};
enum ResultKind : int32_t {
  kRows = 2,
  kPrepared = 4,
};
constexpr uint8_t kWithWarnings = 0x08;  // a flag of a frame

// Flags of QUERY, EXECUTE and BATCH.
enum : uint8_t {
  kWithValues = 0x01,
  kSkipMetadata = 0x02,
  kWithPageSize = 0x04,
  kWithPagingState = 0x08,
  kWithTimestamp = 0x20,
};

// Flags of the metadata of rows.
enum : int32_t {
  kGlobalTable = 0x01,
  kHasMorePages = 0x02,
  kNoMetadata = 0x04,
};

// Passes over an [option], the type of a column; false: not one of those.
bool SkipType(protocol::BodyReader& reader, int depth = 0) {
  constexpr int kDepthMax = 16;
  const uint16_t type = reader.ReadShort();
  if (depth > kDepthMax) return false;
  if (type == 0x00) reader.ReadString();  // custom
  if (type == 0x20 || type == 0x22) return SkipType(reader, depth + 1);
  if (type == 0x21) return SkipType(reader, depth + 1) && SkipType(reader, depth + 1);
  if (type == 0x31) {  // tuple
    for (uint16_t i = reader.ReadShort(); i > 0 && reader.ok(); --i) {
      if (!SkipType(reader, depth + 1)) return false;
    }
  }
  if (type == 0x30) {  // user-defined: keyspace, name, and a name for each field
    reader.ReadString();
    reader.ReadString();
    for (uint16_t i = reader.ReadShort(); i > 0 && reader.ok(); --i) {
      reader.ReadString();
      if (!SkipType(reader, depth + 1)) return false;
    }
  }
  return reader.ok();
}

// Where statuses keep the words of an ERROR apart from what they say of the request.
constexpr char kServerWords[] = "liststore/server-words";

std::string_view QuotedStatement(std::string_view text) { return text.substr(0, kQuotedBytesMax); }

}  // namespace

std::string CqlInt(int32_t value) {
  std::string bytes(sizeof(value), '\0');
  StoreBigEndian32(bytes.data(), static_cast<uint32_t>(value));
  return bytes;
}

std::string CqlBigint(int64_t value) {
  std::string bytes(sizeof(value), '\0');
  StoreBigEndian64(bytes.data(), static_cast<uint64_t>(value));
  return bytes;
}

void CqlValues::Add(std::string_view value) {
  bytes_ += CqlInt(static_cast<int32_t>(value.size()));
  bytes_ += value;
  ++size_;
}

void CqlValues::AddUnset() {
  constexpr int32_t kUnset = -2;
  bytes_ += CqlInt(kUnset);
  ++size_;
}

void CqlValues::Clear() {
  bytes_.clear();
  size_ = 0;
}

// --- Requests ------------------------------------------------------------------------------------

void CqlRequests::Begin(int16_t stream, uint8_t opcode) {
  frame_ = bytes_.size();
  bytes_.append(kHeaderBytes, '\0');
  char* const header = bytes_.data() + frame_;
  header[0] = static_cast<char>(kRequestVersion);
  StoreBigEndian16(header + 2, static_cast<uint16_t>(stream));
  header[4] = static_cast<char>(opcode);
}

void CqlRequests::End() {
  StoreBigEndian32(bytes_.data() + frame_ + 5,
                   static_cast<uint32_t>(bytes_.size() - frame_ - kHeaderBytes));
}

void CqlRequests::Short(size_t value) {
  LS_CHECK(value <= 0xffff, "a [short] has 16 bits");
  char bytes[2];
  StoreBigEndian16(bytes, static_cast<uint16_t>(value));
  bytes_.append(bytes, sizeof(bytes));
}

void CqlRequests::Int(size_t value) {
  LS_CHECK(value <= 0x7fffffff, "a length is a positive [int]");
  char bytes[4];
  StoreBigEndian32(bytes, static_cast<uint32_t>(value));
  bytes_.append(bytes, sizeof(bytes));
}

void CqlRequests::Bytes(std::string_view value) {
  Int(value.size());
  bytes_.append(value);
}

void CqlRequests::AppendValues(Values values) {
  Short(values.size());
  for (const std::string_view value : values) Bytes(value);
}

void CqlRequests::Parameters(Values values, const CqlParameters& parameters) {
  Short(parameters.consistency);
  uint8_t flags = 0;
  if (!values.empty()) flags |= kWithValues;
  if (parameters.skip_metadata) flags |= kSkipMetadata;
  if (parameters.page_size > 0) flags |= kWithPageSize;
  if (!parameters.paging_state.empty()) flags |= kWithPagingState;
  if (parameters.timestamp_micros) flags |= kWithTimestamp;
  bytes_.push_back(static_cast<char>(flags));
  if (!values.empty()) AppendValues(values);
  if (parameters.page_size > 0) Int(static_cast<size_t>(parameters.page_size));
  if (!parameters.paging_state.empty()) Bytes(parameters.paging_state);
  if (parameters.timestamp_micros) bytes_.append(CqlBigint(*parameters.timestamp_micros));
}

void CqlRequests::Startup(int16_t stream) {
  constexpr std::string_view kKey = "CQL_VERSION", kValue = "3.0.0";
  Begin(stream, kStartup);
  Short(1);
  Short(kKey.size());
  bytes_.append(kKey);
  Short(kValue.size());
  bytes_.append(kValue);
  End();
}

void CqlRequests::AuthResponse(int16_t stream, const CqlCredentials& credentials) {
  Begin(stream, kAuthResponse);
  Bytes(std::string(1, '\0') + credentials.user + '\0' + credentials.password);
  End();
}

void CqlRequests::Query(int16_t stream, std::string_view text, Values values,
                        const CqlParameters& parameters) {
  Begin(stream, kQuery);
  Bytes(text);
  Parameters(values, parameters);
  End();
}

void CqlRequests::Prepare(int16_t stream, std::string_view text) {
  Begin(stream, kPrepare);
  Bytes(text);
  End();
}

void CqlRequests::Execute(int16_t stream, std::string_view statement_id, Values values,
                          const CqlParameters& parameters) {
  Begin(stream, kExecute);
  Short(statement_id.size());
  bytes_.append(statement_id);
  Parameters(values, parameters);
  End();
}

void CqlRequests::Execute(int16_t stream, std::string_view statement_id, const CqlValues& values,
                          const CqlParameters& parameters) {
  LS_DCHECK(values.size() > 0, "the flag says that there are values");
  Begin(stream, kExecute);
  Short(statement_id.size());
  bytes_.append(statement_id);
  Short(parameters.consistency);
  bytes_.push_back(static_cast<char>(kWithValues));
  Short(values.size());
  bytes_.append(values.bytes());
  End();
}

void CqlRequests::Batch(int16_t stream, std::span<const Execution> executions,
                        std::optional<int64_t> timestamp_micros) {
  constexpr char kLogged = 0, kOfPrepared = 1;
  Begin(stream, kBatch);
  bytes_.push_back(kLogged);
  Short(executions.size());
  for (const Execution& execution : executions) {
    bytes_.push_back(kOfPrepared);
    Short(execution.statement_id.size());
    bytes_.append(execution.statement_id);
    AppendValues(execution.values);
  }
  Short(kCqlOne);
  bytes_.push_back(static_cast<char>(timestamp_micros ? kWithTimestamp : 0));
  if (timestamp_micros) bytes_.append(CqlBigint(*timestamp_micros));
  End();
}

void CqlRequests::UnloggedBatch(int16_t stream, std::string_view statement_id,
                                std::span<const CqlValues> values, uint16_t consistency) {
  constexpr char kUnlogged = 1, kOfPrepared = 1;
  Begin(stream, kBatch);
  bytes_.push_back(kUnlogged);
  Short(values.size());
  for (const CqlValues& one : values) {
    bytes_.push_back(kOfPrepared);
    Short(statement_id.size());
    bytes_.append(statement_id);
    Short(one.size());
    bytes_.append(one.bytes());
  }
  Short(consistency);
  bytes_.push_back(0);
  End();
}

// --- Rows ----------------------------------------------------------------------------------------

std::string_view CqlRows::at(size_t row, size_t column) const {
  const Place& cell = Cell(row, column);
  if (cell.bytes <= 0) return {};
  return std::string_view(body_).substr(cell.offset, static_cast<size_t>(cell.bytes));
}

int64_t CqlRows::Integer(size_t row, size_t column) const {
  const std::string_view value = at(row, column);
  if (value.size() == 4) return static_cast<int32_t>(LoadBigEndian32(value.data()));
  return value.size() == 8 ? static_cast<int64_t>(LoadBigEndian64(value.data())) : 0;
}

std::string ServerWords(const absl::Status& status) {
  const absl::optional<absl::Cord> words = status.GetPayload(kServerWords);
  return words ? std::string(*words) : "";
}

absl::Status CqlRows::Decode(std::string_view body, CqlRows* rows) {
  const absl::Status malformed = absl::InvalidArgumentError("a RESULT that cannot be read");
  rows->body_.assign(body);
  rows->cells_.clear();
  rows->columns_ = 0;
  rows->paging_state_.clear();
  protocol::BodyReader reader(rows->body_);
  if (reader.ReadInt() != kRows) return reader.ok() ? absl::OkStatus() : malformed;

  const int32_t flags = reader.ReadInt();
  const int32_t columns = reader.ReadInt();
  if (flags & kHasMorePages) {
    const protocol::Value state = reader.ReadBytes();
    if (state.has_bytes()) rows->paging_state_.assign(state.bytes());
  }
  if (!reader.ok() || columns <= 0 || columns > 0xffff) return malformed;
  if (!(flags & kNoMetadata)) {
    const auto skip_names = [&reader](int count) {
      while (count-- > 0) reader.ReadString();
    };
    if (flags & kGlobalTable) skip_names(2);
    for (int32_t i = 0; i < columns; ++i) {
      skip_names(flags & kGlobalTable ? 1 : 3);
      if (!SkipType(reader)) return malformed;
    }
  }
  const int32_t count = reader.ReadInt();
  rows->columns_ = static_cast<size_t>(columns);
  for (int64_t left = int64_t{count} * columns; left > 0 && reader.ok(); --left) {
    const protocol::Value value = reader.ReadBytes();
    if (!value.has_bytes()) {
      rows->cells_.push_back({});
      continue;
    }
    const std::string_view bytes = value.bytes();
    const size_t offset =
        bytes.empty() ? 0 : static_cast<size_t>(bytes.data() - rows->body_.data());
    rows->cells_.push_back({offset, static_cast<int32_t>(bytes.size())});
  }
  return reader.ok() && count >= 0 ? absl::OkStatus() : malformed;
}

// --- The connection ------------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<CqlClient>> CqlClient::Connect(std::string_view server,
                                                              const CqlCredentials& credentials,
                                                              const ClientTlsOptions& tls) {
  LS_ASSIGN_OR_RETURN(std::unique_ptr<ClientSocket> socket, ClientSocket::Connect(server, tls));
  std::unique_ptr<CqlClient> client(new CqlClient(std::move(socket)));
  client->requests_.Startup(0);
  LS_ASSIGN_OR_RETURN(const CqlReply reply, client->Ask("STARTUP"));
  if (reply.opcode == kAuthenticate) {
    LS_RETURN_IF_ERROR(client->Authenticate(credentials));
    return client;
  }
  if (reply.opcode == kReady) return client;
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: STARTUP was answered with opcode 0x%02x, not READY", client->server(), reply.opcode));
}

absl::Status CqlClient::Authenticate(const CqlCredentials& credentials) {
  if (credentials.user.empty()) {
    return absl::UnauthenticatedError(
        absl::StrCat(server(), ": the server asks for a name and password, and none was given"));
  }
  requests_.AuthResponse(0, credentials);
  const absl::StatusOr<CqlReply> reply = Ask(absl::StrCat("login of ", credentials.user));
  if (!reply.ok()) {
    if (!absl::IsInvalidArgument(reply.status())) return reply.status();
    return absl::UnauthenticatedError(reply.status().message());
  }
  if (reply->opcode == kAuthSuccess) return absl::OkStatus();
  return absl::UnauthenticatedError(
      absl::StrCat(server(), ": the server wants more than a name and a password"));
}

absl::Status CqlClient::Malformed(std::string_view what) const {
  return absl::InvalidArgumentError(
      absl::StrCat(server(), ": ", ToAbsl(what), ": answered with what is not CQL version 4"));
}

absl::Status CqlClient::Break(const absl::Status& why) {
  if (broken_.ok()) broken_ = why;
  return why;
}

absl::Status CqlClient::Send() {
  LS_RETURN_IF_ERROR(broken_);
  if (const absl::Status sent = socket_->Send(requests_.view()); !sent.ok()) return Break(sent);
  requests_.Clear();
  return absl::OkStatus();
}

absl::Status CqlClient::Receive() {
  LS_RETURN_IF_ERROR(broken_);
  const absl::Status received = socket_->Receive();
  return received.ok() ? received : Break(received);
}

bool CqlClient::Take(CqlReply* reply) {
  const std::string_view received = socket_->received();
  if (!broken_.ok() || received.size() < kHeaderBytes) return false;
  const char* const header = received.data();
  const size_t bytes = LoadBigEndian32(header + 5);
  if (static_cast<uint8_t>(header[0]) != kReplyVersion || bytes > kReplyBytesMax) {
    Break(Malformed("receiving")).IgnoreError();  // the next Receive says so
    return false;
  }
  if (received.size() - kHeaderBytes < bytes) return false;
  socket_->Take(kHeaderBytes + bytes);
  reply->stream = static_cast<int16_t>(LoadBigEndian16(header + 2));
  reply->opcode = static_cast<uint8_t>(header[4]);
  reply->body = {header + kHeaderBytes, bytes};
  if (static_cast<uint8_t>(header[1]) & kWithWarnings) {
    protocol::BodyReader reader(reply->body);
    for (uint16_t left = reader.ReadShort(); left > 0 && reader.ok(); --left) {
      if (warnings_.size() == kWarningsMax) warnings_.erase(warnings_.begin());
      warnings_.emplace_back(reader.ReadString());
    }
    reply->body = reader.rest();
  }
  return true;
}

std::optional<CqlErrorReply> ErrorOf(const CqlReply& reply) {
  if (reply.opcode != kError) return std::nullopt;
  protocol::BodyReader reader(reply.body);
  CqlErrorReply error;
  error.code = reader.ReadInt();
  error.text = reader.ReadString();
  if (!reader.ok()) return std::nullopt;
  return error;
}

absl::Status CqlClient::ErrorIn(const CqlReply& reply, std::string_view what) const {
  if (reply.opcode != kError) return absl::OkStatus();
  const std::optional<CqlErrorReply> error = ErrorOf(reply);
  if (!error) return Malformed(what);
  const std::string words = absl::StrFormat("error 0x%04x: %s", error->code, ToAbsl(error->text));
  absl::Status status =
      absl::InvalidArgumentError(absl::StrCat(server(), ": ", ToAbsl(what), ": ", words));
  status.SetPayload(kServerWords, absl::Cord(words));
  return status;
}

absl::StatusOr<CqlReply> CqlClient::Ask(std::string_view what) {
  if (const absl::Status sent = Send(); !sent.ok()) {
    return absl::Status(sent.code(), absl::StrCat(sent.message(), " ", ToAbsl(what)));
  }
  CqlReply reply;
  while (!Take(&reply)) {
    if (!broken_.ok()) return Malformed(what);
    if (const absl::Status received = Receive(); !received.ok()) {
      return absl::Status(received.code(),
                          absl::StrCat(received.message(), " (", ToAbsl(what), ")"));
    }
  }
  // An answer to another request: all that follow would be one off.
  if (reply.stream != 0) return Break(Malformed(what));
  LS_RETURN_IF_ERROR(ErrorIn(reply, what));
  return reply;
}

absl::StatusOr<CqlRows> CqlClient::Query(std::string_view text, Values values,
                                         const CqlParameters& parameters) {
  requests_.Query(0, text, values, parameters);
  LS_ASSIGN_OR_RETURN(const CqlReply reply, Ask(QuotedStatement(text)));
  CqlRows rows;
  if (reply.opcode != kResult || !CqlRows::Decode(reply.body, &rows).ok()) {
    return Break(Malformed(QuotedStatement(text)));
  }
  return rows;
}

absl::StatusOr<std::string> CqlClient::Prepare(std::string_view text) {
  requests_.Prepare(0, text);
  LS_ASSIGN_OR_RETURN(const CqlReply reply, Ask(QuotedStatement(text)));
  protocol::BodyReader reader(reply.body);
  const int32_t kind = reader.ReadInt();
  const std::string_view id = reader.ReadShortBytes();
  if (reply.opcode != kResult || kind != kPrepared || !reader.ok()) {
    return Break(Malformed(QuotedStatement(text)));
  }
  return std::string(id);
}

absl::Status CqlClient::Execute(std::string_view what, std::string_view statement_id, Values values,
                                const CqlParameters& parameters, CqlRows* rows) {
  requests_.Execute(0, statement_id, values, parameters);
  LS_ASSIGN_OR_RETURN(const CqlReply reply, Ask(what));
  if (reply.opcode == kResult && CqlRows::Decode(reply.body, rows).ok()) return absl::OkStatus();
  return Break(Malformed(what));
}

absl::Status CqlClient::Batch(std::string_view what,
                              std::span<const CqlRequests::Execution> executions,
                              std::optional<int64_t> timestamp_micros) {
  requests_.Batch(0, executions, timestamp_micros);
  LS_ASSIGN_OR_RETURN(const CqlReply reply, Ask(what));
  return reply.opcode == kResult ? absl::OkStatus() : Break(Malformed(what));
}

}  // namespace liststore
