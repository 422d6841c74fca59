#include "engine/model/types/composite_value.h"

#include <algorithm>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore {
namespace {

using Kind = DataType::Kind;
using MaybeValue = std::optional<std::string>;

constexpr size_t kLengthBytes = 4;

int CompareElements(const DataType& type, std::string_view a, std::string_view b) {
  const std::optional<std::vector<std::string_view>> left = SplitCollection(type, a);
  const std::optional<std::vector<std::string_view>> right = SplitCollection(type, b);
  LS_CHECK(left && right, "values are validated before they are compared");
  const size_t common = std::min(left->size(), right->size());
  for (size_t i = 0; i < common; ++i) {
    const DataType& element = type.parameters()[i % type.parameters().size()];
    if (const int order = CompareValues(element, (*left)[i], (*right)[i])) return order;
  }
  return left->size() < right->size() ? -1 : left->size() > right->size() ? 1 : 0;
}

int CompareFields(const DataType& type, std::string_view a, std::string_view b) {
  const auto left = SplitTuple(type, a);
  const auto right = SplitTuple(type, b);
  LS_CHECK(left && right, "values are validated before they are compared");
  for (size_t i = 0; i < type.parameters().size(); ++i) {
    const auto& field_a = (*left)[i];
    const auto& field_b = (*right)[i];
    if (!field_a || !field_b) {
      if (field_a.has_value() != field_b.has_value()) return field_a.has_value() ? 1 : -1;
      continue;
    }
    if (const int order = CompareValues(type.parameters()[i], *field_a, *field_b)) return order;
  }
  return 0;
}

}  // namespace

namespace {

void AppendLength(size_t length, std::string& out) {
  char bytes[kLengthBytes];
  StoreBigEndian32(bytes, static_cast<uint32_t>(length));
  out.append(bytes, kLengthBytes);
}

// A set or map of elements in any order. Of small ones it is several times the value that is taken
// meanwhile: 20 bytes for each.
std::string EncodeSorted(const DataType& type, const std::vector<std::string_view>& elements) {
  const size_t stride = type.parameters().size();
  const DataType& key_type = type.parameters()[0];
  // By key; among equal ones in the order given, of which the first stays.
  std::vector<uint32_t> order(elements.size() / stride);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i * stride);
  const auto compare = [&](uint32_t a, uint32_t b) {
    return CompareValues(key_type, elements[a], elements[b]);
  };
  const auto precedes = [&](uint32_t a, uint32_t b) { return compare(a, b) < 0; };
  if (!std::ranges::is_sorted(order, precedes)) {
    std::stable_sort(order.begin(), order.end(), precedes);
  }
  const auto is_same = [&](uint32_t a, uint32_t b) { return compare(a, b) == 0; };
  order.erase(std::unique(order.begin(), order.end(), is_same), order.end());
  std::string value;
  AppendLength(order.size(), value);
  for (const uint32_t first : order) {
    for (size_t part = 0; part < stride; ++part) {
      AppendLength(elements[first + part].size(), value);
      value += elements[first + part];
    }
  }
  return value;
}

}  // namespace

std::string EncodeCollection(const DataType& type, std::vector<std::string> elements) {
  LS_CHECK(type.is_collection(), "lists, sets and maps have elements");
  LS_CHECK(elements.size() % type.parameters().size() == 0, "keys and values come in pairs");
  if (type.kind() == Kind::kList) return JoinCollection(type, elements);
  return EncodeSorted(type, {elements.begin(), elements.end()});
}

std::string EncodeTuple(const std::vector<MaybeValue>& fields) {
  std::string value;
  for (const MaybeValue& field : fields) {
    char length[kLengthBytes];
    StoreBigEndian32(length, field ? static_cast<uint32_t>(field->size()) : ~uint32_t{0});
    value.append(length, kLengthBytes);
    if (field) value += *field;
  }
  return value;
}

std::optional<std::vector<std::optional<std::string_view>>> SplitTuple(const DataType& type,
                                                                       std::string_view value) {
  LS_CHECK(type.has_fields(), "only tuples and user types have fields");
  std::vector<std::optional<std::string_view>> fields(type.parameters().size());
  for (auto& field : fields) {
    if (value.empty()) return fields;
    if (value.size() < kLengthBytes) return std::nullopt;
    const auto length = static_cast<int32_t>(LoadBigEndian32(value.data()));
    value.remove_prefix(kLengthBytes);
    if (length < 0) continue;
    if (value.size() < static_cast<size_t>(length)) return std::nullopt;
    field = value.substr(0, static_cast<size_t>(length));
    value.remove_prefix(static_cast<size_t>(length));
  }
  return fields;
}

size_t CountFields(std::string_view value) {
  size_t count = 0;
  for (; !value.empty(); ++count) {
    const auto length = static_cast<int32_t>(LoadBigEndian32(value.data()));
    value.remove_prefix(kLengthBytes + static_cast<size_t>(std::max(length, 0)));
  }
  return count;
}

std::optional<std::string_view> ElementAt(const DataType& type, std::string_view value,
                                          std::string_view index_or_key) {
  const auto parts = SplitCollection(type, value);
  LS_CHECK(parts.has_value(), "values are validated before they are taken apart");
  if (type.kind() == Kind::kList) {
    if (index_or_key.size() != sizeof(uint32_t)) return std::nullopt;
    // A negative one is beyond all lists.
    const size_t index = LoadBigEndian32(index_or_key.data());
    return index < parts->size() ? std::optional((*parts)[index]) : std::nullopt;
  }
  LS_CHECK(type.kind() == Kind::kMap, "lists and maps have elements that are asked for");
  for (size_t i = 0; i < parts->size(); i += 2) {
    if (CompareValues(type.parameters()[0], (*parts)[i], index_or_key) == 0) {
      return (*parts)[i + 1];
    }
  }
  return std::nullopt;
}

bool HasOrder(const DataType& type) {
  return type.kind() == Kind::kSet || type.kind() == Kind::kMap ||
         std::ranges::any_of(type.parameters(), HasOrder);
}

std::string InOrder(const DataType& type, std::string_view value) {
  if (!HasOrder(type)) return std::string(value);
  if (type.has_fields()) {
    const auto split = SplitTuple(type, value);
    LS_CHECK(split.has_value(), "values are validated before they are put in order");
    std::vector<MaybeValue> fields(split->size());
    for (size_t i = 0; i < fields.size(); ++i) {
      if ((*split)[i]) fields[i] = InOrder(type.parameters()[i], *(*split)[i]);
    }
    return EncodeTuple(fields);
  }
  const auto split = SplitCollection(type, value);
  LS_CHECK(split.has_value(), "values are validated before they are put in order");
  // As a rule nothing within them has to be put in order, and none is copied.
  if (std::ranges::none_of(type.parameters(), HasOrder)) return EncodeSorted(type, *split);
  std::vector<std::string> elements;
  for (size_t i = 0; i < split->size(); ++i) {
    elements.push_back(InOrder(type.parameters()[i % type.parameters().size()], (*split)[i]));
  }
  return EncodeCollection(type, std::move(elements));
}

int CompareValues(const DataType& type, std::string_view a, std::string_view b) {
  if (type.is_native()) return CompareCqlValues(type.native(), a, b);
  return type.has_fields() ? CompareFields(type, a, b) : CompareElements(type, a, b);
}

}  // namespace liststore
