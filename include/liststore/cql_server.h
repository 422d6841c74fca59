// CqlServer: a server inside of this process that speaks the CQL native protocol (versions 3 and 4)
// as a ScyllaDB node does, so that any driver can work with what is in memory. For tests that need
// a ScyllaDB, and for programs whose lists others want to reach.
//
//   auto server = liststore::CqlServer::Start({});
//   if (!server.ok()) return server.status();
//   ConnectDriver("127.0.0.1", (*server)->cql_port());
//   ...
//   (*server)->Stop();                                 // or let it go out of scope
//
// To serve the lists of a store, hand it over: a driver then reads and writes its two tables.
//
//   options.store = store->get();                      // outlives the server
//
// Starts one thread for each shard; they block all signals. No exception is thrown.
#ifndef LISTSTORE_CQL_SERVER_H_
#define LISTSTORE_CQL_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "liststore/clock.h"

namespace liststore {

class ListStore;
class ServerClock;

// A feature of CQL that was asked for in vain. docs/cql_support.md lists all there are.
struct CqlNotice {
  bool refused = true;               // with an error; else accepted without effect
  std::string_view code;             // "LS-0001": stays the same in later versions
  std::string_view feature;          // "materialized views"
  std::string_view instead;          // the nearest way that works; without effect: why
  std::string_view first_statement;  // the beginning of what asked for it
};

// The same with how often it was asked for so far.
struct CqlRefusal {
  std::string code;
  std::string feature;
  std::string first_statement;
  uint64_t count = 0;
};

struct CqlServerOptions {
  // --- Where clients connect --------------------------------------------------------------------

  // IPv4 or IPv6 address, or "localhost". "0.0.0.0" and "::" are every interface of the machine.
  std::string address = "127.0.0.1";
  // 0: any free port; cql_port() tells which.
  uint16_t cql_port = 0;
  // Listens on a second port too, where a client's own port chooses the shard (source port modulo
  // shards), and tells drivers so.
  bool shard_aware = true;
  // 0: any free port. Absent: any free port, but 19042 if that is free and `cql_port` is not 0.
  std::optional<uint16_t> shard_aware_port;

  // --- What they meet ---------------------------------------------------------------------------

  // Shards of the node, a thread for each. 1 to 256. With a `store` it is the store that decides.
  uint32_t shards = 1;
  // Says everything that a ScyllaDB node says (SCYLLA_* options, its versions and system tables);
  // else what a Cassandra 3 node does.
  bool looks_like_scylla = true;
  // What system.local says. 1 to 128 bytes of printable UTF-8 each.
  std::string data_center = "datacenter1";
  std::string rack = "rack1";
  std::string cluster_name = "liststore";
  // The version that drivers see. "scylla-2025.1": ScyllaDB 2025.1, in system.versions; the
  // release_version of system.local is the same for all of them. "3.11.17", "4.1", "5.0": that
  // release_version; in the look of Cassandra also what else such a Cassandra has (3 to 5: its
  // version of CQL; from 4 on peers_v2 and system_virtual_schema). Empty: ScyllaDB 2025.1.0, or
  // a Cassandra that calls itself 3.0.8.
  std::string release_version;
  // With a user, clients log in with this name and password (PasswordAuthenticator); without,
  // everybody may do everything.
  std::string user;
  std::string password;
  enum class ClientTimestamps {
    kByClock,  // kHonour while the clock is real, kReplace while it is not
    kHonour,   // a write has the timestamp that its client gave it, as in ScyllaDB
    kReplace,  // it has the server's: for clocks that a test moves, which clients know nothing of
  };
  ClientTimestamps client_timestamps = ClientTimestamps::kByClock;

  // --- What is behind it ------------------------------------------------------------------------

  // Where time comes from; outlives the server. nullptr: the store's clock, else the system's,
  // which clients may stop and move through the table liststore.clock.
  const Clock* clock = nullptr;
  // Instead of `clock`: one that clients may move as well, but whose mode they do not change.
  ManualClock* manual_clock = nullptr;
  // Instead of both: one whose mode clients may change too. With a `store` it is the store's as
  // well.
  ServerClock* server_clock = nullptr;
  // Outlives the server; may be used meanwhile. nullptr: the server has tables of its own, none at
  // first.
  ListStore* store = nullptr;
  // Limit on memory for data of a server without a store, as Options::memory_limit_bytes.
  uint64_t memory_limit_bytes = 0;
  // Memory for data that is made ready at the start and kept, of a server without a store; see
  // ListStore::Populate. At most the limit.
  uint64_t populate_bytes = 0;

  // --- What it tells of its clients -------------------------------------------------------------

  // Requests that the table liststore.requests remembers, the last ones; at most 100,000. Some
  // 400 bytes each with a few short values. 0: none, and no cost. Clients may change it through
  // the table liststore.journal.
  uint64_t journal_entries = 0;

  // --- What it does not do ----------------------------------------------------------------------

  // Told of each feature of CQL that a client asks for and does not get, when that happens for the
  // first time. Called by the server's threads, several at once: returns soon, and does not call
  // the server. May be empty.
  std::function<void(const CqlNotice&)> on_notice;
};

class CqlServer {
 public:
  // Listens when it returns. InvalidArgument: an option is out of its bounds. AlreadyExists: a port
  // is in use; the message names it. FailedPrecondition: the kernel refuses the address, or no
  // memory limit is known. ResourceExhausted: too many files are open.
  static absl::StatusOr<std::unique_ptr<CqlServer>> Start(const CqlServerOptions& options);
  // Stops.
  ~CqlServer();
  CqlServer(const CqlServer&) = delete;
  CqlServer& operator=(const CqlServer&) = delete;

  // Takes no more connections, answers what has arrived, closes all connections. Within 0.6 s, and
  // however long the requests take that run. Again: nothing. Data stays until the destructor.
  void Stop();

  // Any thread.
  uint16_t cql_port() const;
  // 0: there is none.
  uint16_t shard_aware_port() const;
  size_t connection_count() const;
  // Requests that were refused because they ask for what liststore does not do.
  uint64_t refusal_count() const;
  // By feature, in the order of codes. The table liststore.unsupported has the same, and what was
  // accepted without effect. Also after Stop.
  std::vector<CqlRefusal> Refusals() const;

 private:
  class Impl;
  explicit CqlServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace liststore

#endif  // LISTSTORE_CQL_SERVER_H_
