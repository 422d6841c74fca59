// The settings of `liststore serve`: one table, which makes its flags, what the environment and the
// configuration file may say, --print-config and docs/settings.md. The same name is --memory-limit, LISTSTORE_MEMORY_LIMIT
// and memory-limit in the file.
#ifndef LISTSTORE_TOOLS_SERVE_SERVE_SETTINGS_H_
#define LISTSTORE_TOOLS_SERVE_SERVE_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/settings/setting.h"
#include "tools/serve/serve.h"

namespace liststore {

struct ServeSetting {
  // Where the value is kept.
  using Field = std::variant<std::string ServeOptions::*, std::vector<std::string> ServeOptions::*,
                             uint16_t ServeOptions::*, std::optional<uint16_t> ServeOptions::*,
                             uint32_t ServeOptions::*, uint64_t ServeOptions::*,
                             bool ServeOptions::*, std::optional<bool> ServeOptions::*>;

  // The flag's name without its dashes.
  settings::Setting setting;
  Field field;
  // The heading below which help has it.
  std::string_view group;
  // How help shows a value; empty: by its type.
  std::string_view value = {};
  // Help shows the default that stands in ServeOptions.
  bool shows_default = false;
  // Of a text: the only ones there are.
  std::vector<std::string_view> words = {};
  // Of a bool with words: what they mean. None: a flag, which takes no value.
  std::vector<std::pair<std::string_view, bool>> choices = {};
  // Of a number: the largest; 0: what the type holds. `word` stands for 0, which is none of them
  // then.
  uint32_t most = 0;
  std::string_view word = {};
  // On SIGHUP the server takes what the configuration file says now.
  bool is_reread = false;
  // It is asked for, and says nothing of the server: neither environment nor file have it.
  bool is_question = false;
};

// In the order in which help shows them within their groups.
std::span<const ServeSetting> ServeSettings();

// The value as the command line takes it; empty: none was given, and there is no default.
std::string ValueText(const ServeSetting& setting, const ServeOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_SERVE_SETTINGS_H_
