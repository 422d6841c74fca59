#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/protocol/encode_schema_change.h"
#include "engine/protocol/response.h"

namespace liststore::protocol {
namespace {

// <kind: int> of a RESULT.
enum class ResultKind : int32_t {
  kVoid = 1,
  kRows = 2,
  kSetKeyspace = 3,
  kPrepared = 4,
  kSchemaChange = 5,
};

// <flags: int> of metadata.
constexpr uint32_t kGlobalTablesSpec = 0x01;
constexpr uint32_t kHasMorePages = 0x02;
constexpr uint32_t kNoMetadata = 0x04;
constexpr uint32_t kMetadataChanged = 0x08;
// Source: ScyllaDB docs/dev/protocol-extensions.md, "LWT prepared statements metadata mark".
constexpr uint32_t kConditionalMark = 0x8000'0000;

void AppendKind(OutputBuffer& out, ResultKind kind) { AppendInt(out, static_cast<int32_t>(kind)); }

uint32_t GlobalFlag(const ColumnsMetadata& columns) {
  return columns.has_global_table() ? kGlobalTablesSpec : 0;
}

// <flags><columns_count>[<pk_count><index>...][<global table>]<columns>
void AppendBindMetadata(OutputBuffer& out, const ResponseContext& context,
                        const PreparedResult& prepared) {
  const ColumnsMetadata& markers = *prepared.bind_markers;
  uint32_t flags = GlobalFlag(markers);
  if (prepared.is_conditional && context.extensions.lwt_mark) flags |= kConditionalMark;
  out.AppendBigEndian32(flags);
  out.AppendBigEndian32(static_cast<uint32_t>(markers.column_count()));
  if (context.version >= ProtocolVersion::kV4) {
    out.AppendBigEndian32(static_cast<uint32_t>(prepared.partition_key_indexes.size()));
    for (const uint16_t index : prepared.partition_key_indexes) {
      LS_DCHECK(index < markers.column_count(), "a key column is bound by one of the markers");
      out.AppendBigEndian16(index);
    }
  }
  out.Append(markers.encoded());
}

void AppendResultMetadata(OutputBuffer& out, const ColumnsMetadata* columns) {
  if (columns == nullptr) {
    out.AppendBigEndian32(kNoMetadata);
    out.AppendBigEndian32(0);
    return;
  }
  out.AppendBigEndian32(GlobalFlag(*columns));
  out.AppendBigEndian32(static_cast<uint32_t>(columns->column_count()));
  out.Append(columns->encoded());
}

}  // namespace

void EncodeVoid(OutputBuffer& out, const ResponseContext& context) {
  if (context.is_plain()) [[likely]] {
    // What nearly every write is answered with, in one piece.
    constexpr size_t kKindBytes = sizeof(int32_t);
    char* const to = out.Extend(kFrameHeaderBytes + kKindBytes);
    StoreResponseHeader(to, context.version, 0, context.stream, Opcode::kResult, kKindBytes);
    StoreBigEndian32(to + kFrameHeaderBytes, static_cast<uint32_t>(ResultKind::kVoid));
    return;
  }
  FrameEncoder frame(out, context, Opcode::kResult);
  AppendKind(out, ResultKind::kVoid);
  frame.Finish();
}

void EncodeSetKeyspace(OutputBuffer& out, const ResponseContext& context,
                       std::string_view keyspace) {
  FrameEncoder frame(out, context, Opcode::kResult);
  AppendKind(out, ResultKind::kSetKeyspace);
  AppendString(out, keyspace);
  frame.Finish();
}

// <id>[<result_metadata_id>]<bind metadata><result metadata>
void EncodePrepared(OutputBuffer& out, const ResponseContext& context,
                    const PreparedResult& prepared) {
  LS_CHECK(prepared.bind_markers != nullptr, "a prepared statement has markers, maybe none");
  FrameEncoder frame(out, context, Opcode::kResult);
  AppendKind(out, ResultKind::kPrepared);
  AppendShortBytes(out, prepared.id);
  if (context.extensions.metadata_id) AppendShortBytes(out, prepared.result_metadata_id);
  AppendBindMetadata(out, context, prepared);
  AppendResultMetadata(out, prepared.result_columns);
  frame.Finish();
}

void EncodeSchemaChange(OutputBuffer& out, const ResponseContext& context,
                        const SchemaChange& change) {
  FrameEncoder frame(out, context, Opcode::kResult);
  AppendKind(out, ResultKind::kSchemaChange);
  AppendSchemaChange(out, context.version, change);
  frame.Finish();
}

// <kind><flags><columns_count>[<paging_state>][<new_metadata_id>][<global table>][<columns>]
// <rows_count>
RowsEncoder::RowsEncoder(OutputBuffer& out, const ResponseContext& context,
                         const ColumnsMetadata& columns, const RowsOptions& options)
    : out_(&out), frame_(out, context, Opcode::kResult), column_count_(columns.column_count()) {
  constexpr size_t kWord = sizeof(uint32_t);
  const bool changed = options.changed_metadata_id && context.extensions.metadata_id;
  const bool with_columns = changed || !options.skip_metadata;
  flags_ = out.size() + kWord;
  paging_state_ = flags_ + 2 * kWord;
  // A driver reads no table without columns, so the two flags exclude each other.
  uint32_t flags = with_columns ? GlobalFlag(columns) : kNoMetadata;
  if (changed) flags |= kMetadataChanged;
  char* const to = out.Extend(3 * kWord);
  StoreBigEndian32(to, static_cast<uint32_t>(ResultKind::kRows));
  StoreBigEndian32(to + kWord, flags);
  StoreBigEndian32(to + 2 * kWord, static_cast<uint32_t>(columns.column_count()));
  if (changed) AppendShortBytes(out, *options.changed_metadata_id);
  if (with_columns) out.Append(columns.encoded());
  out.AppendBigEndian32(0);
  rows_ = out.size();
}

RowsEncoder::RowsEncoder(OutputBuffer& out, const ResponseContext& context, size_t column_count)
    : out_(&out), frame_(out, context, out.size()), column_count_(column_count) {
  LS_DCHECK(context.is_plain(), "the header is as it is");
  constexpr size_t kWord = sizeof(uint32_t);
  flags_ = out.size() + kFrameHeaderBytes + kWord;
  paging_state_ = flags_ + 2 * kWord;
  rows_ = paging_state_ + kWord;
  char* to = out.Extend(kFrameHeaderBytes + 4 * kWord);
  StoreResponseHeader(to, context.version, 0, context.stream, Opcode::kResult, 0);
  to += kFrameHeaderBytes;
  StoreBigEndian32(to, static_cast<uint32_t>(ResultKind::kRows));
  StoreBigEndian32(to + kWord, kNoMetadata);
  StoreBigEndian32(to + 2 * kWord, static_cast<uint32_t>(column_count));
  StoreBigEndian32(to + 3 * kWord, 0);
}

void RowsEncoder::Finish(std::string_view paging_state) {
  LS_DCHECK(cells_ == 0, "a result ends behind a whole row");
  out_->PatchBigEndian32(rows_ - sizeof(uint32_t), row_count_);
  if (!paging_state.empty()) {
    out_->PatchBigEndian32(flags_, out_->BigEndian32At(flags_) | kHasMorePages);
    char* const to = out_->Insert(paging_state_, sizeof(uint32_t) + paging_state.size());
    StoreBigEndian32(to, static_cast<uint32_t>(paging_state.size()));
    std::memcpy(to + sizeof(uint32_t), paging_state.data(), paging_state.size());
  }
  frame_.Finish();
}

}  // namespace liststore::protocol
