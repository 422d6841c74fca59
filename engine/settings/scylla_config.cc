// ScyllaConfig: values of ScyllaDB's settings, from texts to what statements depend on.
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/nearest_name.h"
#include "engine/base/strings.h"
#include "engine/settings/scylla_settings.h"

namespace liststore::settings {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string JsonOfMap(std::string_view value) {
  std::string json = "{";
  for (const auto& [key, of_key] : EntriesOf(value)) {
    absl::StrAppend(&json, json.size() > 1 ? "," : "", Quoted(key), ":", Quoted(of_key));
  }
  return json + "}";
}

std::string JsonOfList(SettingType type, std::string_view value) {
  std::string json = "[";
  for (const std::string& element : ElementsOf(value)) {
    absl::StrAppend(&json, json.size() > 1 ? "," : "",
                    type == SettingType::kMaps ? JsonOfMap(element) : Quoted(element));
  }
  return json + "]";
}

RestrictionMode ModeOf(const ScyllaConfig& config, std::string_view name) {
  const std::string& text = config.of(name).text;
  if (text == "warn") return RestrictionMode::kWarned;
  return IsTrue(text) ? RestrictionMode::kRefused : RestrictionMode::kAllowed;
}

}  // namespace

std::string_view ScyllaTypeName(SettingType type) {
  switch (type) {
    case SettingType::kBoolean:
      return "bool";
    case SettingType::kUint16:
    case SettingType::kUint32:
    case SettingType::kUint64:
    case SettingType::kInt32:
    case SettingType::kInt64:
      return "integer";
    case SettingType::kFloat:
      return "float";
    case SettingType::kText:
      return "string";
    case SettingType::kTexts:
      return "string list";
    case SettingType::kMap:
      return "string map";
    case SettingType::kMaps:
      return "string map list";
    case SettingType::kMode:
      return "restriction mode";
    case SettingType::kStrategies:
      return "replication strategy list";
    case SettingType::kFeatures:
      return "experimental features";
    case SettingType::kHandoff:
      return "hinted handoff enabled";
    case SettingType::kSeeds:
      return "seed provider";
    case SettingType::kInjections:
      return "error injection list";
    case SettingType::kSwitch:
    case SettingType::kBytes:
      break;
  }
  LS_UNREACHABLE("ScyllaDB has no settings of the other types");
}

ScyllaConfig::ScyllaConfig() {
  for (const Setting& setting : ScyllaSettings()) {
    values_.push_back({std::string(setting.default_value), SettingSource::kDefault});
  }
}

std::optional<std::string> ScyllaConfig::Set(std::string_view name, std::string_view text,
                                             SettingSource source) {
  const std::optional<size_t> position = FindScyllaSetting(name);
  if (!position) {
    std::vector<std::string_view> names;
    for (const Setting& setting : ScyllaSettings()) names.push_back(setting.name);
    return absl::StrCat(ToAbsl(name), ": ScyllaDB has no such option", DidYouMean(name, names));
  }
  const SettingType type = ScyllaSettings()[*position].type;
  std::optional<std::string> normal = NormalValue(type, text);
  if (!normal) {
    return absl::StrCat(ToAbsl(name), ": '", ToAbsl(text), "' is not ", BoundsOf(type));
  }
  Value& value = values_[*position];
  if (value.source <= source) value = {*std::move(normal), source};
  return std::nullopt;
}

const ScyllaConfig::Value& ScyllaConfig::of(std::string_view name) const {
  const std::optional<size_t> position = FindScyllaSetting(name);
  LS_CHECK(position.has_value(), "the name is one of the table");
  return values_[*position];
}

std::string ScyllaConfig::JsonAt(size_t position) const {
  const SettingType type = ScyllaSettings()[position].type;
  const std::string& text = values_[position].text;
  switch (type) {
    case SettingType::kTexts:
    case SettingType::kStrategies:
    case SettingType::kFeatures:
    case SettingType::kMaps:
      return JsonOfList(type, text);
    case SettingType::kMap:
      return JsonOfMap(text);
    case SettingType::kSeeds:
      return Quoted("seed_provider_type");
    case SettingType::kInjections:
      return Quoted("error_injection_list");
    case SettingType::kText:
    case SettingType::kMode:
    case SettingType::kHandoff:
      return Quoted(text);
    default:
      return text;
  }
}

StatementSettings ScyllaConfig::ToStatementSettings() const {
  const auto number32 = [this](std::string_view name) {
    return static_cast<uint32_t>(integer(name));
  };
  const auto signed32 = [this](std::string_view name) {
    return static_cast<int32_t>(integer(name));
  };
  StatementSettings made;
  made.strict_allow_filtering = ModeOf(*this, "strict_allow_filtering");
  made.strict_is_not_null_in_views = ModeOf(*this, "strict_is_not_null_in_views");
  made.restrict_twcs_without_default_ttl = ModeOf(*this, "restrict_twcs_without_default_ttl");
  made.restrict_replication_simplestrategy = ModeOf(*this, "restrict_replication_simplestrategy");
  made.restrict_future_timestamp = is_true("restrict_future_timestamp");
  made.duplicate_bind_names_are_one_variable =
      is_true("cql_duplicate_bind_variable_names_refer_to_same_variable");
  made.enable_tablets = is_true("enable_tablets");
  made.twcs_max_window_count = number32("twcs_max_window_count");
  made.minimum_replication_factor_fail_threshold =
      signed32("minimum_replication_factor_fail_threshold");
  made.minimum_replication_factor_warn_threshold =
      signed32("minimum_replication_factor_warn_threshold");
  made.maximum_replication_factor_warn_threshold =
      signed32("maximum_replication_factor_warn_threshold");
  made.maximum_replication_factor_fail_threshold =
      signed32("maximum_replication_factor_fail_threshold");
  made.replication_strategy_warn_list = ElementsOf(of("replication_strategy_warn_list").text);
  made.replication_strategy_fail_list = ElementsOf(of("replication_strategy_fail_list").text);
  made.partition_keys_max = number32("max_partition_key_restrictions_per_query");
  made.clustering_keys_max = number32("max_clustering_key_restrictions_per_query");
  made.batch_fail_bytes = static_cast<uint64_t>(integer("batch_size_fail_threshold_in_kb")) * 1024;
  made.page_bytes_max = static_cast<uint64_t>(integer("query_page_size_in_bytes"));
  made.read_timeout_ms = number32("read_request_timeout_in_ms");
  made.range_read_timeout_ms = number32("range_request_timeout_in_ms");
  made.write_timeout_ms = number32("write_request_timeout_in_ms");
  made.counter_write_timeout_ms = number32("counter_write_request_timeout_in_ms");
  made.truncate_timeout_ms = number32("truncate_request_timeout_in_ms");
  return made;
}

}  // namespace liststore::settings
