// A configuration file, in TOML: names and values with the lines on which they stand.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_CONFIG_FILE_H_
#define LISTSTORE_PROGRAMS_CONSOLE_CONFIG_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace liststore {

struct ConfigEntry {
  enum class Kind : uint8_t {
    kText,     // in quotes
    kNumber,   // a whole one
    kDecimal,  // with a point or an exponent
    kBoolean,
    kTexts,  // a list of texts; below a heading it is kOther
    kOther,  // a date, a list of something else, a map
  };

  std::string table = {};  // below whose heading it stands; empty: none
  std::string name = {};   // empty: nothing stands below this heading
  Kind kind = Kind::kText;
  // The value; of kTexts each of them. Another list, or a map, is one text as YAML has it in one line: [a,b], {a:1}.
  std::vector<std::string> texts = {};
  size_t line = 0;

  // As messages show it: [a, b] of kTexts.
  std::string Shown() const;
};

// A configuration is some pages long; what is more is another file.
inline constexpr size_t kConfigBytesMax = size_t{256} << 10;

// In the order of the file. InvalidArgument: "FILE:LINE: what is wrong". `path` is for messages.
absl::StatusOr<std::vector<ConfigEntry>> ParseConfig(std::string_view text,
                                                     const std::string& path);
// NotFound: it cannot be read, or is no regular file; the message names it.
absl::StatusOr<std::vector<ConfigEntry>> ReadConfigFile(const std::string& path);

// `text` as a TOML string, with its quotes.
std::string TomlText(std::string_view text);

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_CONFIG_FILE_H_
