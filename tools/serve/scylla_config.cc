#include "tools/serve/scylla_config.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/base/nearest_name.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "tools/serve/scylla_yaml.h"

namespace liststore {
namespace {

// YAML has more words for them than ScyllaDB's other sources.
std::string FromYaml(settings::SettingType type, const std::string& value) {
  if (type != settings::SettingType::kBoolean) return value;
  const std::string lower = absl::AsciiStrToLower(value);
  if (lower == "yes" || lower == "on" || lower == "y" || lower == "true") return "true";
  if (lower == "no" || lower == "off" || lower == "n" || lower == "false") return "false";
  return value;
}

std::vector<std::string_view> ScyllaNames() {
  std::vector<std::string_view> names;
  for (const settings::Setting& setting : settings::ScyllaSettings()) names.push_back(setting.name);
  return names;
}

absl::Status TakeFile(const std::string& path, ScyllaChoice& choice) {
  LS_ASSIGN_OR_RETURN(const std::vector<ScyllaYamlEntry> entries, ReadScyllaYaml(path));
  for (const ScyllaYamlEntry& entry : entries) {
    const std::string place = absl::StrCat(path, ":", entry.line, ": ");
    const std::optional<size_t> position = settings::FindScyllaSetting(entry.name);
    if (!position) {
      choice.unknown.push_back(absl::StrCat(place, entry.name, ": ScyllaDB has no such option",
                                            DidYouMean(entry.name, ScyllaNames())));
      continue;
    }
    const settings::Setting& setting = settings::ScyllaSettings()[*position];
    const std::string value = FromYaml(setting.type, entry.value);
    if (const auto error = choice.config.Set(entry.name, value, settings::SettingSource::kFile)) {
      return absl::InvalidArgumentError(absl::StrCat(place, *error));
    }
    choice.given.push_back({std::string(setting.name), value, /*is_from_file=*/true});
    choice.origins[std::string(setting.name)] = {settings::SettingSource::kFile,
                                                 absl::StrCat(path, ":", entry.line)};
    if (!setting.has_effect()) choice.without_effect.emplace_back(setting.name);
  }
  return absl::OkStatus();
}

absl::Status TakeOption(const std::string& option, const SettingOrigin& origin,
                        ScyllaChoice& choice) {
  const std::string where =
      origin.source == settings::SettingSource::kFile
          ? absl::StrCat(origin.place, ": ")
          : absl::StrCat(origin.place.empty() ? "--scylla-option" : origin.place, " ");
  const size_t at = option.find('=');
  if (at == std::string::npos || at == 0) {
    return absl::InvalidArgumentError(absl::StrCat(where, "'", option, "' is not NAME=VALUE"));
  }
  // Its own command line has hyphens.
  std::string name = option.substr(0, at);
  std::ranges::replace(name, '-', '_');
  const std::string value = option.substr(at + 1);
  if (const auto error = choice.config.Set(name, value, settings::SettingSource::kCommandLine)) {
    return absl::InvalidArgumentError(absl::StrCat(where, *error));
  }
  const settings::Setting& setting = settings::ScyllaSettings()[*settings::FindScyllaSetting(name)];
  choice.given.push_back({std::string(setting.name), value, /*is_from_file=*/false});
  choice.origins[std::string(setting.name)] = origin;
  choice.own.emplace(setting.name);
  if (!setting.has_effect()) choice.without_effect.emplace_back(setting.name);
  return absl::OkStatus();
}

// Whether ScyllaDB's option `name` decides about the flag `flag`, and notes it.
bool Decides(std::string_view name, std::string_view flag, ScyllaChoice& choice) {
  if (choice.options.sources.contains(flag) || !choice.config.is_given(name)) return false;
  choice.from_scylla.emplace(flag, name);
  return true;
}

constexpr std::string_view kEncryption = "client_encryption_options";

// A port of CQL, and the one of TLS beside it: ScyllaDB's options and our flags.
struct TlsPair {
  std::string_view plain;
  std::string_view ssl;
  std::string_view flag;  // of the plain one
  std::string_view tls_flag;
};

// Once TLS is enabled: returns whether `plain` takes it itself, else there is `ssl` beside it, where
// nullopt is the program's default. Source of the rule: ScyllaDB transport/controller.cc,
// start_listening_on_tcp_sockets.
template <typename Port>
bool TakeTlsPair(const TlsPair& pair, ScyllaChoice& choice, Port& plain,
                 std::optional<uint16_t>& ssl) {
  const settings::ScyllaConfig& config = choice.config;
  const ServeOptions& options = choice.options;
  if (options.sources.contains("tls-port") || options.sources.contains(pair.tls_flag)) return false;
  const auto number = [&](std::string_view name) {
    return static_cast<uint16_t>(config.integer(name));
  };
  const bool has_plain = config.is_given(pair.plain);
  const bool has_ssl = config.is_given(pair.ssl);
  // Who asks for a port of CQL does not want what the file has beside its own.
  const bool is_asked = options.sources.contains("cql-port") || options.sources.contains(pair.flag);
  if (has_plain && has_ssl && number(pair.plain) != number(pair.ssl)) {
    ssl = is_asked ? uint16_t{0} : number(pair.ssl);
    choice.from_scylla.emplace(pair.tls_flag, pair.ssl);
    return false;
  }
  if (has_ssl && !is_asked) {
    plain = number(pair.ssl);
    choice.from_scylla.emplace(pair.flag, pair.ssl);
  }
  return true;
}

void TakeEncryption(ScyllaChoice& choice) {
  ServeOptions& options = choice.options;
  // Source: ScyllaDB db/config.cc, configure_tls_creds_builder.
  std::string certificate = "conf/scylla.crt";
  std::string key = "conf/scylla.key";
  std::string ca;
  bool is_enabled = false;
  bool requires_certificate = false;
  for (const auto& [name, value] : settings::EntriesOf(choice.config.of(kEncryption).text)) {
    const bool is_true = FromYaml(settings::SettingType::kBoolean, value) == "true" || value == "1";
    if (name == "enabled") {
      is_enabled = is_true;
    } else if (name == "certificate") {
      certificate = value;
    } else if (name == "keyfile") {
      key = value;
    } else if (name == "truststore") {
      ca = value;
    } else if (name == "require_client_auth") {
      requires_certificate = is_true;
    } else {
      choice.without_effect.push_back(absl::StrCat(ToAbsl(kEncryption), ".", name));
    }
  }
  if (!is_enabled) return;
  if (Decides(kEncryption, "tls-certificate", choice)) {
    options.tls_certificate = certificate;
    if (Decides(kEncryption, "tls-key", choice)) options.tls_key = key;
  }
  if (!ca.empty() && Decides(kEncryption, "tls-ca", choice)) options.tls_ca = ca;
  if (requires_certificate && Decides(kEncryption, "tls-require-client-certificate", choice)) {
    options.tls_requires_client_certificate = true;
  }
  if (options.sources.contains("tls-only")) return;
  options.cql_port_is_tls =
      TakeTlsPair({"native_transport_port", "native_transport_port_ssl", "cql-port", "tls-port"},
                  choice, options.cql_port, options.tls_port);
  options.shard_aware_port_is_tls =
      TakeTlsPair({"native_shard_aware_transport_port", "native_shard_aware_transport_port_ssl",
                   "shard-aware-port", "tls-shard-aware-port"},
                  choice, options.shard_aware_port, options.tls_shard_aware_port);
}

void TakeWhatFlagsLeave(ScyllaChoice& choice) {
  const settings::ScyllaConfig& config = choice.config;
  ServeOptions& options = choice.options;
  const auto port = [&](std::string_view name) {
    return static_cast<uint16_t>(config.integer(name));
  };
  if (Decides("native_transport_port", "cql-port", choice)) {
    options.cql_port = port("native_transport_port");
  }
  // Who asks for a port of CQL, 0 above all, does not want what the file has beside its own.
  if (!options.sources.contains("cql-port") &&
      Decides("native_shard_aware_transport_port", "shard-aware-port", choice)) {
    options.shard_aware_port = port("native_shard_aware_transport_port");
  }
  TakeEncryption(choice);
  if (Decides("rpc_address", "address", choice)) options.address = config.of("rpc_address").text;
  if (!config.of("cluster_name").text.empty() && Decides("cluster_name", "cluster-name", choice)) {
    options.cluster_name = config.of("cluster_name").text;
  }
  constexpr std::string_view kPasswords = "PasswordAuthenticator";
  if (config.of("authenticator").text.ends_with(kPasswords) &&
      Decides("authenticator", "auth", choice)) {
    options.auth_by_scylla_config = true;
  }
}

}  // namespace

absl::StatusOr<ScyllaChoice> ChooseScyllaConfig(const ServeOptions& options) {
  ScyllaChoice choice;
  choice.options = options;
  if (!options.scylla_config.empty()) {
    LS_RETURN_IF_ERROR(TakeFile(options.scylla_config, choice));
  }
  const std::vector<SettingOrigin>& origins = options.scylla_option_origins;
  for (size_t i = 0; i < options.scylla_options.size(); ++i) {
    const SettingOrigin origin =
        i < origins.size() ? origins[i] : SettingOrigin{settings::SettingSource::kCommandLine};
    LS_RETURN_IF_ERROR(TakeOption(options.scylla_options[i], origin, choice));
  }
  TakeWhatFlagsLeave(choice);
  std::ranges::sort(choice.without_effect);
  choice.without_effect.erase(
      std::unique(choice.without_effect.begin(), choice.without_effect.end()),
      choice.without_effect.end());
  return choice;
}

}  // namespace liststore
