// ScyllaDB's settings: the names of its scylla.yaml and of system.config, with their values.
#ifndef LISTSTORE_ENGINE_SETTINGS_SCYLLA_SETTINGS_H_
#define LISTSTORE_ENGINE_SETTINGS_SCYLLA_SETTINGS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/settings/setting.h"
#include "engine/settings/statement_settings.h"

namespace liststore::settings {

// All of them, by name. Those without help are known, checked and shown, and have no effect.
// Source: ScyllaDB db/config.cc.
std::span<const Setting> ScyllaSettings();

// The position in ScyllaSettings of a name, or of another name that ScyllaDB takes for it; nullopt:
// there is none.
std::optional<size_t> FindScyllaSetting(std::string_view name);

// The column `type` of system.config. Source: ScyllaDB db/config.cc, config_type_for.
std::string_view ScyllaTypeName(SettingType type);

// What each of them is set to. Copied where it is changed; one thread.
class ScyllaConfig {
 public:
  struct Value {
    std::string text;  // normal, see NormalValue
    SettingSource source = SettingSource::kDefault;
  };

  // Everything is as ScyllaDB has it by default.
  ScyllaConfig();

  // A value that comes from a later source stays. The error says what is wrong, and begins with the
  // name: "num_tokens: 'many' is not a number from 0 to 4294967295".
  std::optional<std::string> Set(std::string_view name, std::string_view text,
                                 SettingSource source);

  // By the position in ScyllaSettings.
  const Value& at(size_t position) const { return values_[position]; }
  // `name` is one of ScyllaSettings.
  const Value& of(std::string_view name) const;
  bool is_true(std::string_view name) const { return IsTrue(of(name).text); }
  int64_t integer(std::string_view name) const { return ToInteger(of(name).text); }
  // Something else than the default was asked for.
  bool is_given(std::string_view name) const { return of(name).source != SettingSource::kDefault; }

  // What system.config shows. Source: ScyllaDB db/config.cc, value_to_json.
  std::string JsonAt(size_t position) const;
  StatementSettings ToStatementSettings() const;

 private:
  std::vector<Value> values_;
};

}  // namespace liststore::settings

#endif  // LISTSTORE_ENGINE_SETTINGS_SCYLLA_SETTINGS_H_
