#include "engine/model/partition_key.h"

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore {
namespace {

constexpr size_t kComponentLengthBytes = 2;
constexpr size_t kFrameBytes = kComponentLengthBytes + 1;  // length in front, zero byte behind

// Takes one framed component off the front of `rest`; false when it is cut short or ends in another
// byte than zero.
bool TakeComponent(std::string_view& rest, std::string_view& component) {
  if (rest.size() < kFrameBytes) return false;
  const size_t length = LoadBigEndian16(rest.data());
  if (rest.size() < kFrameBytes + length) return false;
  if (rest[kComponentLengthBytes + length] != '\0') return false;
  component = rest.substr(kComponentLengthBytes, length);
  rest.remove_prefix(kFrameBytes + length);
  return true;
}

}  // namespace

void AppendPartitionKey(std::span<const std::string_view> components, std::string& out) {
  LS_CHECK(!components.empty(), "a partition key has at least one component");
  if (components.size() == 1) {
    out.append(components[0]);
    return;
  }
  size_t bytes = 0;
  for (const std::string_view component : components) {
    LS_CHECK(component.size() <= kKeyBytesMax, "a component's length fits 16 bits");
    bytes += kFrameBytes + component.size();
  }
  // Zero bytes, so that those behind the components are there.
  out.resize(out.size() + bytes);
  char* at = out.data() + out.size() - bytes;
  for (const std::string_view component : components) {
    StoreBigEndian16(at, static_cast<uint16_t>(component.size()));
    component.copy(at + kComponentLengthBytes, component.size());
    at += kFrameBytes + component.size();
  }
}

std::optional<std::vector<std::string_view>> SplitPartitionKey(std::string_view key,
                                                               size_t component_count) {
  LS_CHECK(component_count > 0, "a partition key has at least one component");
  if (component_count == 1) return std::vector<std::string_view>{key};
  std::vector<std::string_view> components(component_count);
  for (std::string_view& component : components) {
    if (!TakeComponent(key, component)) return std::nullopt;
  }
  if (!key.empty()) return std::nullopt;
  return components;
}

std::string_view FirstComponent(std::string_view composite_key) {
  std::string_view component;
  const bool whole = TakeComponent(composite_key, component);
  LS_CHECK(whole, "a composite key begins with a whole component");
  return component;
}

}  // namespace liststore
