#include "programs/console/host_port.h"

#include <charconv>

namespace liststore {
namespace {

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, port);
  if (failure != std::errc() || at != end) return std::nullopt;
  return port;
}

}  // namespace

std::optional<HostPort> ParseHostPort(std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') return std::nullopt;
  } else if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    // More than one colon is an address of IPv6.
    if (text.find(':', colon + 1) == std::string_view::npos) {
      host = text.substr(0, colon);
      port = text.substr(colon);
    }
  }
  if (host.empty()) return std::nullopt;
  HostPort parsed{.host = std::string(host)};
  if (port.empty()) return parsed;
  parsed.port = ParsePort(port.substr(1));
  if (!parsed.port) return std::nullopt;
  return parsed;
}

std::string HostPortText(std::string_view host, uint16_t port) {
  const bool has_colons = host.find(':') != std::string_view::npos;
  return (has_colons ? "[" + std::string(host) + "]" : std::string(host)) + ":" +
         std::to_string(port);
}

}  // namespace liststore
