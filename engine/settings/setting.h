// Setting: a row of a table of settings, and how texts become values of it. The server's own
// settings (tools/serve/serve_settings.h) and ScyllaDB's (scylla_settings.h) are such rows.
#ifndef LISTSTORE_ENGINE_SETTINGS_SETTING_H_
#define LISTSTORE_ENGINE_SETTINGS_SETTING_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace liststore::settings {

enum class SettingType : uint8_t {
  kBoolean,
  kSwitch,  // on or off
  kUint16,
  kUint32,
  kUint64,
  kInt32,
  kInt64,
  kFloat,
  kBytes,  // with K, M and G as powers of 1024
  kText,
  kTexts,       // [a, b]
  kMap,         // {a: 1, b: 2}
  kMaps,        // [{a: 1}, {b: 2}]
  kMode,        // true, false or warn
  kStrategies,  // [SimpleStrategy, ...]
  kFeatures,    // [udf, ...], experimental ones, of which each ScyllaDB has others
  kHandoff,     // true, false, or data centres
  kSeeds,       // kept as it is written
  kInjections,  // kept as it is written
};

// Where a value comes from; a later one comes before an earlier one.
enum class SettingSource : uint8_t {
  kDefault,
  kFile,
  kEnvironment,
  kCommandLine,
  kClient,  // a statement, while the server runs
};

// "default", "file", "environment", "flag", "client".
std::string_view ToString(SettingSource source);

struct Setting {
  std::string_view name;
  SettingType type = SettingType::kText;
  std::string_view default_value = {};
  // May change while the server runs.
  bool is_live = false;
  // What it does, in a line or two of help. Empty: it has no effect.
  std::string_view help = {};

  bool has_effect() const { return !help.empty(); }
};

// "32-bit number, 0 to 4294967295": what a value has to be.
std::string BoundsOf(SettingType type);

// `text` as the table keeps it ("1" of a boolean is "true", lists are `[a,b]`), or nullopt where it
// is no value of the type. Lists may stand with or without brackets, spaces and quotes.
std::optional<std::string> NormalValue(SettingType type, std::string_view text);

// Of normal values.
bool IsTrue(std::string_view value);
int64_t ToInteger(std::string_view value);
std::vector<std::string> ElementsOf(std::string_view value);
std::vector<std::pair<std::string, std::string>> EntriesOf(std::string_view value);

}  // namespace liststore::settings

#endif  // LISTSTORE_ENGINE_SETTINGS_SETTING_H_
