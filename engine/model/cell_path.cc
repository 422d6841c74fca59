#include "engine/model/cell_path.h"

#include <array>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/model/clustering_encoding.h"

namespace liststore {
namespace {

constexpr char kFirst = 1;
constexpr uint64_t kSign = uint64_t{1} << 63;

std::vector<ClusteringColumnSchema> KeyColumn(const DataType& key) {
  return {{std::string(), key, false}};
}

}  // namespace

void AppendPath(const ListPosition& position, std::string& out) {
  std::array<char, 12> bytes;
  StoreBigEndian64(bytes.data(), static_cast<uint64_t>(position.micros) ^ kSign);
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
      Append(KeyOfPath(type_->parameters()[0], path));
      ++count_;
      return;
    case DataType::Kind::kMap:
      Append(KeyOfPath(type_->parameters()[0], path));
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
