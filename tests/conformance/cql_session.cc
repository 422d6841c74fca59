#include "tests/conformance/cql_session.h"

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/protocol/primitives.h"

namespace liststore::testing {
namespace {

// Opcodes, flags and kinds: native_protocol_v4.spec, sections 2.4, 4.1.4 and 4.2.5.
constexpr uint8_t kStartup = 0x01;
constexpr uint8_t kAuthenticate = 0x03;
constexpr uint8_t kQuery = 0x07;
constexpr uint8_t kResult = 0x08;
constexpr uint8_t kPrepare = 0x09;
constexpr uint8_t kExecute = 0x0a;
constexpr uint8_t kBatch = 0x0d;
constexpr uint8_t kAuthResponse = 0x0f;
constexpr uint8_t kAuthSuccess = 0x10;
constexpr uint8_t kWarningFlag = 0x08;
constexpr int32_t kRowsKind = 2;
constexpr int32_t kPreparedKind = 4;
constexpr int32_t kUnprepared = 0x2500;
constexpr size_t kPreparedMax = 200;

void AppendShortTo(std::string& body, size_t value) {
  char bytes[2];
  StoreBigEndian16(bytes, static_cast<uint16_t>(value));
  body.append(bytes, sizeof(bytes));
}
void AppendInt(std::string& body, int64_t value) {
  char bytes[4];
  StoreBigEndian32(bytes, static_cast<uint32_t>(value));
  body.append(bytes, sizeof(bytes));
}
void AppendLong(std::string& body, int64_t value) {
  char bytes[8];
  StoreBigEndian64(bytes, static_cast<uint64_t>(value));
  body.append(bytes, sizeof(bytes));
}

void AppendValues(std::string& body, const std::vector<BoundParameter>& parameters) {
  AppendShortTo(body, parameters.size());
  for (const BoundParameter& parameter : parameters) {
    if (!parameter.name.empty()) {
      AppendShortTo(body, parameter.name.size());
      body += parameter.name;
    }
    if (parameter.unset || !parameter.bytes) {
      AppendInt(body, parameter.unset ? -2 : -1);
    } else {
      AppendInt(body, static_cast<int64_t>(parameter.bytes->size()));
      body += *parameter.bytes;
    }
  }
}

void AppendParameters(std::string& body, const CqlStatement& statement,
                      const CqlParameters& parameters) {
  AppendShortTo(body, 1);  // ONE
  int flags = 0;
  if (!statement.parameters.empty()) flags |= 0x01;
  if (!statement.parameters.empty() && !statement.parameters[0].name.empty()) flags |= 0x40;
  if (parameters.page_size) flags |= 0x04;
  if (!parameters.paging_state.empty()) flags |= 0x08;
  if (parameters.default_timestamp) flags |= 0x20;
  body += static_cast<char>(flags);
  if (!statement.parameters.empty()) AppendValues(body, statement.parameters);
  if (parameters.page_size) AppendInt(body, *parameters.page_size);
  if (!parameters.paging_state.empty()) body += BytesBody(parameters.paging_state);
  if (parameters.default_timestamp) AppendLong(body, *parameters.default_timestamp);
}

// One [option] of a column's type. Source: native_protocol_v4.spec, section 4.2.5.2.
void SkipType(protocol::BodyReader& reader) {
  constexpr uint16_t kCustom = 0x00;
  constexpr uint16_t kList = 0x20;
  constexpr uint16_t kMap = 0x21;
  constexpr uint16_t kSet = 0x22;
  constexpr uint16_t kUserType = 0x30;
  constexpr uint16_t kTuple = 0x31;
  const uint16_t type = reader.ReadShort();
  if (type == kCustom) reader.ReadString();
  if (type == kList || type == kSet || type == kMap) SkipType(reader);
  if (type == kMap) SkipType(reader);
  if (type != kUserType && type != kTuple) return;
  if (type == kUserType) {
    reader.ReadString();
    reader.ReadString();
  }
  for (uint16_t left = reader.ReadShort(); left > 0 && reader.ok(); --left) {
    if (type == kUserType) reader.ReadString();
    SkipType(reader);
  }
}

void SkipColumns(protocol::BodyReader& reader, int32_t count, bool global) {
  if (global) {
    reader.ReadString();
    reader.ReadString();
  }
  for (int32_t i = 0; i < count && reader.ok(); ++i) {
    if (!global) {
      reader.ReadString();
      reader.ReadString();
    }
    reader.ReadString();
    SkipType(reader);
  }
}

void DecodeRows(protocol::BodyReader& reader, CqlAnswer& answer) {
  const int32_t flags = reader.ReadInt();
  const int32_t columns = reader.ReadInt();
  if ((flags & 0x02) != 0) answer.paging_state = reader.ReadBytes().bytes();
  if ((flags & 0x04) == 0) SkipColumns(reader, columns, (flags & 0x01) != 0);
  const int32_t rows = reader.ReadInt();
  for (int32_t i = 0; i < rows && reader.ok(); ++i) {
    ResultRow row;
    for (int32_t j = 0; j < columns; ++j) {
      const protocol::Value value = reader.ReadBytes();
      row.push_back(value.has_bytes() ? std::optional(std::string(value.bytes())) : std::nullopt);
    }
    answer.rows.push_back(std::move(row));
  }
}

}  // namespace

CqlSession::CqlSession(uint16_t port, const std::string& address) : client_(port, address) {
  LS_CHECK(client_.StartUp(), "the server is there");
}

CqlSession::CqlSession(uint16_t port, const std::string& address, int seconds_max)
    : client_(port, address) {
  client_.SetTimeout(seconds_max);
  client_.BearLateness();
  const bool is_ready = client_.StartUp();
  LS_CHECK(is_ready || client_.is_late(), "the server is there");
}

CqlSession::CqlSession(uint16_t port, const CqlLogin& login) : client_(port) {
  const auto asked = client_.Ask({.opcode = kStartup, .body = StartupBody()});
  LS_CHECK(asked && asked->opcode == kAuthenticate, "the server asks who it is");
  std::string token(1, '\0');
  token.append(login.user).append(1, '\0').append(login.password);
  const auto answer = client_.Ask({.opcode = kAuthResponse, .body = BytesBody(token)});
  if (!answer) {
    login_error_ = "the connection has ended";
  } else if (answer->opcode != kAuthSuccess) {
    login_error_ = ErrorMessageOf(*answer);
  }
}

CqlAnswer CqlSession::Ask(uint8_t opcode, std::string body) {
  CqlAnswer answer;
  const std::optional<RawFrame> frame =
      client_.Ask({.stream = 1, .opcode = opcode, .body = std::move(body)});
  if (!frame) {
    answer.error = "the connection has ended";
    return answer;
  }
  protocol::BodyReader reader(frame->body);
  if ((frame->flags & kWarningFlag) != 0) {
    for (uint16_t left = reader.ReadShort(); left > 0; --left) {
      answer.warnings.emplace_back(reader.ReadString());
    }
  }
  if (frame->opcode != kResult) {
    RawFrame error = *frame;
    error.body = std::string(reader.rest());
    answer.error = ErrorMessageOf(error);
    answer.code = reader.ReadInt();
    return answer;
  }
  const int32_t kind = reader.ReadInt();
  if (kind == kRowsKind) DecodeRows(reader, answer);
  if (kind == kPreparedKind) answer.rows = {{std::string(reader.ReadShortBytes())}};
  if (!reader.ok()) answer.error = "the result is cut off";
  return answer;
}

std::string CqlSession::Prepare(const std::string& text, CqlAnswer& answer) {
  const auto known = prepared_.find(text);
  if (known != prepared_.end()) return known->second;
  answer = Ask(kPrepare, BytesBody(text));
  if (!answer.error.empty()) return {};
  std::string id = std::exchange(answer.rows, {}).at(0).at(0).value();
  // No more than a server keeps.
  if (prepared_.size() == kPreparedMax) prepared_.clear();
  return prepared_[text] = std::move(id);
}

bool CqlSession::AppendStatement(const CqlStatement& statement, std::string& body,
                                 CqlAnswer& answer) {
  if (!statement.prepared) {
    body += BytesBody(statement.text);
    return true;
  }
  const std::string id = Prepare(statement.text, answer);
  if (!answer.error.empty()) return false;
  AppendShortTo(body, id.size());
  body += id;
  return true;
}

CqlAnswer CqlSession::AskPrepared(const std::function<CqlAnswer()>& ask) {
  CqlAnswer answer = ask();
  if (answer.code != kUnprepared) return answer;
  prepared_.clear();
  return ask();
}

CqlAnswer CqlSession::Run(const CqlStatement& statement, const CqlParameters& parameters) {
  const auto ask = [&] {
    std::string body;
    CqlAnswer answer;
    if (!AppendStatement(statement, body, answer)) return answer;
    AppendParameters(body, statement, parameters);
    return Ask(statement.prepared ? kExecute : kQuery, std::move(body));
  };
  return AskPrepared(ask);
}

CqlAnswer CqlSession::RunBatch(bool logged, const std::vector<CqlStatement>& statements,
                               std::optional<int64_t> default_timestamp) {
  return RunBatchOf(logged ? BatchKind::kLogged : BatchKind::kUnlogged, statements,
                    default_timestamp);
}

CqlAnswer CqlSession::RunCounterBatch(const std::vector<CqlStatement>& statements) {
  return RunBatchOf(BatchKind::kCounter, statements, std::nullopt);
}

CqlAnswer CqlSession::RunBatchOf(BatchKind kind, const std::vector<CqlStatement>& statements,
                                 std::optional<int64_t> default_timestamp) {
  const auto ask = [&] {
    std::string body(1, static_cast<char>(kind));
    AppendShortTo(body, statements.size());
    for (const CqlStatement& statement : statements) {
      body += static_cast<char>(statement.prepared);
      CqlAnswer answer;
      if (!AppendStatement(statement, body, answer)) return answer;
      AppendValues(body, statement.parameters);
    }
    AppendShortTo(body, 1);  // ONE
    body += default_timestamp ? '\x20' : '\0';
    if (default_timestamp) AppendLong(body, *default_timestamp);
    return Ask(kBatch, std::move(body));
  };
  return AskPrepared(ask);
}

}  // namespace liststore::testing
