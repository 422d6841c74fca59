#include "engine/lists/list_key.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/base/utf8.h"
#include "engine/model/partition_key.h"

namespace liststore {
namespace {

constexpr size_t kQuotedBytesMax = 64;
// What each component adds to the length bounded by kKeyBytesMax.
constexpr size_t kComponentFrameBytes = 2;
// What each component adds to the serialised key.
constexpr size_t kSerializedFrameBytes = 3;

absl::Status CheckName(const char* what, std::string_view name, char separator) {
  if (name.empty()) return absl::InvalidArgumentError(absl::StrCat(what, " is empty"));
  if (name.find(separator) != std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", Quoted(name), " holds '", absl::string_view(&separator, 1), "'"));
  }
  if (!IsValidUtf8(name)) {
    return absl::InvalidArgumentError(absl::StrCat(what, " ", Quoted(name), " is not UTF-8"));
  }
  return absl::OkStatus();
}

absl::Status NotUtf8(const char* what, std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(what, " ", Quoted(text), " is not UTF-8"));
}

inline absl::Status CheckText(const char* what, std::string_view text) {
  return IsValidUtf8(text) ? absl::OkStatus() : NotUtf8(what, text);
}

size_t FeatureKeyBytes(std::string_view entity_type, std::string_view feature,
                       std::string_view version) {
  return entity_type.size() + 1 + feature.size() + 1 + version.size();
}

constexpr size_t KeyBytes(size_t feature_key_bytes, size_t entity_id_bytes) {
  return feature_key_bytes + entity_id_bytes + 2 * kComponentFrameBytes;
}

absl::Status KeyTooLong(size_t feature_key_bytes, size_t entity_id_bytes) {
  return absl::InvalidArgumentError(
      absl::StrCat("list key of ", KeyBytes(feature_key_bytes, entity_id_bytes),
                   " bytes (feature key ", feature_key_bytes, ", entity id ", entity_id_bytes,
                   ", framing ", 2 * kComponentFrameBytes, ") exceeds ", kKeyBytesMax));
}

inline absl::Status CheckKeyBytes(size_t feature_key_bytes, size_t entity_id_bytes) {
  return KeyBytes(feature_key_bytes, entity_id_bytes) <= kKeyBytesMax
             ? absl::OkStatus()
             : KeyTooLong(feature_key_bytes, entity_id_bytes);
}

// Copies names of 8 to 32 bytes, that is most names, as two pieces of a fixed size that may
// overlap.
[[gnu::always_inline]] inline char* Append(char* to, std::string_view bytes) {
  const char* const from = bytes.data();
  const size_t size = bytes.size();
  if (size >= 16 && size <= 32) {
    std::memcpy(to, from, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
  } else if (size >= 8 && size < 16) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size != 0) {
    std::memcpy(to, from, size);
  }
  return to + size;
}

char* AppendFeatureKey(char* to, std::string_view entity_type, std::string_view feature,
                       std::string_view version) {
  to = Append(to, entity_type);
  *to++ = '#';
  to = Append(to, feature);
  *to++ = '|';
  return Append(to, version);
}

absl::Status CheckNames(std::string_view entity_type, std::string_view feature,
                        std::string_view version) {
  LS_RETURN_IF_ERROR(CheckName("entity type", entity_type, '#'));
  LS_RETURN_IF_ERROR(CheckName("feature", feature, '|'));
  return CheckText("version", version);
}

}  // namespace

absl::Status CheckFeatureNames(std::string_view entity_type, std::string_view feature,
                               std::string_view version) {
  LS_RETURN_IF_ERROR(CheckNames(entity_type, feature, version));
  return CheckKeyBytes(FeatureKeyBytes(entity_type, feature, version), 0);
}

std::string FeatureKey(std::string_view entity_type, std::string_view feature,
                       std::string_view version) {
  std::string key(FeatureKeyBytes(entity_type, feature, version), '\0');
  AppendFeatureKey(key.data(), entity_type, feature, version);
  return key;
}

std::string FramedFeatureKey(std::string_view feature_key) {
  LS_CHECK(feature_key.size() <= kKeyBytesMax, "the length of a component fits 16 bits");
  std::string framed(feature_key.size() + kSerializedFrameBytes, '\0');
  StoreBigEndian16(framed.data(), static_cast<uint16_t>(feature_key.size()));
  Append(framed.data() + 2, feature_key);
  return framed;
}

FeatureNames NamesOf(std::string_view feature_key) {
  FeatureNames names;
  const size_t hash = feature_key.find('#');
  names.entity_type = feature_key.substr(0, hash);
  if (hash == std::string_view::npos) return names;
  const std::string_view rest = feature_key.substr(hash + 1);
  const size_t bar = rest.find('|');
  names.feature = rest.substr(0, bar);
  if (bar != std::string_view::npos) names.version = rest.substr(bar + 1);
  return names;
}

std::string_view EntityIdOf(std::string_view partition_key) {
  const size_t first_bytes = FirstComponent(partition_key).size() + kSerializedFrameBytes;
  LS_CHECK(partition_key.size() >= first_bytes + kSerializedFrameBytes,
           "the key of a list has two components");
  return partition_key.substr(first_bytes + 2,
                              partition_key.size() - first_bytes - kSerializedFrameBytes);
}

std::string Quoted(std::string_view name) {
  const bool cut = name.size() > kQuotedBytesMax;
  return absl::StrCat("\"", absl::CHexEscape(ToAbsl(name.substr(0, kQuotedBytesMax))),
                      cut ? "...\"" : "\"");
}

ListId ListRef::id() const {
  if (entry_ == nullptr) return id_;
  const FeatureNames names = NamesOf(entry_->feature_key());
  return {names.entity_type, names.feature, names.version, id_.entity_id};
}

ListRef ListRefs::operator[](size_t index) const {
  LS_CHECK(index < size_, "the list is one of those that were given");
  if (ids_ != nullptr) return ids_[index];
  if (refs_ != nullptr) return refs_[index];
  return {ListFeature(entry_), entity_ids_[index]};
}

inline void ListKey::AppendEntityId(size_t first_bytes, std::string_view entity_id) {
  LS_DCHECK(size_ == first_bytes + entity_id.size() + kSerializedFrameBytes,
            "the key fills its room");
  char* const second = data_ + first_bytes;
  StoreBigEndian16(second, static_cast<uint16_t>(entity_id.size()));
  *Append(second + 2, entity_id) = '\0';
}

absl::Status ListKey::AssignNames(const ListId& list) {
  LS_RETURN_IF_ERROR(CheckNames(list.entity_type, list.feature, list.version));
  LS_RETURN_IF_ERROR(CheckText("entity id", list.entity_id));
  feature_key_bytes_ = FeatureKeyBytes(list.entity_type, list.feature, list.version);
  LS_RETURN_IF_ERROR(CheckKeyBytes(feature_key_bytes_, list.entity_id.size()));
  const size_t first_bytes = feature_key_bytes_ + kSerializedFrameBytes;
  char* const data = Reserve(first_bytes + list.entity_id.size() + kSerializedFrameBytes);
  StoreBigEndian16(data, static_cast<uint16_t>(feature_key_bytes_));
  char* const end = AppendFeatureKey(data + 2, list.entity_type, list.feature, list.version);
  *end = '\0';
  AppendEntityId(first_bytes, list.entity_id);
  return absl::OkStatus();
}

absl::Status ListKey::Assign(std::string_view framed_feature_key, std::string_view entity_id) {
  LS_DCHECK(framed_feature_key.size() > kSerializedFrameBytes, "a feature_key is never empty");
  const size_t bytes = framed_feature_key.size() + entity_id.size() + kSerializedFrameBytes;
  // Most keys, without a way out of line that registers would have to be saved for.
  if (bytes <= kInlineBytes && IsAscii(entity_id)) [[likely]] {
    feature_key_bytes_ = framed_feature_key.size() - kSerializedFrameBytes;
    data_ = inline_;
    size_ = bytes;
    Append(data_, framed_feature_key);
    AppendEntityId(framed_feature_key.size(), entity_id);
    return absl::OkStatus();
  }
  return AssignLong(framed_feature_key, entity_id);
}

absl::Status ListKey::AssignLong(std::string_view framed_feature_key, std::string_view entity_id) {
  LS_RETURN_IF_ERROR(CheckText("entity id", entity_id));
  feature_key_bytes_ = framed_feature_key.size() - kSerializedFrameBytes;
  LS_RETURN_IF_ERROR(CheckKeyBytes(feature_key_bytes_, entity_id.size()));
  char* const data = Reserve(framed_feature_key.size() + entity_id.size() + kSerializedFrameBytes);
  Append(data, framed_feature_key);
  AppendEntityId(framed_feature_key.size(), entity_id);
  return absl::OkStatus();
}

char* ListKey::Reserve(size_t bytes) {
  if (bytes <= kInlineBytes) {
    data_ = inline_;
  } else {
    if (bytes > heap_bytes_) {
      heap_ = std::make_unique_for_overwrite<char[]>(bytes);
      heap_bytes_ = bytes;
    }
    data_ = heap_.get();
  }
  size_ = bytes;
  return data_;
}

}  // namespace liststore
