#include "engine/execute/text_key.h"

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/short_copy.h"
#include "engine/base/utf8.h"

namespace liststore::execute {
namespace {

// Of each of several components: two bytes of length before it, a zero byte behind.
constexpr size_t kFrameBytes = 3;

}  // namespace

std::optional<uint16_t> TextVariable(const cql::Operand& operand, size_t variables) {
  // From there on they are computed.
  if (!operand.marker || *operand.marker >= variables) return std::nullopt;
  if (!operand.type.is(CqlType::kText)) return std::nullopt;
  return static_cast<uint16_t>(*operand.marker);
}

std::optional<TextKey> TextKey::Of(const std::vector<cql::KeyAlternatives>& partition_key,
                                   size_t variables) {
  TextKey key;
  key.plan_variables_ = variables;
  for (const cql::KeyAlternatives& part : partition_key) {
    const bool is_one = !part.is_in && !part.is_tuple && !part.list && part.also.empty() &&
                        part.columns == 1 && part.alternatives.size() == 1;
    if (!is_one) return std::nullopt;
    const std::optional<uint16_t> variable = TextVariable(part.alternatives[0][0], variables);
    if (!variable) return std::nullopt;
    key.variables_.push_back(*variable);
  }
  if (key.variables_.empty()) return std::nullopt;
  return key;
}

bool TextKey::Make(Values values, std::string& memory, std::string_view& key) const {
  if (variables_.size() == 1) {
    const protocol::Value& value = values[variables_[0]];
    if (!value.has_bytes() || value.bytes().size() > kBytesMax || !IsAscii(value.bytes())) {
      return false;
    }
    key = value.bytes();
    return !key.empty();
  }
  if (memory.size() < kBytesMax) memory.resize(kBytesMax);
  char* to = memory.data();
  const char* const end = to + kBytesMax;
  for (const uint16_t variable : variables_) {
    const protocol::Value& value = values[variable];
    if (!value.has_bytes()) return false;
    const std::string_view component = value.bytes();
    const auto room = static_cast<size_t>(end - to);
    if (component.size() + kFrameBytes > room || !IsAscii(component)) return false;
    StoreBigEndian16(to, static_cast<uint16_t>(component.size()));
    to = CopyShort(component, to + sizeof(uint16_t));
    *to++ = '\0';
  }
  key = {memory.data(), static_cast<size_t>(to - memory.data())};
  return true;
}

}  // namespace liststore::execute
