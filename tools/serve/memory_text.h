// What the log says of memory for rows.
#ifndef LISTSTORE_TOOLS_SERVE_MEMORY_TEXT_H_
#define LISTSTORE_TOOLS_SERVE_MEMORY_TEXT_H_

#include <string>

#include "liststore/cql_server.h"

namespace liststore {

// One line: the figures, what happens, and what helps.
std::string MemoryText(const CqlMemoryNotice& notice);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_MEMORY_TEXT_H_
