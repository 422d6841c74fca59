// Commands and their options as JSON: what manual pages and completions are made of.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_COMMAND_DESCRIPTION_H_
#define LISTSTORE_PROGRAMS_CONSOLE_COMMAND_DESCRIPTION_H_

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace liststore {

// An object for `command`, with those of its subcommands in it; what help does not show is left out:
//
//     {"name": "serve", "text": "Serve CQL ...", "footer": "Examples: ...",
//      "options": [{"names": ["--cql-port"], "takes_value": true, "value": "UINT", "choices": [], "default": "9042",
//                   "text": "Port of CQL ...", "group": "Where clients connect", "environment": "LISTSTORE_CQL_PORT",
//                   "required": false, "several": false}],
//      "commands": []}
//
// `value` is what help calls the value. An argument without a name has "names": [], and its own in "argument". `choices`
// are the words that a value is one of, where there are such.
std::string DescribeCommand(const CLI::App& command);

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_COMMAND_DESCRIPTION_H_
