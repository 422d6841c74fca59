#include "engine/serve/node_look.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/base/utf8.h"

namespace liststore {
namespace {

// Nobody names a rack in more; and an error has to be readable.
constexpr size_t kNameBytesMax = 128;
constexpr size_t kVersionBytesMax = 64;
constexpr std::string_view kScyllaPrefix = "scylla-";

absl::Status CheckName(std::string_view option, std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToAbsl(option), " has ", name.size(), " bytes, not 1 to ", kNameBytesMax));
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (!IsValidUtf8(name) || std::ranges::any_of(name, is_control)) {
    return absl::InvalidArgumentError(absl::StrCat(
        ToAbsl(option), " '", absl::CHexEscape(ToAbsl(name)), "' is not printable UTF-8"));
  }
  return absl::OkStatus();
}

// As many as num_tokens says, at equal distances, the first of which is 0.
absl::Status SetTokens(const settings::ScyllaConfig& config, NodeLook& look) {
  constexpr int64_t kTokensMax = 4096;
  const int64_t count = std::max<int64_t>(config.integer("num_tokens"), 1);
  if (count > kTokensMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_tokens: ", count, " is more than ", kTokensMax));
  }
  const uint64_t step = std::numeric_limits<uint64_t>::max() / static_cast<uint64_t>(count);
  look.facts.tokens.clear();
  for (int64_t i = 0; i < count; ++i) {
    const auto token = static_cast<int64_t>(static_cast<uint64_t>(i) * step);
    look.facts.tokens.push_back(std::to_string(token));
  }
  return absl::OkStatus();
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "3.11.17", "5.0", "2025.1.0-rc1": two numbers at least, and what may follow them.
bool IsVersion(std::string_view text) {
  const auto number_bytes = [](std::string_view from) {
    return static_cast<size_t>(std::ranges::find_if_not(from, IsDigit) - from.begin());
  };
  const size_t major = number_bytes(text);
  if (major == 0 || major > 4 || major == text.size() || text[major] != '.') return false;
  const std::string_view behind = text.substr(major + 1);
  return number_bytes(behind) > 0 && text.size() <= kVersionBytesMax &&
         std::ranges::all_of(behind, [](char c) {
           return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  std::string_view(".-_~+").find(c) != std::string_view::npos;
         });
}

uint32_t NumberAt(std::string_view text) {
  uint32_t number = 0;
  for (size_t i = 0; i < text.size() && IsDigit(text[i]) && number < 10'000; ++i) {
    number = number * 10 + static_cast<uint32_t>(text[i] - '0');
  }
  return number;
}

absl::Status NotAVersion(std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("release_version is '", absl::CHexEscape(ToAbsl(text.substr(0, kNameBytesMax))),
                   "', not a version like 3.11.17, 4.1 or scylla-2025.1"));
}

// The version of CQL that a Cassandra of this version speaks. Source: Cassandra
// `QueryProcessor.java`, CQL_VERSION.
std::string_view CqlVersionOf(uint32_t major, uint32_t minor) {
  if (major == 3) return minor >= 11 ? "3.4.4" : "3.4.0";
  if (major == 4) return minor >= 1 ? "3.4.6" : "3.4.5";
  return "3.4.7";
}

absl::Status LookLikeCassandra(std::string_view version, NodeLook& look) {
  const uint32_t major = NumberAt(version);
  if (major < 3 || major > 5) {
    return absl::InvalidArgumentError(
        absl::StrCat("release_version is '", ToAbsl(version),
                     "', not of Cassandra 3 to 5, like which the server can look (a ScyllaDB's is "
                     "written scylla-",
                     ToAbsl(version), ")"));
  }
  look.cassandra_major = major;
  look.facts.cql_version = CqlVersionOf(major, NumberAt(version.substr(version.find('.') + 1)));
  return absl::OkStatus();
}

// What CqlServerOptions::like may be.
struct Likeness {
  bool is_scylla = true;
  std::string_view release_version;  // in the words of that option
  cql::Dialect dialect;
};

absl::StatusOr<Likeness> FindLikeness(std::string_view name) {
  if (name.empty()) return Likeness{};
  const Likeness all[] = {
      {true, "scylla-2025.1.0", cql::ScyllaDialect()},
      {false, "3.11.17", cql::CassandraDialect(3, 11)},
      {false, "4.1.8", cql::CassandraDialect(4, 1)},
      {false, "5.0.8", cql::CassandraDialect(5, 0)},
  };
  for (const Likeness& likeness : all) {
    if (likeness.dialect.name == name) return likeness;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("like is '", absl::CHexEscape(ToAbsl(name.substr(0, kNameBytesMax))),
                   "', not scylla:2025.1, cassandra:3.11, cassandra:4.1 or cassandra:5.0"));
}

absl::Status SetVersion(std::string_view asked, NodeLook& look) {
  if (asked.empty()) return absl::OkStatus();
  if (asked.starts_with(kScyllaPrefix)) {
    const std::string_view version = asked.substr(kScyllaPrefix.size());
    if (!IsVersion(version)) return NotAVersion(asked);
    if (!look.looks_like_scylla) {
      return absl::InvalidArgumentError(absl::StrCat("release_version is '", ToAbsl(asked),
                                                     "', but the server looks like Cassandra"));
    }
    // Every ScyllaDB has the release_version of the defaults: that of the Cassandra it began as.
    look.facts.scylla_version = version;
    return absl::OkStatus();
  }
  if (!IsVersion(asked)) return NotAVersion(asked);
  look.facts.release_version = asked;
  return look.looks_like_scylla ? absl::OkStatus() : LookLikeCassandra(asked, look);
}

}  // namespace

absl::StatusOr<settings::ScyllaConfig> MakeScyllaConfig(const CqlServerOptions& options) {
  settings::ScyllaConfig config;
  for (const ScyllaOption& option : options.scylla_options) {
    const settings::SettingSource source = option.is_from_file
                                               ? settings::SettingSource::kFile
                                               : settings::SettingSource::kCommandLine;
    if (const auto error = config.Set(option.name, option.value, source)) {
      return absl::InvalidArgumentError(*error);
    }
  }
  LS_ASSIGN_OR_RETURN(const Likeness likeness, FindLikeness(options.like));
  if (options.looks_like_scylla.value_or(likeness.is_scylla)) return config;
  // A Cassandra has none of these warnings, unless they were asked for.
  for (const auto& [name, value] : {std::pair("minimum_replication_factor_warn_threshold", "-1"),
                                    std::pair("replication_strategy_warn_list", "[]"),
                                    std::pair("strict_is_not_null_in_views", "false")}) {
    if (config.is_given(name)) continue;
    const auto error = config.Set(name, value, settings::SettingSource::kDefault);
    LS_CHECK(!error.has_value(), "these are values of the table's settings");
  }
  return config;
}

absl::StatusOr<NodeLook> MakeNodeLook(const CqlServerOptions& options,
                                      const settings::ScyllaConfig& config) {
  LS_RETURN_IF_ERROR(CheckName("data_center", options.data_center));
  for (const std::string& other : options.other_data_centers) {
    LS_RETURN_IF_ERROR(CheckName("other_data_centers", other));
  }
  LS_RETURN_IF_ERROR(CheckName("rack", options.rack));
  LS_RETURN_IF_ERROR(CheckName("cluster_name", options.cluster_name));
  NodeLook look;
  look.facts.data_center = options.data_center;
  look.facts.other_data_centers = options.other_data_centers;
  look.facts.knows_data_centers = options.refuses_unknown_data_centers;
  look.facts.rack = options.rack;
  look.facts.cluster_name = options.cluster_name;
  LS_ASSIGN_OR_RETURN(const Likeness likeness, FindLikeness(options.like));
  look.dialect = likeness.dialect;
  look.looks_like_scylla = options.looks_like_scylla.value_or(likeness.is_scylla);
  look.facts.looks_like_scylla = look.looks_like_scylla;
  std::string_view version = options.release_version;
  // A version of the other look is nobody's wish.
  const bool fits = look.looks_like_scylla == likeness.is_scylla || !likeness.is_scylla;
  if (version.empty() && fits) version = likeness.release_version;
  LS_RETURN_IF_ERROR(SetTokens(config, look));
  LS_RETURN_IF_ERROR(SetVersion(version, look));
  return look;
}

}  // namespace liststore
