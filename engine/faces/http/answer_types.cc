#include "engine/faces/http/answer_types.h"

#include <array>
#include <map>
#include <memory>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/output_buffer.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/response.h"

namespace liststore::http_face {
namespace {

using protocol::BodyReader;

// Source: native_protocol_v4.spec sections 4.2.5 and 4.2.5.2.
constexpr int32_t kPrepared = 4;
constexpr uint16_t kCustom = 0x00, kList = 0x20, kMap = 0x21, kSet = 0x22, kUser = 0x30,
                   kTuple = 0x31;

constexpr std::array kNativeTypes = {
    CqlType::kAscii,    CqlType::kBigint,  CqlType::kBlob,    CqlType::kBoolean,
    CqlType::kCounter,  CqlType::kDate,    CqlType::kDecimal, CqlType::kDouble,
    CqlType::kDuration, CqlType::kFloat,   CqlType::kInet,    CqlType::kInt,
    CqlType::kSmallint, CqlType::kText,    CqlType::kTime,    CqlType::kTimestamp,
    CqlType::kTimeuuid, CqlType::kTinyint, CqlType::kUuid,    CqlType::kVarint};

CqlType NativeOf(uint16_t option) {
  static const std::map<uint16_t, CqlType> kByOption = [] {
    std::map<uint16_t, CqlType> types;
    for (const CqlType type : kNativeTypes) {
      OutputBuffer encoded;
      protocol::AppendTypeOption(encoded, type);
      types.emplace(LoadBigEndian16(encoded.data()), type);
    }
    return types;
  }();
  const auto type = kByOption.find(option);
  LS_CHECK(type != kByOption.end(), "what was encoded here is known here");
  return type->second;
}

}  // namespace

DataType ReadType(BodyReader& body) {
  const uint16_t option = body.ReadShort();
  switch (option) {
    case kCustom:
      return DataType::Custom(std::string(body.ReadString()));
    case kList:
      return DataType::List(ReadType(body));
    case kSet:
      return DataType::Set(ReadType(body));
    case kMap: {
      DataType key = ReadType(body);
      return DataType::Map(std::move(key), ReadType(body));
    }
    case kTuple: {
      std::vector<DataType> fields;
      for (uint16_t left = body.ReadShort(); left > 0; --left) fields.push_back(ReadType(body));
      return DataType::Tuple(std::move(fields));
    }
    case kUser: {
      auto names = std::make_shared<UserTypeNames>();
      names->keyspace = body.ReadString();
      names->name = body.ReadString();
      names->name_in_cql = names->name;
      std::vector<DataType> fields;
      for (uint16_t left = body.ReadShort(); left > 0; --left) {
        names->fields.emplace_back(body.ReadString());
        fields.push_back(ReadType(body));
      }
      return DataType::User(std::move(names), std::move(fields));
    }
    default:
      return NativeOf(option);
  }
}

// Source: native_protocol_v4.spec section 4.2.5.4.
PreparedAnswer ReadPrepared(std::string_view frame) {
  const auto frame_flags = static_cast<uint8_t>(frame[1]);
  BodyReader body(frame.substr(protocol::kFrameHeaderBytes));
  if ((frame_flags & protocol::kFrameWarnings) != 0) {
    for (uint16_t left = body.ReadShort(); left > 0; --left) body.ReadString();
  }
  const int32_t kind = body.ReadInt();
  LS_CHECK(kind == kPrepared, "a PREPARE is answered with what was prepared");
  PreparedAnswer prepared{.id = std::string(body.ReadShortBytes()), .markers = {}};
  const auto flags = static_cast<uint32_t>(body.ReadInt());
  const int32_t count = body.ReadInt();
  for (int32_t left = body.ReadInt(); left > 0; --left) body.ReadShort();  // of the partition key
  const bool is_global = (flags & kGlobalTablesSpec) != 0;
  const auto skip_table = [&] {
    body.ReadString();
    body.ReadString();
  };
  if (is_global) skip_table();
  for (int32_t i = 0; i < count; ++i) {
    if (!is_global) skip_table();
    std::string name(body.ReadString());
    prepared.markers.push_back({std::move(name), ReadType(body)});
  }
  LS_DCHECK(body.ok(), "a handler's answer is a whole one");
  return prepared;
}

}  // namespace liststore::http_face
