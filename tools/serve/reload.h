// Reloader: what SIGHUP changes of a server that runs, and what it says of the rest.
#ifndef LISTSTORE_TOOLS_SERVE_RELOAD_H_
#define LISTSTORE_TOOLS_SERVE_RELOAD_H_

#include <string>
#include <vector>

#include "liststore/cql_server.h"
#include "tools/serve/log.h"
#include "tools/serve/scylla_config.h"
#include "tools/serve/serve.h"

namespace liststore {

// Settings that are not the same in both, those that SIGHUP changes left out: "cql-port (FILE:3)", and options of
// ScyllaDB. `running`, `now`: as ChooseScyllaConfig has them.
std::vector<std::string> WantRestart(const ScyllaChoice& running, const ScyllaChoice& now);

// One thread.
class Reloader {
 public:
  // All but `running`, as it was at the start, outlive it.
  Reloader(const ScyllaChoice& running, const RereadOptions& reread, Log& log, CqlServer& server)
      : running_(running), reread_(reread), log_(log), server_(server) {}

  // Reads the configuration file again. The log's level and the files of TLS are what it says now, unless a flag or a
  // variable says otherwise; a file that is wrong changes nothing. Where there is TLS its files are read again either
  // way. A line of the log for each of these; and one that names what a restart would change. Throws nothing: where there is
  // no memory for it a line says so.
  void Reload();

 private:
  void TakeAll();
  void TakeLevel(const ServeOptions& now);
  // nullptr: the files that it has.
  void TakeTls(const ServeOptions* now);

  const ScyllaChoice running_;
  const RereadOptions& reread_;
  Log& log_;
  CqlServer& server_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_RELOAD_H_
