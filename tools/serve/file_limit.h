// The limit on open files of the program's process.
#ifndef LISTSTORE_TOOLS_SERVE_FILE_LIMIT_H_
#define LISTSTORE_TOOLS_SERVE_FILE_LIMIT_H_

namespace liststore {

// Raises it to what the process may have (RLIMIT_NOFILE, soft to hard), for many connections. Not
// the library's to do: the limit is the whole process's, and its children's.
void RaiseFileLimit();

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_FILE_LIMIT_H_
