#include "tools/query/result_columns.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "engine/protocol/primitives.h"

namespace liststore {
namespace {

constexpr int32_t kRows = 2;
constexpr int kDepthMax = 16;

// Flags of the metadata of rows.
enum : int32_t {
  kGlobalTable = 0x01,
  kHasMorePages = 0x02,
  kNoMetadata = 0x04,
};

std::optional<CqlType> NativeType(uint16_t option) {
  constexpr std::pair<uint16_t, CqlType> kTypes[] = {
      {0x01, CqlType::kAscii},     {0x02, CqlType::kBigint},   {0x03, CqlType::kBlob},
      {0x04, CqlType::kBoolean},   {0x05, CqlType::kCounter},  {0x06, CqlType::kDecimal},
      {0x07, CqlType::kDouble},    {0x08, CqlType::kFloat},    {0x09, CqlType::kInt},
      {0x0b, CqlType::kTimestamp}, {0x0c, CqlType::kUuid},     {0x0d, CqlType::kText},
      {0x0e, CqlType::kVarint},    {0x0f, CqlType::kTimeuuid}, {0x10, CqlType::kInet},
      {0x11, CqlType::kDate},      {0x12, CqlType::kTime},     {0x13, CqlType::kSmallint},
      {0x14, CqlType::kTinyint},   {0x15, CqlType::kDuration}};
  for (const auto& [known, type] : kTypes) {
    if (known == option) return type;
  }
  return std::nullopt;
}

std::optional<DataType> ReadType(protocol::BodyReader& reader, int depth = 0);

// `names` of a user type takes the fields' names; nullptr: a tuple, whose fields have none.
std::optional<std::vector<DataType>> ReadFields(protocol::BodyReader& reader, int depth,
                                                UserTypeNames* names) {
  std::vector<DataType> fields;
  for (uint16_t left = reader.ReadShort(); left > 0 && reader.ok(); --left) {
    if (names != nullptr) names->fields.emplace_back(reader.ReadString());
    std::optional<DataType> field = ReadType(reader, depth + 1);
    if (!field) return std::nullopt;
    fields.push_back(*std::move(field));
  }
  return fields;
}

// An [option]. nullopt: there is no such type.
std::optional<DataType> ReadType(protocol::BodyReader& reader, int depth) {
  const uint16_t option = reader.ReadShort();
  if (depth > kDepthMax || !reader.ok()) return std::nullopt;
  switch (option) {
    case 0x00:
      return DataType::Custom(std::string(reader.ReadString()));
    case 0x20:
    case 0x22: {
      std::optional<DataType> element = ReadType(reader, depth + 1);
      if (!element) return std::nullopt;
      return option == 0x20 ? DataType::List(*std::move(element))
                            : DataType::Set(*std::move(element));
    }
    case 0x21: {
      std::optional<DataType> key = ReadType(reader, depth + 1);
      std::optional<DataType> value = ReadType(reader, depth + 1);
      if (!key || !value) return std::nullopt;
      return DataType::Map(*std::move(key), *std::move(value));
    }
    case 0x30: {
      auto names = std::make_shared<UserTypeNames>();
      names->keyspace = reader.ReadString();
      names->name = reader.ReadString();
      names->name_in_cql = names->name;
      auto fields = ReadFields(reader, depth, names.get());
      if (!fields) return std::nullopt;
      return DataType::User(std::move(names), *std::move(fields));
    }
    case 0x31: {
      auto fields = ReadFields(reader, depth, nullptr);
      if (!fields || fields->empty()) return std::nullopt;
      return DataType::Tuple(*std::move(fields));
    }
    default:
      break;
  }
  const std::optional<CqlType> native = NativeType(option);
  if (!native) return std::nullopt;
  return DataType(*native);
}

}  // namespace

absl::StatusOr<std::vector<ResultColumn>> ReadResultColumns(std::string_view body) {
  const absl::Status malformed =
      absl::InvalidArgumentError("the answer's columns cannot be read: not CQL version 4");
  protocol::BodyReader reader(body);
  std::vector<ResultColumn> columns;
  if (reader.ReadInt() != kRows) {
    if (!reader.ok()) return malformed;
    return columns;
  }
  const int32_t flags = reader.ReadInt();
  const int32_t count = reader.ReadInt();
  if (flags & kHasMorePages) reader.ReadBytes();
  if (!reader.ok() || count <= 0 || count > 0xffff || (flags & kNoMetadata)) return malformed;
  const auto skip_table = [&reader] {
    reader.ReadString();
    reader.ReadString();
  };
  if (flags & kGlobalTable) skip_table();
  for (int32_t i = 0; i < count; ++i) {
    if (!(flags & kGlobalTable)) skip_table();
    std::string name(reader.ReadString());
    std::optional<DataType> type = ReadType(reader);
    if (!type || !reader.ok()) return malformed;
    columns.push_back({std::move(name), *std::move(type)});
  }
  return columns;
}

}  // namespace liststore
