#include "tests/opinion/opinion_session.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/protocol/primitives.h"

namespace liststore::testing {
namespace {

// Opcodes, flags and kinds: native_protocol_v4.spec, sections 2.4, 4.1.4 and 4.2.5.
constexpr uint8_t kError = 0x00;
constexpr uint8_t kQuery = 0x07;
constexpr uint8_t kPrepare = 0x09;
constexpr uint8_t kExecute = 0x0a;
constexpr uint8_t kBatch = 0x0d;
constexpr uint8_t kWarningFlag = 0x08;

void AppendShortTo(std::string& body, size_t value) {
  char bytes[2];
  StoreBigEndian16(bytes, static_cast<uint16_t>(value));
  body.append(bytes, sizeof(bytes));
}
void AppendIntTo(std::string& body, int64_t value) {
  char bytes[4];
  StoreBigEndian32(bytes, static_cast<uint32_t>(value));
  body.append(bytes, sizeof(bytes));
}
void AppendLongTo(std::string& body, int64_t value) {
  char bytes[8];
  StoreBigEndian64(bytes, static_cast<uint64_t>(value));
  body.append(bytes, sizeof(bytes));
}

uint16_t ConsistencyOf(const std::string& name) {
  constexpr const char* kAll[] = {"ANY",    "ONE",          "TWO",          "THREE",
                                  "QUORUM", "ALL",          "LOCAL_QUORUM", "EACH_QUORUM",
                                  "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE"};
  for (uint16_t i = 0; i < std::size(kAll); ++i) {
    if (name == kAll[i]) return i;
  }
  LS_CHECK(false, "a consistency level has one of these names");
  return 0;
}

const std::string* Find(const OpinionStep& step, const std::string& option) {
  const auto found = step.options.find(option);
  return found == step.options.end() ? nullptr : &found->second;
}

struct Columns {
  std::vector<std::string> names;
  std::vector<WireType> types;
};

Columns ReadColumns(protocol::BodyReader& reader, int32_t flags, int32_t count) {
  Columns columns;
  const bool global = (flags & 0x01) != 0;
  for (int i = 0; i < 2 && global; ++i) reader.ReadString();
  for (int32_t i = 0; i < count && reader.ok(); ++i) {
    for (int j = 0; j < 2 && !global; ++j) reader.ReadString();
    columns.names.emplace_back(reader.ReadString());
    columns.types.push_back(ReadWireType(reader));
  }
  return columns;
}

std::string Join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string TypesText(const Columns& columns) {
  std::vector<std::string> items;
  for (size_t i = 0; i < columns.names.size(); ++i) {
    items.push_back(columns.names[i] + " " + ToText(columns.types[i]));
  }
  return Join(items);
}

Columns ReadResultColumns(protocol::BodyReader& reader, OpinionAnswer& answer) {
  const int32_t flags = reader.ReadInt();
  const int32_t count = reader.ReadInt();
  if ((flags & 0x02) != 0) answer.paging_state = reader.ReadBytes().bytes();
  Columns columns;
  if ((flags & 0x04) == 0) columns = ReadColumns(reader, flags, count);
  answer.columns = Join(columns.names);
  answer.types = TypesText(columns);
  return columns;
}

void ReadRows(protocol::BodyReader& reader, OpinionAnswer& answer) {
  const Columns columns = ReadResultColumns(reader, answer);
  const int32_t rows = reader.ReadInt();
  for (int32_t i = 0; i < rows && reader.ok(); ++i) {
    std::vector<std::string> cells;
    for (const WireType& type : columns.types) {
      const protocol::Value value = reader.ReadBytes();
      cells.push_back(ToLiteral(
          type, value.has_bytes() ? std::optional(std::string(value.bytes())) : std::nullopt));
    }
    answer.rows.push_back(Join(cells));
  }
  answer.kind = "rows";
}

// "prepared a int, b text; key 0"
Columns ReadPrepared(protocol::BodyReader& reader, OpinionAnswer& answer) {
  const int32_t flags = reader.ReadInt();
  const int32_t count = reader.ReadInt();
  std::vector<std::string> key;
  for (int32_t left = reader.ReadInt(); left > 0 && reader.ok(); --left) {
    key.push_back(std::to_string(reader.ReadShort()));
  }
  Columns markers = ReadColumns(reader, flags, count);
  answer.kind = "prepared";
  if (count > 0) answer.kind += " " + TypesText(markers);
  if (!key.empty()) answer.kind += "; key " + Join(key);
  ReadResultColumns(reader, answer);
  return markers;
}

std::string SchemaChangeText(protocol::BodyReader& reader) {
  std::string text = "schema " + std::string(reader.ReadString());
  const std::string target(reader.ReadString());
  text += " " + target + " " + std::string(reader.ReadString());
  if (target != "KEYSPACE") text += " " + std::string(reader.ReadString());
  return text;
}

}  // namespace

OpinionSession::OpinionSession(uint16_t port) : client_(port) {
  LS_CHECK(client_.StartUp(), "the server is there");
}

OpinionAnswer OpinionSession::Ask(uint8_t opcode, std::string body) {
  OpinionAnswer answer;
  const std::optional<RawFrame> frame =
      client_.Ask({.stream = 1, .opcode = opcode, .body = std::move(body)});
  if (!frame) {
    answer.kind = "error: the connection has ended";
    return answer;
  }
  protocol::BodyReader reader(frame->body);
  if ((frame->flags & kWarningFlag) != 0) {
    for (uint16_t left = reader.ReadShort(); left > 0; --left) {
      answer.warnings.emplace_back(reader.ReadString());
    }
  }
  if (frame->opcode == kError) {
    char code[16];
    std::snprintf(code, sizeof(code), "error %04x ", static_cast<unsigned>(reader.ReadInt()));
    answer.kind = code + std::string(reader.ReadString());
    return answer;
  }
  switch (reader.ReadInt()) {
    case 1:
      answer.kind = "void";
      break;
    case 2:
      ReadRows(reader, answer);
      break;
    case 3:
      answer.kind = "keyspace " + std::string(reader.ReadString());
      break;
    case 4:
      last_.id = reader.ReadShortBytes();
      last_.types = ReadPrepared(reader, answer).types;
      break;
    case 5:
      answer.kind = SchemaChangeText(reader);
      break;
    default:
      answer.kind = "a result of a kind unknown";
  }
  if (!reader.ok()) answer.kind = "a result that is cut off";
  return answer;
}

bool OpinionSession::Prepare(const std::string& text, Prepared& prepared, OpinionAnswer& answer) {
  answer = Ask(kPrepare, BytesBody(text));
  prepared = last_;
  return answer.kind.starts_with("prepared");
}

bool OpinionSession::AppendValues(const OpinionStatement& statement,
                                  const std::vector<WireType>& types, std::string& body,
                                  OpinionAnswer& answer) {
  AppendShortTo(body, statement.values.size());
  for (size_t i = 0; i < statement.values.size(); ++i) {
    const std::string& value = statement.values[i];
    if (value == "null" || value == "unset") {
      AppendIntTo(body, value == "null" ? -1 : -2);
      continue;
    }
    const auto bytes = FromLiteral(i < types.size() ? types[i] : WireType{}, value);
    if (!bytes) {
      answer.kind = "(the test: " + value + " is no value of " +
                    (i < types.size() ? ToText(types[i]) : "no marker") + ")";
      return false;
    }
    body += BytesBody(*bytes);
  }
  return true;
}

bool OpinionSession::AppendParameters(const OpinionStep& step, const std::vector<WireType>& types,
                                      std::string& body, OpinionAnswer& answer) {
  const std::string* const consistency = Find(step, "consistency");
  AppendShortTo(body, ConsistencyOf(consistency ? *consistency : "ONE"));
  const OpinionStatement& statement = step.statements[0];
  const std::string* const page_size = Find(step, "page_size");
  const std::string* const serial = Find(step, "serial");
  const std::string* const timestamp = Find(step, "timestamp");
  const bool has_state = Find(step, "more") != nullptr && !paging_state_.empty();
  body += static_cast<char>((statement.values.empty() ? 0 : 0x01) | (page_size ? 0x04 : 0) |
                            (has_state ? 0x08 : 0) | (serial ? 0x10 : 0) | (timestamp ? 0x20 : 0));
  if (!statement.values.empty() && !AppendValues(statement, types, body, answer)) return false;
  if (page_size) AppendIntTo(body, std::atoi(page_size->c_str()));
  if (has_state) body += BytesBody(paging_state_);
  if (serial) AppendShortTo(body, ConsistencyOf(*serial));
  if (timestamp) AppendLongTo(body, std::atoll(timestamp->c_str()));
  return true;
}

OpinionAnswer OpinionSession::RunBatch(const OpinionStep& step) {
  std::string body(1, Find(step, "counter") ? '\2' : Find(step, "unlogged") ? '\1' : '\0');
  AppendShortTo(body, step.statements.size());
  OpinionAnswer answer;
  for (const OpinionStatement& statement : step.statements) {
    const bool prepared = !statement.values.empty() || Find(step, "prepared") != nullptr;
    Prepared known;
    body += static_cast<char>(prepared);
    if (prepared) {
      if (!Prepare(statement.text, known, answer)) return answer;
      AppendShortTo(body, known.id.size());
      body += known.id;
    } else {
      body += BytesBody(statement.text);
    }
    if (!AppendValues(statement, known.types, body, answer)) return answer;
  }
  const std::string* const consistency = Find(step, "consistency");
  AppendShortTo(body, ConsistencyOf(consistency ? *consistency : "ONE"));
  const std::string* const serial = Find(step, "serial");
  const std::string* const timestamp = Find(step, "timestamp");
  body += static_cast<char>((serial ? 0x10 : 0) | (timestamp ? 0x20 : 0));
  if (serial) AppendShortTo(body, ConsistencyOf(*serial));
  if (timestamp) AppendLongTo(body, std::atoll(timestamp->c_str()));
  return Ask(kBatch, std::move(body));
}

OpinionAnswer OpinionSession::Run(const OpinionStep& step, bool prepared) {
  if (step.kind == OpinionStep::Kind::kBatch) return RunBatch(step);
  const OpinionStatement& statement = step.statements[0];
  if (step.kind == OpinionStep::Kind::kPrepare) return Ask(kPrepare, BytesBody(statement.text));
  OpinionAnswer answer;
  Prepared known;
  const bool has_types = prepared || !statement.values.empty();
  if (has_types && !Prepare(statement.text, known, answer)) return answer;
  const bool executes = has_types && Find(step, "text") == nullptr;
  std::string body;
  if (executes) {
    AppendShortTo(body, known.id.size());
    body += known.id;
  } else {
    body = BytesBody(statement.text);
  }
  if (!AppendParameters(step, known.types, body, answer)) return answer;
  answer = Ask(executes ? kExecute : kQuery, std::move(body));
  paging_state_ = answer.paging_state;
  return answer;
}

}  // namespace liststore::testing
