#include "tools/serve/reload.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/strings.h"
#include "engine/settings/scylla_settings.h"
#include "liststore/tls_options.h"
#include "tools/serve/serve_settings.h"
#include "tools/serve/server_options.h"

namespace liststore {
namespace {

bool HasTls(const ServeOptions& options) { return !options.tls_certificate.empty(); }

// "cql-port (FILE:3)"
std::string WithPlace(std::string_view name, const SettingOrigin* origin) {
  const std::string place = origin == nullptr ? "default"
                            : origin->place.empty()
                                ? std::string(settings::ToString(origin->source))
                                : origin->place;
  return absl::StrCat(ToAbsl(name), " (", place, ")");
}

constexpr std::string_view kTlsOfScylla = "client_encryption_options";

// What it says of TLS that a server decides when it starts; its files are taken while it runs, the rest has no effect.
std::string FixedEncryption(const ScyllaChoice& choice) {
  std::string fixed;
  for (const auto& [name, value] : settings::EntriesOf(choice.config.of(kTlsOfScylla).text)) {
    if (name == "enabled" || name == "require_client_auth") {
      absl::StrAppend(&fixed, name, "=", absl::AsciiStrToLower(value), ";");
    }
  }
  return fixed;
}

// Whether a setting that is read again has its effect without a restart. Files of TLS do where there is TLS before and
// after. Where it comes or goes its certificate stands for all of them.
bool IsTaken(std::string_view name, bool had_tls, bool has_tls) {
  if (!name.starts_with("tls-") || (had_tls && has_tls)) return true;
  return had_tls != has_tls && name != "tls-certificate";
}

template <typename Origins>
const SettingOrigin* OriginIn(const Origins& origins, std::string_view name) {
  const auto at = origins.find(name);
  return at == origins.end() ? nullptr : &at->second;
}

}  // namespace

std::vector<std::string> WantRestart(const ScyllaChoice& running, const ScyllaChoice& now) {
  std::vector<std::string> names;
  for (const ServeSetting& row : ServeSettings()) {
    const std::string_view name = row.setting.name;
    // Of ScyllaDB's options each is looked at below.
    if (row.is_question || row.setting.type == settings::SettingType::kTexts) continue;
    if (row.is_reread && IsTaken(name, HasTls(running.options), HasTls(now.options))) continue;
    if (ValueText(row, running.options) == ValueText(row, now.options)) continue;
    names.push_back(WithPlace(name, OriginIn(now.options.sources, name)));
  }
  const std::span<const settings::Setting> all = settings::ScyllaSettings();
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].has_effect() || running.config.at(i).text == now.config.at(i).text) continue;
    if (all[i].name == kTlsOfScylla && FixedEncryption(running) == FixedEncryption(now)) continue;
    names.push_back(WithPlace(all[i].name, OriginIn(now.origins, all[i].name)));
  }
  return names;
}

void Reloader::Reload() {
  try {
    TakeAll();
  } catch (const std::bad_alloc&) {
    log_.Write(
        LogLevel::kError,
        "SIGHUP: there is no memory to read the configuration; what was not said to be taken "
        "is as before");
  }
}

void Reloader::TakeAll() {
  absl::StatusOr<ScyllaChoice> now = running_;
  if (reread_) {
    const absl::StatusOr<ServeOptions> options = reread_();
    now = options.ok() ? ChooseScyllaConfig(*options) : options.status();
  }
  TakeTls(now.ok() && reread_ ? &now->options : nullptr);
  if (!now.ok()) {
    return log_.Write(LogLevel::kError,
                      absl::StrCat("SIGHUP: the configuration is not taken, and what was stays: ",
                                   now.status().message()));
  }
  if (!reread_) return;
  TakeLevel(now->options);
  const std::vector<std::string> names = WantRestart(running_, *now);
  if (names.empty()) return;
  log_.Write(LogLevel::kWarning, absl::StrCat("SIGHUP: these have changed, and take a restart: ",
                                              absl::StrJoin(names, ", ")));
}

void Reloader::TakeLevel(const ServeOptions& now) {
  const std::optional<LogLevel> level = ParseLogLevel(now.log_level);
  if (!level || *level == log_.level()) return;
  // By the level that says more.
  const std::string said = absl::StrCat("SIGHUP: the log's level is ", now.log_level, " now");
  log_.SetLevel(std::max(*level, LogLevel::kInfo));
  log_.Write(LogLevel::kInfo, said);  // throws nothing
  log_.SetLevel(*level);
}

void Reloader::TakeTls(const ServeOptions* now) {
  if (!HasTls(running_.options)) return;
  absl::Status status;
  if (now == nullptr || !HasTls(*now)) {
    status = server_.ReloadTls();
  } else {
    absl::StatusOr<TlsOptions> tls = TlsOptionsOf(*now);
    status = tls.status();
    if (tls.ok()) {
      // Who may do what was decided at the start by whether clients show a certificate.
      tls->require_client_certificate = running_.options.tls_requires_client_certificate;
      status = server_.ReloadTls(*tls);
    }
  }
  if (status.ok()) {
    log_.Write(LogLevel::kInfo, "SIGHUP: new connections have what the files of TLS hold now");
  } else {
    log_.Write(LogLevel::kError,
               absl::StrCat("SIGHUP: the files of TLS are not taken, and those before stay: ",
                            status.message()));
  }
}

}  // namespace liststore
