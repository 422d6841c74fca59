#include "bench/peers/cql_answers.h"

#include <cstring>
#include <type_traits>
#include <variant>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/model/packed_item_key.h"
#include "programs/client/list_model.h"

namespace liststore {
namespace {

constexpr uint8_t kRequestVersion = 4;
constexpr size_t kStreamAt = 2;
constexpr size_t kOpcodeAt = 4;
constexpr size_t kLengthAt = 5;
constexpr uint8_t kExecuteOpcode = static_cast<uint8_t>(protocol::Opcode::kExecute);
constexpr size_t kRowsCanned = 10;
// A list that is loaded may be longer than a frame of our own may be; this keeps nonsense from being
// waited for.
constexpr uint32_t kBodyBytesMax = protocol::kFrameBodyBytesMax;

constexpr std::string_view kRefused =
    "this server takes nothing but what `liststore bench wire` asks: its statements, values of "
    "--value-bytes, and no more lists than --lists";

// What a column or a marker is called, and its type.
struct Named {
  std::string_view name;
  DataType type;
};

void Describe(std::span<const Named> named, protocol::ColumnsMetadata& metadata) {
  std::vector<protocol::ColumnSpec> specs;
  for (const Named& one : named) {
    specs.push_back({"feature_store", "list_items", one.name, &one.type});
  }
  LS_CHECK(!metadata.Assign(specs), "the names of the list model are short");
}

protocol::ResponseContext On(int16_t stream) {
  protocol::ResponseContext context;
  context.stream = stream;
  return context;
}

void Refuse(OutputBuffer& out, const protocol::ResponseContext& context, std::string_view why) {
  protocol::EncodeError(out, context,
                        protocol::ProtocolError{protocol::ErrorCode::kInvalid, std::string(why)});
}

void StoreStream(char* frame, int16_t stream) {
  StoreBigEndian16(frame + kStreamAt, static_cast<uint16_t>(stream));
}

}  // namespace

CqlAnswers::CqlAnswers() {
  const Named feature_key = {"feature_key", CqlType::kText},
              entity_id = {"entity_id", CqlType::kText}, item_key = {"item_key", CqlType::kText},
              value = {"value", CqlType::kBlob}, ttl = {"[ttl]", CqlType::kInt},
              limit = {"[limit]", CqlType::kInt};
  Describe(std::array{feature_key, entity_id, item_key, value, ttl}, insert_markers_);
  Describe(std::array{feature_key, entity_id, item_key, limit}, select_markers_);
  Describe(std::array{value, item_key}, select_columns_);
  Describe(std::array{item_key}, item_key_column_);
}

std::optional<size_t> CqlAnswers::Answer(std::string_view received, OutputBuffer& out) {
  size_t used = 0;
  while (true) {
    RequestFrame frames[kAhead];
    size_t count = 0;
    while (count < kAhead && received.size() - used >= protocol::kFrameHeaderBytes) {
      const char* const at = received.data() + used;
      const uint32_t body_bytes = LoadBigEndian32(at + kLengthAt);
      if (static_cast<uint8_t>(at[0]) != kRequestVersion || body_bytes > kBodyBytesMax) {
        return std::nullopt;
      }
      if (received.size() - used - protocol::kFrameHeaderBytes < body_bytes) break;
      frames[count++] = {static_cast<int16_t>(LoadBigEndian16(at + kStreamAt)),
                         static_cast<uint8_t>(at[kOpcodeAt]),
                         {at + protocol::kFrameHeaderBytes, body_bytes}};
      used += protocol::kFrameHeaderBytes + body_bytes;
    }
    if (count == 0) return used;
    LookAhead({frames, count});
    for (size_t i = 0; i < count; ++i) {
      if (frames[i].opcode != kExecuteOpcode) {
        AnswerRare(frames[i], out);
      } else if (!Execute(i, frames[i], out)) {
        Refuse(out, On(frames[i].stream), kRefused);
      }
    }
  }
}

// --- Frames that come once ----------------------------------------------------------------------

void CqlAnswers::AnswerRare(const RequestFrame& frame, OutputBuffer& out) {
  const protocol::ResponseContext context = On(frame.stream);
  const protocol::FrameHeader header = {.stream = frame.stream,
                                        .opcode = frame.opcode,
                                        .body_bytes = static_cast<uint32_t>(frame.body.size())};
  protocol::Request request;
  if (const auto error = protocol::DecodeRequest(header, frame.body, {}, scratch_, request)) {
    protocol::EncodeError(out, context, *error);
    return;
  }
  std::visit(
      [&](const auto& message) {
        using Message = std::decay_t<decltype(message)>;
        if constexpr (std::is_same_v<Message, protocol::Startup> ||
                      std::is_same_v<Message, protocol::Register>) {
          protocol::EncodeReady(out, context);
        } else if constexpr (std::is_same_v<Message, protocol::Options>) {
          protocol::EncodeSupported(out, context, protocol::CassandraSupported());
        } else if constexpr (std::is_same_v<Message, protocol::Query>) {
          AnswerQuery(context, message.query, out);
        } else if constexpr (std::is_same_v<Message, protocol::Prepare>) {
          AnswerPrepare(context, message.query, out);
        } else if constexpr (std::is_same_v<Message, protocol::Batch>) {
          AnswerBatch(context, message, out);
        } else {
          Refuse(out, context, kRefused);
        }
      },
      request.message);
}

// The schema is there whoever makes it, and the table is empty before lists are loaded.
void CqlAnswers::AnswerQuery(const protocol::ResponseContext& context, std::string_view text,
                             OutputBuffer& out) {
  if (text.starts_with("CREATE ")) return protocol::EncodeVoid(out, context);
  if (text.starts_with("SELECT item_key FROM feature_store.list_items")) {
    return protocol::RowsEncoder(out, context, item_key_column_, {}).Finish();
  }
  Refuse(out, context, kRefused);
}

void CqlAnswers::AnswerPrepare(const protocol::ResponseContext& context, std::string_view text,
                               OutputBuffer& out) {
  constexpr uint16_t kKeyMarkers[] = {0, 1};
  protocol::PreparedResult prepared;
  prepared.partition_key_indexes = kKeyMarkers;
  if (text == kInsertItemStatement) {
    prepared.id = kInsertId;
    prepared.bind_markers = &insert_markers_;
  } else if (text == kSelectItemsStatement) {
    prepared.id = kSelectId;
    prepared.bind_markers = &select_markers_;
    prepared.result_columns = &select_columns_;
  } else {
    Refuse(out, context, kRefused);
    return;
  }
  protocol::EncodePrepared(out, context, prepared);
}

void CqlAnswers::AnswerBatch(const protocol::ResponseContext& context, const protocol::Batch& batch,
                             OutputBuffer& out) {
  for (const protocol::BatchStatement& statement : batch.statements) {
    const bool is_insert = statement.kind == protocol::BatchStatement::Kind::kPrepared &&
                           statement.query_or_id == kInsertId;
    if (is_insert && Insert(statement.values)) continue;
    Refuse(out, context, kRefused);
    return;
  }
  protocol::EncodeVoid(out, context);
}

// --- Echo ---------------------------------------------------------------------------------------

EchoAnswers::EchoAnswers(size_t value_bytes) {
  const std::string value(value_bytes, 'v');
  const std::string key(kItemKeyTextBytes, 'k');
  protocol::RowsEncoder rows(canned_, {}, columns(), {.skip_metadata = true});
  for (size_t row = 0; row < kRowsCanned; ++row) {
    rows.AppendBytes(value);
    rows.AppendBytes(key);
    rows.EndRow();
  }
  rows.Finish();
}

bool EchoAnswers::Execute(size_t /*index*/, const RequestFrame& frame, OutputBuffer& out) {
  const std::string_view id = frame.body.substr(0, sizeof(uint16_t) + kIdBytes);
  if (id.ends_with(kSelectId)) {
    char* const to = out.Extend(canned_.size());
    std::memcpy(to, canned_.data(), canned_.size());
    StoreStream(to, frame.stream);
    return true;
  }
  if (!id.ends_with(kInsertId)) return false;
  protocol::EncodeVoid(out, On(frame.stream));
  return true;
}

// --- Bare ---------------------------------------------------------------------------------------

BareAnswers::BareAnswers(size_t lists, size_t items, size_t value_bytes)
    : value_bytes_(value_bytes), store_(lists, items, value_bytes) {
  // As our server gets it: twice what the lists take.
  store_.Populate(2 * lists * (items + items / 4 + 1) * store_.row_bytes());
  protocol::RowsEncoder(rows_head_, {}, columns(), {.skip_metadata = true}).Finish();
}

// <id: 2 + 16><consistency: 2><flags: 1><count: 2> and the values, each behind its length. The hash is
// that of both key columns as they lie there, the length of the second between them.
BareAnswers::Execution BareAnswers::Read(std::string_view body) {
  constexpr size_t kIdAt = sizeof(uint16_t);
  constexpr size_t kFlagsAt = kIdAt + kIdBytes + sizeof(uint16_t);
  constexpr size_t kCountAt = kFlagsAt + 1;
  constexpr size_t kValuesAt = kCountAt + sizeof(uint16_t);
  constexpr uint8_t kWithValues = 0x01, kSkipMetadata = 0x02, kWithNames = 0x40;
  constexpr size_t kValuesRead = 4;

  Execution execution;
  if (body.size() < kValuesAt) return execution;
  const std::string_view id = body.substr(kIdAt, kIdBytes);
  execution.is_insert = id == kInsertId;
  const auto flags = static_cast<uint8_t>(body[kFlagsAt]);
  const size_t count = LoadBigEndian16(body.data() + kCountAt);
  if (!execution.is_insert && (id != kSelectId || (flags & kSkipMetadata) == 0)) return execution;
  if ((flags & kWithValues) == 0 || (flags & kWithNames) != 0) return execution;
  if (count != (execution.is_insert ? kValuesRead + 1 : kValuesRead)) return execution;

  std::string_view values[kValuesRead];
  std::string_view rest = body.substr(kValuesAt);
  for (std::string_view& value : values) {
    if (rest.size() < sizeof(uint32_t)) return execution;
    const uint32_t bytes = LoadBigEndian32(rest.data());
    rest.remove_prefix(sizeof(uint32_t));
    if (bytes > rest.size()) return execution;  // null and unset are longer than any frame
    value = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
  }
  execution.hash =
      Hash64({values[0].data(), static_cast<size_t>(values[1].end() - values[0].begin())});
  execution.item_key = values[2];
  execution.last = values[3];
  execution.is_readable = true;
  return execution;
}

void BareAnswers::LookAhead(std::span<const RequestFrame> frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].opcode != kExecuteOpcode) {
      executions_[i].is_readable = false;
      continue;
    }
    executions_[i] = Read(frames[i].body);
    store_.PrefetchSlot(executions_[i].hash);
  }
  if (frames.size() == 1) return;
  for (size_t i = 0; i < frames.size(); ++i) {
    const Execution& execution = executions_[i];
    if (!execution.is_readable) continue;
    store_.PrefetchRows(execution.hash, execution.is_insert ? 1 : kRowsCanned);
  }
}

bool BareAnswers::Execute(size_t index, const RequestFrame& frame, OutputBuffer& out) {
  const Execution& execution = executions_[index];
  if (!execution.is_readable) return false;
  if (!execution.is_insert) return Select(execution, frame.stream, out);
  if (!InsertItem(execution.hash, execution.item_key, execution.last)) return false;
  protocol::EncodeVoid(out, On(frame.stream));
  return true;
}

bool BareAnswers::Insert(std::span<const protocol::Value> values) {
  if (values.size() != 5) return false;
  for (const protocol::Value& value : values) {
    if (!value.has_bytes()) return false;
  }
  const std::string_view feature_key = values[0].bytes(), entity_id = values[1].bytes();
  // Where the frame has them: see Read().
  const auto key_bytes = static_cast<size_t>(entity_id.end() - feature_key.begin());
  if (feature_key.empty() ||
      key_bytes != feature_key.size() + sizeof(uint32_t) + entity_id.size()) {
    return false;
  }
  return InsertItem(Hash64({feature_key.data(), key_bytes}), values[2].bytes(), values[3].bytes());
}

bool BareAnswers::InsertItem(uint64_t hash, std::string_view item_key, std::string_view value) {
  PackedItemKey key;
  return PackItemKey(item_key, key.data()) && store_.AddPacked(hash, key.data(), value);
}

// Ten rows and more: <value length><value><key length><key> each, behind the head of a frame without
// rows, whose last four bytes are their number.
bool BareAnswers::Select(const Execution& execution, int16_t stream, OutputBuffer& out) const {
  // `bench wire` reads from the newest row on; other bounds would want a search.
  constexpr std::string_view kFirstKey = "0000000000000000000";
  if (execution.item_key != kFirstKey || execution.last.size() != sizeof(int32_t)) return false;
  const BareStore::Rows rows = store_.View(execution.hash, LoadBigEndian32(execution.last.data()));
  const size_t row_bytes = 2 * sizeof(uint32_t) + value_bytes_ + kItemKeyTextBytes;
  const size_t head_bytes = rows_head_.size();
  char* const frame = out.Extend(head_bytes + rows.size * row_bytes);
  std::memcpy(frame, rows_head_.data(), head_bytes);
  StoreStream(frame, stream);
  StoreBigEndian32(
      frame + kLengthAt,
      static_cast<uint32_t>(head_bytes - protocol::kFrameHeaderBytes + rows.size * row_bytes));
  StoreBigEndian32(frame + head_bytes - sizeof(uint32_t), static_cast<uint32_t>(rows.size));
  char* const first = frame + head_bytes;
  const char* from = rows.begin;
  for (char* to = first; to < first + rows.size * row_bytes;
       to += row_bytes, from += store_.row_bytes()) {
    StoreBigEndian32(to, static_cast<uint32_t>(value_bytes_));
    std::memcpy(to + sizeof(uint32_t), from + kPackedItemKeyBytes, value_bytes_);
  }
  if (rows.size > 0) {
    UnpackItemKeys(rows.begin, store_.row_bytes(), rows.size,
                   first + sizeof(uint32_t) + value_bytes_, row_bytes);
  }
  return true;
}

}  // namespace liststore
