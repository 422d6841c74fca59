#include "engine/cql/values/inet_text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

#include "engine/base/check.h"

namespace liststore::cql {
namespace {

constexpr size_t kBytes4 = 4;
constexpr size_t kGroups = 8;

// Four numbers up to 255 with dots between them, none with a leading zero.
std::optional<std::string> ParseIpv4(std::string_view text) {
  std::string bytes;
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || part.size() > 3 || (part.size() > 1 && part[0] == '0')) return std::nullopt;
    uint8_t byte = 0;
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), byte);
    if (failure != std::errc() || end != part.data() + part.size()) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
    if (dot == std::string_view::npos) break;
    text.remove_prefix(dot + 1);
  }
  if (bytes.size() != kBytes4) return std::nullopt;
  return bytes;
}

using Groups = std::vector<uint16_t>;

// Groups with colons between them, the last maybe an IPv4 address; none for an empty text.
std::optional<Groups> ParseGroups(std::string_view text, bool ipv4_may_end) {
  Groups groups;
  while (!text.empty()) {
    const size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    if (colon == std::string_view::npos && ipv4_may_end &&
        part.find('.') != std::string_view::npos) {
      const std::optional<std::string> ipv4 = ParseIpv4(part);
      if (!ipv4) return std::nullopt;
      for (size_t i = 0; i < kBytes4; i += 2) {
        groups.push_back(static_cast<uint16_t>(static_cast<uint8_t>((*ipv4)[i]) << 8 |
                                               static_cast<uint8_t>((*ipv4)[i + 1])));
      }
      return groups;
    }
    uint16_t group = 0;
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), group, 16);
    if (part.empty() || part.size() > 4 || failure != std::errc() ||
        end != part.data() + part.size()) {
      return std::nullopt;
    }
    groups.push_back(group);
    if (groups.size() > kGroups) return std::nullopt;
    if (colon == std::string_view::npos) return groups;
    text.remove_prefix(colon + 1);
    if (text.empty()) return std::nullopt;  // a colon with nothing behind it
  }
  return groups;
}

std::optional<std::string> ParseIpv6(std::string_view text) {
  const size_t gap = text.find("::");
  const bool has_gap = gap != std::string_view::npos;
  std::optional<Groups> groups = ParseGroups(text.substr(0, gap), !has_gap);
  if (!groups) return std::nullopt;
  if (has_gap) {
    const std::optional<Groups> behind = ParseGroups(text.substr(gap + 2), true);
    if (!behind || groups->size() + behind->size() >= kGroups) return std::nullopt;
    groups->resize(kGroups - behind->size(), 0);
    groups->insert(groups->end(), behind->begin(), behind->end());
  }
  if (groups->size() != kGroups) return std::nullopt;
  std::string bytes;
  for (const uint16_t group : *groups) {
    bytes.push_back(static_cast<char>(group >> 8));
    bytes.push_back(static_cast<char>(group & 0xff));
  }
  return bytes;
}

struct Run {
  size_t begin = 0;
  size_t length = 0;
};

// The longest run of zeros, the first of several; one group alone is none.
Run LongestZeros(const std::array<uint16_t, kGroups>& groups) {
  Run longest;
  for (size_t begin = 0; begin < kGroups; ++begin) {
    size_t length = 0;
    while (begin + length < kGroups && groups[begin + length] == 0) ++length;
    if (length > longest.length) longest = {begin, length};
  }
  return longest.length >= 2 ? longest : Run{};
}

std::string HexOf(uint16_t group) {
  char text[4];
  const auto [end, failure] = std::to_chars(text, text + sizeof(text), group, 16);
  LS_CHECK(failure == std::errc(), "16 bits are four digits");
  return {text, end};
}

}  // namespace

std::optional<std::string> ParseInet(std::string_view text) {
  return text.find(':') == std::string_view::npos ? ParseIpv4(text) : ParseIpv6(text);
}

std::string PrintInet(std::string_view bytes) {
  LS_CHECK(bytes.size() == kBytes4 || bytes.size() == 2 * kGroups, "an address is one of two");
  std::string text;
  if (bytes.size() == kBytes4) {
    for (const char byte : bytes) {
      if (!text.empty()) text += '.';
      text += std::to_string(static_cast<uint8_t>(byte));
    }
    return text;
  }
  std::array<uint16_t, kGroups> groups{};
  for (size_t i = 0; i < kGroups; ++i) {
    groups[i] = static_cast<uint16_t>(static_cast<uint8_t>(bytes[2 * i]) << 8 |
                                      static_cast<uint8_t>(bytes[2 * i + 1]));
  }
  const Run zeros = LongestZeros(groups);
  for (size_t i = 0; i < kGroups; ++i) {
    if (zeros.length != 0 && i == zeros.begin) {
      text += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += HexOf(groups[i]);
  }
  return text;
}

}  // namespace liststore::cql
