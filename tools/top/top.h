// `liststore top`: what a server is at, again and again.
#ifndef LISTSTORE_TOOLS_TOP_TOP_H_
#define LISTSTORE_TOOLS_TOP_TOP_H_

#include "programs/client/server_connection.h"

namespace liststore {

struct TopOptions {
  ServerConnection server = {};
  double interval_seconds = 1;
  bool once = false;
  bool json = false;
};

// Until it is ended, or the server is; with `once` for one frame. Returns the exit status.
int RunTop(const TopOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_TOP_TOP_H_
