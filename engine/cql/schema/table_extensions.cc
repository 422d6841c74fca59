#include "engine/cql/schema/table_extensions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/syntax/quoting.h"

namespace liststore::cql {
namespace schema_change {
namespace {

constexpr char kMode[] = "mode";
constexpr char kDelay[] = "propagation_delay_in_seconds";
constexpr char kDelayDefault[] = "3600";

// ---- cdc.

CqlError InvalidCdc(const std::string& option, const std::string& value) {
  return CqlError::Config("Invalid value for CDC option \"" + option + "\": " + value);
}

CqlStatus SetCdc(const std::string& given_option, const std::string& given, PropertyMap& cdc) {
  const std::string option = AsciiLower(given_option);
  const std::string value = AsciiLower(given);
  const bool is_true = value == "true" || value == "1";
  const bool is_boolean = is_true || value == "false" || value == "0";
  const std::string boolean = is_true ? "true" : "false";
  if (option == "enabled" || option == "postimage") {
    if (!is_boolean) return InvalidCdc(option, given);
    cdc[option] = boolean;
  } else if (option == "preimage") {
    if (!is_boolean && value != "full") return InvalidCdc(option, given);
    cdc[option] = is_boolean ? boolean : value;
  } else if (option == "delta") {
    if (value != "keys" && value != "full") return InvalidCdc(option, given);
    cdc[option] = value;
  } else if (option == "ttl") {
    const std::optional<int64_t> seconds = ParseInteger(given);
    if (!seconds) return InvalidCdc(option, given);
    if (*seconds > INT32_MAX) return CqlError::Config("Invalid CDC option: ttl too large");
    if (*seconds < 0) return CqlError::Config("Invalid CDC option: ttl must be >= 0");
    cdc[option] = std::to_string(*seconds);
  } else {
    return CqlError::Config("Invalid CDC option: " + given_option);
  }
  return {};
}

CqlStatus ApplyCdc(const Properties& properties, TableOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto given, properties.Map("cdc"));
  if (!given) return {};
  PropertyMap cdc = {{"enabled", "false"},
                     {"preimage", "false"},
                     {"postimage", "false"},
                     {"delta", "full"},
                     {"ttl", "86400"}};
  bool is_enabled_said = false;
  for (const auto& [option, value] : *given) {
    LS_RETURN_IF_ERROR(SetCdc(option, value, cdc));
    is_enabled_said |= AsciiLower(option) == "enabled";
  }
  if (cdc.at("enabled") == "true") return CqlError::Unsupported(CqlFeature::kCdc, "cdc");
  // The other options are nothing without that one.
  if (!is_enabled_said) cdc.clear();
  options.schema_extensions["cdc"] = std::move(cdc);
  return {};
}

// ---- tombstone_gc.

int64_t CopiesOfRows(const KeyspaceDefinition& keyspace) {
  int64_t copies = 0;
  for (const auto& [option, value] : keyspace.replication) {
    if (option != "class") copies += ParseInteger(value).value_or(0);
  }
  // EverywhereStrategy has no options, and one node.
  return keyspace.replication.size() == 1 ? 1 : copies;
}

CqlStatus ApplyTombstoneGc(const Properties& properties, const KeyspaceDefinition& keyspace,
                           TableOptions& options) {
  constexpr std::array<std::string_view, 4> kModes = {"disabled", "repair", "timeout", "immediate"};
  LS_ASSIGN_OR_RETURN(const auto given, properties.Map("tombstone_gc"));
  const bool needs_repair = CopiesOfRows(keyspace) != 1;
  if (!given) {
    const char* mode = keyspace.uses_tablets() && needs_repair ? "repair" : "timeout";
    options.schema_extensions.try_emplace("tombstone_gc",
                                          PropertyMap{{kMode, mode}, {kDelay, kDelayDefault}});
    return {};
  }
  PropertyMap kept = {{kMode, "timeout"}, {kDelay, kDelayDefault}};
  for (const auto& [option, value] : *given) {
    if (option != kMode && option != kDelay) {
      return CqlError::Config("Invalid tombstone_gc option: " + option);
    }
    const std::optional<int64_t> seconds = ParseInteger(value);
    const bool valid = option == kMode ? std::ranges::count(kModes, value) != 0
                                       : seconds.has_value() && *seconds >= 0;
    if (!valid) {
      return CqlError::Config("Invalid value for tombstone_gc option " + option + ": " + value);
    }
    kept[option] = option == kMode ? value : std::to_string(*seconds);
  }
  if (kept.at(kMode) == "repair" && !needs_repair) {
    return CqlError::Config(
        "tombstone_gc option with mode = repair not supported for table with RF one or local "
        "replication strategy");
  }
  options.schema_extensions["tombstone_gc"] = std::move(kept);
  return {};
}

// ---- Of a number, and of tags.

CqlStatus ApplyPaxosGrace(const Properties& properties, TableOptions& options) {
  LS_ASSIGN_OR_RETURN(const std::optional<int32_t> seconds, properties.Int("paxos_grace_seconds"));
  if (!seconds) return {};
  if (*seconds < 0) {
    return CqlError::Config("paxos_grace_seconds cannot be smaller than 0, (default 864000)");
  }
  options.schema_extensions["paxos_grace_seconds"] = *seconds;
  return {};
}

// Views are up to date when a write is answered whatever this says.
CqlStatus ApplyTags(const Properties& properties, TableOptions& options) {
  LS_ASSIGN_OR_RETURN(auto tags, properties.Map("scylla_tags"));
  if (tags) options.schema_extensions["scylla_tags"] = *std::move(tags);
  LS_ASSIGN_OR_RETURN(const auto synchronous, properties.Boolean("synchronous_updates"));
  if (synchronous) {
    options.schema_extensions["scylla_tags"] =
        PropertyMap{{std::string(kSynchronousViewTag), *synchronous ? "true" : "false"}};
  }
  return {};
}

}  // namespace

CqlStatus ApplyExtensions(const Properties& properties, const KeyspaceDefinition& keyspace,
                          TableOptions& options) {
  LS_RETURN_IF_ERROR(ApplyCdc(properties, options));
  LS_RETURN_IF_ERROR(ApplyTombstoneGc(properties, keyspace, options));
  LS_RETURN_IF_ERROR(ApplyPaxosGrace(properties, options));
  return ApplyTags(properties, options);
}

}  // namespace schema_change

namespace {

void AppendNumber(uint32_t number, std::string& bytes) {
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift);
}

}  // namespace

std::string ExtensionText(const TableExtension& extension) {
  if (const int32_t* number = std::get_if<int32_t>(&extension)) return std::to_string(*number);
  std::string text;
  for (const auto& [key, value] : std::get<PropertyMap>(extension)) {
    text += (text.empty() ? "{" : ", ") + QuoteString(key) + ": " + QuoteString(value);
  }
  return text.empty() ? "{}" : text + "}";
}

std::string SerializedExtension(const TableExtension& extension) {
  std::string bytes;
  if (const int32_t* number = std::get_if<int32_t>(&extension)) {
    AppendNumber(static_cast<uint32_t>(*number), bytes);
    return bytes;
  }
  const PropertyMap& map = std::get<PropertyMap>(extension);
  AppendNumber(static_cast<uint32_t>(map.size()), bytes);
  for (const auto& entry : map) {
    for (const std::string& text : {entry.first, entry.second}) {
      AppendNumber(static_cast<uint32_t>(text.size()), bytes);
      bytes += text;
    }
  }
  return bytes;
}

}  // namespace liststore::cql
