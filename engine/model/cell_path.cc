#include "engine/model/cell_path.h"

#include <array>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/types/timeuuid.h"

namespace liststore {
namespace {

constexpr char kFirst = 1;
constexpr uint64_t kPositionSign = uint64_t{1} << 63;
constexpr size_t kPositionBytes = 12;
// Of the 62 bits of a timeuuid below its time, those that are no part of a ListPosition.
constexpr int kTailBits = 62 - kListNumberBits;
constexpr size_t kTailBytes = 6;
constexpr int64_t kTicksPerMicro = 10;

std::vector<ClusteringColumnSchema> KeyColumn(const DataType& key) {
  return {{std::string(), key, false}};
}

}  // namespace

void AppendPath(const ListPosition& position, std::string& out) {
  std::array<char, kPositionBytes> bytes;
  StoreBigEndian64(bytes.data(), static_cast<uint64_t>(position.micros) ^ kPositionSign);
  StoreBigEndian32(bytes.data() + 8, position.number);
  out.push_back(kFirst);
  out.append(bytes.data(), bytes.size());
}

void AppendPath(const DataType& key, std::string_view value, std::string& out) {
  out.push_back(kFirst);
  AppendClusteringKey(KeyColumn(key), {&value, 1}, out);
}

void AppendFieldPath(size_t field, std::string& out) {
  out.push_back(kFirst);
  out.push_back(static_cast<char>(field >> 8));
  out.push_back(static_cast<char>(field & 0xff));
}

bool AppendTimeuuidPath(std::string_view timeuuid, std::string& out) {
  LS_CHECK(timeuuid.size() == sizeof(Uuid::bytes), "a UUID has 16 bytes");
  const auto version = static_cast<uint8_t>(timeuuid[6]) >> 4;
  // Their last 8 bytes sort as signed ones; of these the first two bits say that they are such.
  const uint64_t low = LoadBigEndian64(timeuuid.data() + 8) ^ kTimeuuidLowFirst;
  if (version != kTimeuuidVersion || low >> 62 != 0) return false;
  const auto ticks =
      static_cast<int64_t>(TicksOfTimeuuid(timeuuid)) - static_cast<int64_t>(kTimeuuidTicksAtEpoch);
  const int64_t tick = (ticks % kTicksPerMicro + kTicksPerMicro) % kTicksPerMicro;
  const auto number = static_cast<uint32_t>(low >> kTailBits);
  AppendPath(ListPosition{(ticks - tick) / kTicksPerMicro,
                          static_cast<uint32_t>(tick) << kListNumberBits | number},
             out);
  const uint64_t tail = low & ((uint64_t{1} << kTailBits) - 1);
  if (tail == 0) return true;
  char bytes[sizeof(tail)];
  StoreBigEndian64(bytes, tail);
  out.append(bytes + sizeof(tail) - kTailBytes, kTailBytes);
  return true;
}

Uuid TimeuuidOfPath(std::string_view path) {
  LS_CHECK(path.size() > kPositionBytes, "the path of a list's element has its position");
  const auto micros = static_cast<int64_t>(LoadBigEndian64(path.data() + 1) ^ kPositionSign);
  const uint32_t number = LoadBigEndian32(path.data() + 1 + sizeof(micros));
  constexpr auto kMicrosMax =
      static_cast<int64_t>((kTimeuuidTicksMax - kTimeuuidTicksAtEpoch) / kTicksPerMicro) - 1;
  constexpr auto kMicrosMin = -static_cast<int64_t>(kTimeuuidTicksAtEpoch / kTicksPerMicro);
  if (micros < kMicrosMin) return MakeTimeuuid(0, kTimeuuidLowFirst);
  if (micros > kMicrosMax) return MakeTimeuuid(kTimeuuidTicksMax, kTimeuuidLowFirst);
  const int64_t ticks = micros * kTicksPerMicro + (number >> kListNumberBits);
  uint64_t low = uint64_t{number & ((uint32_t{1} << kListNumberBits) - 1)} << kTailBits;
  if (path.size() == 1 + kPositionBytes + kTailBytes) {
    char bytes[sizeof(low)] = {};
    path.copy(bytes + sizeof(low) - kTailBytes, kTailBytes, 1 + kPositionBytes);
    low |= LoadBigEndian64(bytes);
  }
  return MakeTimeuuid(kTimeuuidTicksAtEpoch + static_cast<uint64_t>(ticks),
                      low ^ kTimeuuidLowFirst);
}

std::string KeyOfPath(const DataType& key, std::string_view path) {
  LS_CHECK(!path.empty(), "a path is never empty");
  return DecodeClusteringKey(KeyColumn(key), path.substr(1))[0];
}

size_t FieldOfPath(std::string_view path) {
  LS_CHECK(path.size() == 3, "the path of a field has its number");
  return static_cast<size_t>(static_cast<uint8_t>(path[1])) << 8 | static_cast<uint8_t>(path[2]);
}

void ElementsValue::Begin(const DataType& type) {
  LS_DCHECK(type.is_multi_cell(), "other values are in one cell");
  const bool has_key = type.kind() == DataType::Kind::kSet || type.kind() == DataType::Kind::kMap;
  if (has_key && (key_.empty() || type_ == nullptr || !(key_[0].type == type.parameters()[0]))) {
    key_ = KeyColumn(type.parameters()[0]);
  }
  type_ = &type;
  count_ = 0;
  // Of collections the number of elements comes first.
  bytes_.assign(type.is_collection() ? 4 : 0, '\0');
}

void ElementsValue::Append(std::string_view bytes) {
  char length[4];
  StoreBigEndian32(length, static_cast<uint32_t>(bytes.size()));
  bytes_.append(length, sizeof(length));
  bytes_.append(bytes);
}

void ElementsValue::AppendKey(std::string_view path) {
  LS_CHECK(!path.empty(), "a path is never empty");
  Append(DecodeClusteringKey(key_, path.substr(1))[0]);
}

void ElementsValue::Add(std::string_view path, std::string_view value) {
  constexpr std::string_view kNull = "\xff\xff\xff\xff";
  switch (type_->kind()) {
    case DataType::Kind::kUser: {
      const size_t field = FieldOfPath(path);
      // The type may have got it since the statement was planned.
      if (field >= type_->parameters().size()) return;
      for (; count_ < field; ++count_) bytes_.append(kNull);
      break;
    }
    case DataType::Kind::kSet:
      AppendKey(path);
      ++count_;
      return;
    case DataType::Kind::kMap:
      AppendKey(path);
      break;
    default:
      break;
  }
  Append(value);
  ++count_;
}

std::string_view ElementsValue::Finish() {
  if (type_->is_collection()) {
    StoreBigEndian32(bytes_.data(), count_);
    return bytes_;
  }
  for (; count_ < type_->parameters().size(); ++count_) bytes_.append("\xff\xff\xff\xff", 4);
  return bytes_;
}

}  // namespace liststore
