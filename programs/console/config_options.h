// What a configuration file says of a command's options. For command_line.cc: the two sources know CLI11.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_CONFIG_OPTIONS_H_
#define LISTSTORE_PROGRAMS_CONSOLE_CONFIG_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "programs/console/command_line.h"

namespace liststore {

// What a value of an option is in a file.
enum class ValueKind : uint8_t {
  kText,
  kTexts,
  kNumber,
  kSize,
  kFlag,
  kSwitch,  // on and off, which are true and false
};
using ValueKinds = std::map<const CLI::Option*, ValueKind>;

// The values of a file for one option, and where each of them stands.
struct FileValues {
  std::vector<std::string> texts;
  std::vector<OptionOrigin> origins;
};

// Of all of the file, by option. Throws CLI::ConfigError: it cannot be read, a name that no option has, a value that is
// none of its option's.
std::map<CLI::Option*, FileValues> ReadValues(CLI::App* command, const ValueKinds& kinds,
                                              const std::string& path);

// `path`, or the file of that name in the folder `path`; empty: the folder has none. One that may not be looked at, or a
// link to nowhere, is none of these: to read it fails.
std::string ConfigPathOf(const std::string& path, const std::string& name_in_folder);

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_CONFIG_OPTIONS_H_
