#include "engine/instruments/config_table.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/cql/schema/computed_table.h"

namespace liststore::instruments {
namespace {

constexpr cql::TableSpec kConfigSpec = {"system",
                                        "config",
                                        "name text",
                                        "",
                                        "source text, type text, value text",
                                        "options of the server"};

// Source: ScyllaDB utils/config_file.cc, source_name.
std::string_view ScyllaSourceName(settings::SettingSource source) {
  switch (source) {
    case settings::SettingSource::kDefault:
      return "default";
    case settings::SettingSource::kFile:
      return "config";
    case settings::SettingSource::kEnvironment:
    case settings::SettingSource::kCommandLine:
      return "cli";
    case settings::SettingSource::kClient:
      return "cql";
  }
  LS_UNREACHABLE("every source has its name");
}

// The node that keeps the table refuses the write: to clients it is one that failed. Source:
// ScyllaDB service/storage_proxy.cc, handling of virtual_table_update_exception.
cql::CqlError RefuseConfig(std::string why) {
  return {CqlErrorCode::kWriteFailure, std::move(why), cql::WriteFailureDetail{}};
}

const std::optional<std::string>* ValueOf(const cql::VirtualTable::Values& values,
                                          std::string_view column) {
  for (const auto& [name, value] : values) {
    if (name == column) return &value;
  }
  return nullptr;
}

}  // namespace

ConfigTable::ConfigTable(std::shared_ptr<settings::LiveSettings> settings, OnChange on_change)
    : settings_(std::move(settings)),
      on_change_(std::move(on_change)),
      definition_(cql::MakeVirtualDefinition(kConfigSpec)) {}

std::vector<cql::VirtualRow> ConfigTable::Rows(const cql::VirtualReadContext& /*context*/) const {
  const settings::ScyllaConfig config = settings_->config();
  const std::span<const settings::Setting> settings = settings::ScyllaSettings();
  cql::RowCollector rows(*definition_);
  for (size_t i = 0; i < settings.size(); ++i) {
    rows.Row()
        .Set("name", std::string(settings[i].name))
        .Set("source", std::string(ScyllaSourceName(config.at(i).source)))
        .Set("type", std::string(settings::ScyllaTypeName(settings[i].type)))
        .Set("value", config.JsonAt(i));
  }
  return rows.Take();
}

std::optional<cql::CqlError> ConfigTable::Write(const Values& values) {
  const auto* name = ValueOf(values, "name");
  const auto* value = ValueOf(values, "value");
  LS_CHECK(name != nullptr && name->has_value(), "a statement has the whole key");
  if (!settings_->config().is_true("enable_cql_config_updates")) {
    return RefuseConfig("this virtual table doesn't allow updates");
  }
  if (value == nullptr || !value->has_value()) return RefuseConfig("option value is required");
  if (ValueOf(values, "type") != nullptr) return RefuseConfig("option type is immutable");
  if (ValueOf(values, "source") != nullptr) {
    return RefuseConfig("option source is not updateable");
  }
  const std::shared_ptr<const settings::StatementSettings> before = settings_->statements();
  switch (settings_->Set(**name, **value)) {
    case settings::LiveSettings::Change::kDone:
      if (on_change_) on_change_(*before);
      return std::nullopt;
    case settings::LiveSettings::Change::kUnknown:
      return RefuseConfig("no such option");
    case settings::LiveSettings::Change::kFixed:
      return RefuseConfig("option is not live-updateable");
    case settings::LiveSettings::Change::kNoValue:
      return RefuseConfig("cannot parse option value");
    case settings::LiveSettings::Change::kNoWord:
      // There nothing is said of it.
      return RefuseConfig("");
    case settings::LiveSettings::Change::kRefused:
      return RefuseConfig("this virtual table doesn't allow updates");
  }
  LS_UNREACHABLE("every outcome of a change has its answer");
}

void ConfigTable::Reset() {
  const std::shared_ptr<const settings::StatementSettings> before = settings_->statements();
  settings_->Reset();
  if (on_change_) on_change_(*before);
}

}  // namespace liststore::instruments
