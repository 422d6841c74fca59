#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/protocol/response.h"

namespace liststore::protocol {
namespace {

// Ids of [option]. Source: native_protocol_v4.spec section 4.2.5.2; 0x15: v5, and ScyllaDB's v3 and
// v4.
constexpr uint16_t kListOption = 0x20;
constexpr uint16_t kMapOption = 0x21;
constexpr uint16_t kSetOption = 0x22;
constexpr uint16_t kCustomOption = 0x00;
constexpr uint16_t kUserTypeOption = 0x30;
constexpr uint16_t kTupleOption = 0x31;

uint16_t NativeOption(CqlType type) {
  switch (type) {
    case CqlType::kAscii:
      return 0x01;
    case CqlType::kBigint:
      return 0x02;
    case CqlType::kBlob:
      return 0x03;
    case CqlType::kBoolean:
      return 0x04;
    case CqlType::kCounter:
      return 0x05;
    case CqlType::kDecimal:
      return 0x06;
    case CqlType::kDouble:
      return 0x07;
    case CqlType::kFloat:
      return 0x08;
    case CqlType::kInt:
      return 0x09;
    case CqlType::kTimestamp:
      return 0x0b;
    case CqlType::kUuid:
      return 0x0c;
    case CqlType::kText:
      return 0x0d;
    case CqlType::kVarint:
      return 0x0e;
    case CqlType::kTimeuuid:
      return 0x0f;
    case CqlType::kInet:
      return 0x10;
    case CqlType::kDate:
      return 0x11;
    case CqlType::kTime:
      return 0x12;
    case CqlType::kSmallint:
      return 0x13;
    case CqlType::kTinyint:
      return 0x14;
    case CqlType::kDuration:
      return 0x15;
  }
  LS_UNREACHABLE("every native type has an option");
}

uint16_t OptionOf(const DataType& type) {
  switch (type.kind()) {
    case DataType::Kind::kNative:
      return NativeOption(type.native());
    case DataType::Kind::kList:
      return kListOption;
    case DataType::Kind::kSet:
      return kSetOption;
    case DataType::Kind::kMap:
      return kMapOption;
    case DataType::Kind::kTuple:
      return kTupleOption;
    case DataType::Kind::kUser:
      return kUserTypeOption;
  }
  LS_UNREACHABLE("every type has an option");
}

std::optional<ProtocolError> CheckNames(std::span<const ColumnSpec> columns) {
  for (const ColumnSpec& column : columns) {
    const size_t longest =
        std::max({column.keyspace.size(), column.table.size(), column.name.size()});
    if (longest > kShortMax) {
      return ProtocolError{ErrorCode::kServerError,
                           absl::StrCat("Value too large, ", longest, " > ", kShortMax)};
    }
  }
  return std::nullopt;
}

}  // namespace

void AppendTypeOption(OutputBuffer& out, const DataType& type) {
  if (type.is_custom()) {
    out.AppendBigEndian16(kCustomOption);
    return AppendString(out, type.custom_class());
  }
  out.AppendBigEndian16(OptionOf(type));
  const bool is_user = type.kind() == DataType::Kind::kUser;
  if (is_user) {
    AppendString(out, type.user().keyspace);
    AppendString(out, type.user().name);
  }
  if (type.has_fields()) {
    LS_CHECK(type.parameters().size() <= kShortMax, "a type has at most 65,535 fields");
    out.AppendBigEndian16(static_cast<uint16_t>(type.parameters().size()));
  }
  for (size_t i = 0; i < type.parameters().size(); ++i) {
    if (is_user) AppendString(out, type.user().fields[i]);
    AppendTypeOption(out, type.parameters()[i]);
  }
}

std::optional<ProtocolError> ColumnsMetadata::Assign(std::span<const ColumnSpec> columns) {
  encoded_.Clear();
  column_count_ = 0;
  has_global_table_ = false;
  if (std::optional<ProtocolError> error = CheckNames(columns)) return error;
  column_count_ = static_cast<uint32_t>(columns.size());
  has_global_table_ =
      !columns.empty() &&
      std::all_of(columns.begin(), columns.end(), [&](const ColumnSpec& column) {
        return column.keyspace == columns[0].keyspace && column.table == columns[0].table;
      });
  if (has_global_table_) {
    AppendString(encoded_, columns[0].keyspace);
    AppendString(encoded_, columns[0].table);
  }
  for (const ColumnSpec& column : columns) {
    // Types may be long, and a statement may have very many columns of one.
    if (encoded_.size() > kFrameBodyBytesMax) {
      encoded_ = OutputBuffer();
      column_count_ = 0;
      has_global_table_ = false;
      return ProtocolError{ErrorCode::kInvalid, FrameEncoder::OverflowText()};
    }
    LS_CHECK(column.type != nullptr, "a column has a type");
    if (!has_global_table_) {
      AppendString(encoded_, column.keyspace);
      AppendString(encoded_, column.table);
    }
    AppendString(encoded_, column.name);
    AppendTypeOption(encoded_, *column.type);
  }
  return std::nullopt;
}

}  // namespace liststore::protocol
