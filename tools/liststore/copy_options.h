// The options of `liststore export` and `liststore import` on a command line.
#ifndef LISTSTORE_TOOLS_LISTSTORE_COPY_OPTIONS_H_
#define LISTSTORE_TOOLS_LISTSTORE_COPY_OPTIONS_H_

#include "tools/copy/copy.h"

namespace CLI {
class App;
}

namespace liststore {

// Both add a subcommand to `app`; parsing writes into `options`, which outlives it.
void AddExport(CLI::App* app, CopyOptions* options);
void AddImport(CLI::App* app, CopyOptions* options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_COPY_OPTIONS_H_
