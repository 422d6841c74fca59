#include "engine/model/types/data_type.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore {
namespace {

constexpr size_t kPartLengthBytes = 4;

// Takes a length and as many bytes; nullopt when there are fewer. Negative lengths: `is_null`.
std::optional<std::string_view> TakeElement(std::string_view& rest, bool& is_null) {
  is_null = false;
  if (rest.size() < kPartLengthBytes) return std::nullopt;
  const auto length = static_cast<int32_t>(LoadBigEndian32(rest.data()));
  rest.remove_prefix(kPartLengthBytes);
  if (length < 0) {
    is_null = true;
    return std::string_view();
  }
  if (rest.size() < static_cast<size_t>(length)) return std::nullopt;
  const std::string_view element = rest.substr(0, static_cast<size_t>(length));
  rest.remove_prefix(static_cast<size_t>(length));
  return element;
}

bool AreValidFields(const std::vector<DataType>& fields, std::string_view value) {
  // Fields may be missing at the end: they were added to the type after the value was written.
  for (const DataType& field : fields) {
    if (value.empty()) return true;
    bool is_null = false;
    const std::optional<std::string_view> element = TakeElement(value, is_null);
    if (!element || (!is_null && !field.IsValid(*element))) return false;
  }
  return value.empty();
}

uint32_t Sum(uint32_t a, size_t b) {
  constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
  return b > kMax - a ? kMax : a + static_cast<uint32_t>(b);
}

std::string_view KindName(DataType::Kind kind) {
  switch (kind) {
    case DataType::Kind::kList:
      return "list";
    case DataType::Kind::kSet:
      return "set";
    case DataType::Kind::kMap:
      return "map";
    case DataType::Kind::kTuple:
      return "tuple";
    case DataType::Kind::kNative:
    case DataType::Kind::kUser:
      break;
  }
  LS_UNREACHABLE("native and user types have names of their own");
}

}  // namespace

// Source of the bytes: native_protocol_v4.spec section 4.2.5.2.
DataType::DataType(Kind kind, std::vector<DataType> parameters) : kind_(kind) {
  size_.bytes = has_fields() ? 4 : 2;
  size_.depth = 0;
  for (const DataType& parameter : parameters) {
    size_.bytes = Sum(size_.bytes, parameter.size_.bytes);
    size_.depth = std::max(size_.depth, parameter.size_.depth);
  }
  if (size_.depth < std::numeric_limits<uint16_t>::max()) ++size_.depth;
  if (parameters.empty()) return;
  parameters_ = std::make_shared<const std::vector<DataType>>(std::move(parameters));
}

const std::vector<DataType>& DataType::NoParameters() {
  static const std::vector<DataType> none;
  return none;
}

CqlType DataType::native() const {
  LS_CHECK(is_native(), "only native types are named by a CqlType");
  return native_;
}

DataType DataType::User(std::shared_ptr<const UserTypeNames> names, std::vector<DataType> fields) {
  LS_CHECK(names != nullptr && names->fields.size() == fields.size(), "every field has a name");
  DataType type(Kind::kUser, std::move(fields));
  const auto count = [&type](const std::string& name) {
    type.size_.bytes = Sum(type.size_.bytes, 2 + name.size());
  };
  count(names->keyspace);
  count(names->name);
  for (const std::string& field : names->fields) count(field);
  type.user_ = std::move(names);
  return type;
}

DataType DataType::Custom(std::string class_name) {
  DataType type = CqlType::kBlob;
  type.size_.bytes = Sum(type.size_.bytes, 2 + class_name.size());
  auto names = std::make_shared<UserTypeNames>();
  names->name_in_cql = "'" + class_name + "'";
  names->name = std::move(class_name);
  type.user_ = std::move(names);
  return type;
}

const std::string& DataType::custom_class() const {
  LS_CHECK(is_custom(), "only custom types have a class");
  return user_->name;
}

DataType DataType::Frozen(DataType type) {
  if (type.is_native() || type.frozen_) return type;
  type.frozen_ = true;
  if (std::ranges::none_of(type.parameters(), &DataType::is_multi_cell)) return type;
  std::vector<DataType> parameters = type.parameters();
  for (DataType& parameter : parameters) parameter = Frozen(std::move(parameter));
  type.parameters_ = std::make_shared<const std::vector<DataType>>(std::move(parameters));
  return type;
}

const UserTypeNames& DataType::user() const {
  LS_CHECK(kind_ == Kind::kUser, "only user types have names of their own");
  return *user_;
}

bool DataType::Contains(CqlType type) const {
  if (is(type)) return true;
  return std::ranges::any_of(parameters(), [&](const DataType& p) { return p.Contains(type); });
}

bool DataType::Contains(const UserTypeNames& user_type) const {
  if (IsUserType(user_type)) return true;
  return std::ranges::any_of(parameters(),
                             [&](const DataType& p) { return p.Contains(user_type); });
}

DataType DataType::WithUserType(const DataType& updated) const {
  return UserTypeReplacement(updated).In(*this);
}

UserTypeReplacement::UserTypeReplacement(DataType updated)
    : updated_(std::move(updated)), frozen_(DataType::Frozen(updated_)) {}

DataType UserTypeReplacement::In(const DataType& type) {
  if (type.IsUserType(updated_.user())) return type.frozen_ ? frozen_ : updated_;
  if (type.parameters_ == nullptr) return type;
  const auto known = replaced_.find(type.parameters_.get());
  if (known != replaced_.end()) {
    DataType replaced = known->second.after;
    replaced.frozen_ = type.frozen_;
    return replaced;
  }
  std::vector<DataType> parameters;
  bool is_changed = false;
  for (const DataType& parameter : *type.parameters_) {
    const DataType& now = parameters.emplace_back(In(parameter));
    is_changed |= now.parameters_ != parameter.parameters_ || now.user_ != parameter.user_;
  }
  DataType replaced = type;
  if (is_changed) {
    replaced = type.user_ != nullptr ? DataType::User(type.user_, std::move(parameters))
                                     : DataType(type.kind_, std::move(parameters));
    replaced.frozen_ = type.frozen_;
  }
  replaced_.insert_or_assign(type.parameters_.get(), Replaced{type, replaced});
  return replaced;
}

bool DataType::operator==(const DataType& other) const {
  if (kind_ != other.kind_ || native_ != other.native_ || frozen_ != other.frozen_ ||
      size_ != other.size_) {
    return false;
  }
  if (parameters_ != other.parameters_ && parameters() != other.parameters()) return false;
  return user_ == other.user_ ||
         (user_ != nullptr && other.user_ != nullptr && *user_ == *other.user_);
}

std::string DataType::ToString() const {
  if (is_custom()) return user_->name_in_cql;
  if (is_native()) return std::string(CqlTypeName(native_));
  std::string text;
  if (kind_ == Kind::kUser) {
    text = user_->name_in_cql;
  } else {
    text = KindName(kind_);
    const char* separator = "<";
    for (const DataType& parameter : *parameters_) {
      text += separator + parameter.ToString();
      separator = ", ";
    }
    text += '>';
  }
  return frozen_ ? "frozen<" + text + ">" : text;
}

bool DataType::IsValid(std::string_view value) const {
  if (is_native()) return IsValidCqlValue(native_, value);
  if (has_fields()) return AreValidFields(parameters(), value);
  const std::optional<std::vector<std::string_view>> elements = SplitCollection(*this, value);
  if (!elements) return false;
  for (size_t i = 0; i < elements->size(); ++i) {
    if (!(*parameters_)[i % parameters_->size()].IsValid((*elements)[i])) return false;
  }
  return true;
}

std::optional<std::vector<std::string_view>> SplitCollection(const DataType& type,
                                                             std::string_view value) {
  LS_CHECK(type.is_collection(), "only lists, sets and maps have elements");
  if (value.size() < kPartLengthBytes) return std::nullopt;
  const auto count = static_cast<int32_t>(LoadBigEndian32(value.data()));
  value.remove_prefix(kPartLengthBytes);
  if (count < 0) return std::nullopt;
  const uint64_t parts = static_cast<uint64_t>(count) * type.parameters().size();
  // Every part has a length, which bounds what a wrong count can make us set aside.
  if (parts > value.size() / kPartLengthBytes) return std::nullopt;
  std::vector<std::string_view> elements;
  elements.reserve(parts);
  for (uint64_t i = 0; i < parts; ++i) {
    bool is_null = false;
    const std::optional<std::string_view> element = TakeElement(value, is_null);
    if (!element || is_null) return std::nullopt;
    elements.push_back(*element);
  }
  if (!value.empty()) return std::nullopt;
  return elements;
}

std::string JoinCollection(const DataType& type, const std::vector<std::string>& elements) {
  LS_CHECK(elements.size() % type.parameters().size() == 0, "keys and values come in pairs");
  const auto append_length = [](std::string& out, size_t length) {
    char bytes[kPartLengthBytes];
    StoreBigEndian32(bytes, static_cast<uint32_t>(length));
    out.append(bytes, kPartLengthBytes);
  };
  std::string out;
  append_length(out, elements.size() / type.parameters().size());
  for (const std::string& element : elements) {
    append_length(out, element.size());
    out += element;
  }
  return out;
}

}  // namespace liststore
