#include "engine/settings/live_settings.h"

#include <optional>
#include <utility>

namespace liststore::settings {
namespace {

uint64_t NextVersion() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// A word that ScyllaDB does not know is another error there than a number that is none
// (utils/enum_option.hh).
bool HasWords(SettingType type) {
  return type == SettingType::kMode || type == SettingType::kStrategies;
}

}  // namespace

LiveSettings::LiveSettings(ScyllaConfig config)
    : initial_(std::move(config)),
      config_(initial_),
      statements_(std::make_shared<const StatementSettings>(config_.ToStatementSettings())),
      version_(NextVersion()) {}

ScyllaConfig LiveSettings::config() const {
  MutexLock lock(mutex_);
  return config_;
}

std::shared_ptr<const StatementSettings> LiveSettings::statements() const {
  MutexLock lock(mutex_);
  return statements_;
}

LiveSettings::Change LiveSettings::Set(std::string_view name, std::string_view value) {
  MutexLock lock(mutex_);
  if (!config_.is_true("enable_cql_config_updates")) return Change::kRefused;
  const std::optional<size_t> position = FindScyllaSetting(name);
  // Here other names do not count.
  if (!position || ScyllaSettings()[*position].name != name) return Change::kUnknown;
  const Setting& setting = ScyllaSettings()[*position];
  if (!setting.is_live || !config_.is_true("live_updatable_config_params_changeable_via_cql")) {
    return Change::kFixed;
  }
  if (config_.Set(name, value, SettingSource::kClient)) {
    return HasWords(setting.type) ? Change::kNoWord : Change::kNoValue;
  }
  Publish();
  return Change::kDone;
}

void LiveSettings::Reset() {
  MutexLock lock(mutex_);
  config_ = initial_;
  Publish();
}

void LiveSettings::Publish() {
  statements_ = std::make_shared<const StatementSettings>(config_.ToStatementSettings());
  version_.store(NextVersion(), std::memory_order_release);
}

}  // namespace liststore::settings
