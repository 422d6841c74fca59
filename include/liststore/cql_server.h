// CqlServer: a server in this process that speaks the CQL native protocol, versions 3 and 4, like a
// ScyllaDB node. Any driver can use it. For tests that need a ScyllaDB, and for programs that give
// others access to their lists.
//
//   auto server = liststore::CqlServer::Start({});
//   if (!server.ok()) return server.status();
//   ConnectDriver("127.0.0.1", (*server)->cql_port());
//   ...
//   (*server)->Stop();                                 // the destructor does the same
//
// To serve the lists of a store, pass the store: drivers then read and write its two tables.
//
//   options.store = store->get();                      // must outlive the server
//
// Starts one thread per shard, and one that accepts connections; they block all signals. Throws no
// exceptions.
#ifndef LISTSTORE_CQL_SERVER_H_
#define LISTSTORE_CQL_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "liststore/clock.h"
#include "liststore/options.h"
#include "liststore/server_notices.h"
#include "liststore/tls_options.h"

namespace liststore {

class ListStore;
class ServerClock;

// A client asked for a feature of CQL that is not supported. docs/cql_support.md lists all of them.
struct CqlNotice {
  bool refused = true;               // with an error; false: accepted without effect
  std::string_view code;             // for example "LS-0001"; later versions keep it
  std::string_view feature;          // for example "materialized views"
  std::string_view instead;          // what works instead; if accepted without effect: why
  std::string_view first_statement;  // the beginning of the first statement that asked for it
};

// A feature that was refused, and how often so far.
struct CqlRefusal {
  std::string code;
  std::string feature;
  std::string first_statement;
  uint64_t count = 0;
};

// An option of ScyllaDB by the name that it has in scylla.yaml: {"strict_allow_filtering", "true"}.
// Lists are "[a, b]", maps "{a: 1, b: 2}".
struct ScyllaOption {
  std::string name;
  std::string value;
  // Said in a file; comes after those that are not. The table system.config shows it.
  bool is_from_file = false;
};

// The memory of a process with a server, as it is divided.
struct CqlMemoryShares {
  uint64_t rows_bytes = 0;    // as CqlServerOptions::memory_limit_bytes
  uint64_t client_bytes = 0;  // as CqlServerOptions::client_memory_bytes
};

// Memory for rows runs short, or its limit was changed.
struct CqlMemoryNotice {
  enum class Kind : uint8_t {
    kNearlyFull,    // four fifths of the limit are held
    kFull,          // a write was refused, or partitions were evicted for one
    kLimitChanged,  // by a client
  };
  Kind kind = Kind::kNearlyFull;
  uint64_t held_bytes = 0;           // for rows
  uint64_t limit_bytes = 0;          // for rows
  uint64_t process_limit_bytes = 0;  // of which that is a share; 0: of none
  bool evicts = false;               // what happens at the limit: MemoryPolicy::kEvict
  bool fits = true;                  // writes have room, as far as it is known
  uint64_t refused_writes = 0;       // for want of memory, since the start
  uint64_t evicted_partitions = 0;   // the same
};

struct CqlServerOptions {
  // ---- Where clients connect ----

  // IPv4 or IPv6 address, or "localhost". "0.0.0.0" and "::" mean every interface of the machine.
  std::string address = "127.0.0.1";
  // 0: any free port; cql_port() returns it.
  uint16_t cql_port = 0;
  // Also listens on a second port, on which the client's source port selects the shard (source port
  // modulo shards), and announces that port to drivers.
  bool shard_aware = true;
  // 0: any free port. nullopt: 19042 if it is free and `cql_port` is not 0, else any free port.
  std::optional<uint16_t> shard_aware_port;
  // Certificates for TLS. nullopt: clients connect without.
  std::optional<TlsOptions> tls;
  // With `tls`. A port of TLS beside `cql_port`, which then stays without; 0: any free one. nullopt:
  // `cql_port` itself takes TLS and nothing else.
  std::optional<uint16_t> tls_port;
  // The same beside the shard-aware port.
  std::optional<uint16_t> tls_shard_aware_port;

  // The port of HTTP: a page, metrics, health and an API, for whoever operates or tests the server;
  // docs/http.md. 0: any free one. With `tls` it takes TLS and nothing else; where clients log in, so
  // do those of HTTP. nullopt: there is none.
  std::optional<uint16_t> http_port;

  // The port of DynamoDB's API; docs/dynamodb.md. 0: any free one. With `tls` it takes TLS and nothing else.
  // nullopt: there is none.
  std::optional<uint16_t> dynamodb_port;
  // With `dynamodb_port`. A line for each access key: its id, a blank, and its secret; lines that begin with # are
  // none. Requests are taken that one of them has signed, and where clients log in the id is the role.
  // Empty: all are taken, whatever they are signed with; not where clients log in.
  std::string dynamodb_credentials;

  // ---- What clients see ----

  // Which database it looks and answers like: "scylla:2025.1", "cassandra:3.11", "cassandra:4.1" or
  // "cassandra:5.0". A Cassandra has its rules of CQL as well: docs/cql_support.md, "Where Cassandra
  // differs". What it says of `looks_like_scylla` and `release_version` counts where those are not
  // given. Empty: like whom the schema of `data_dir` or `from_snapshot` was made, which another one is refused for
  // (FailedPrecondition); without such a schema ScyllaDB's CQL, whatever the look.
  std::string like;
  // Shards of the node, each with a thread of its own. 1 to 256. Ignored with a `store`, which has
  // its own number of shards.
  uint32_t shards = 1;
  // True: the node presents itself as ScyllaDB (SCYLLA_* options, versions, system tables). False:
  // as Cassandra, version 3 unless `release_version` says otherwise. nullopt: as `like` says, else
  // ScyllaDB.
  std::optional<bool> looks_like_scylla;
  // Values of system.local. 1 to 128 bytes of printable UTF-8 each.
  std::string data_center = "datacenter1";
  // Further data centres of the cluster, in which there is no node.
  std::vector<std::string> other_data_centers;
  // A keyspace that names a data centre other than these is refused, as in ScyllaDB. False: it is
  // made, and counted in liststore.unsupported.
  bool refuses_unknown_data_centers = false;
  std::string rack = "rack1";
  std::string cluster_name = "liststore";
  // The version that drivers see. "scylla-2025.1" is ScyllaDB 2025.1, shown in system.versions; the
  // release_version of system.local is the same for all ScyllaDB versions. "3.11.17", "4.1" or
  // "5.0" is shown as release_version; a node that presents itself as Cassandra then also has what
  // that version of Cassandra has (3 to 5: its version of CQL; since 4: peers_v2 and
  // system_virtual_schema). Empty: ScyllaDB 2025.1.0, or Cassandra 3.0.8.
  std::string release_version;
  // Options of ScyllaDB. Those that change an answer are listed in docs/settings.md; the others are
  // known, checked and shown in the table system.config. What says where to listen and what the
  // cluster is called is not taken from here.
  std::vector<ScyllaOption> scylla_options;
  // If `user` is not empty, clients must log in, and there is a superuser of this name and password
  // (1 to 511 bytes), who may make other roles: PasswordAuthenticator, whatever `scylla_options`
  // say; if they say so, with cassandra and cassandra for an empty `user`. Else nobody logs in.
  // Whoever has come in may do everything, unless the ScyllaOption {"authorizer",
  // "CassandraAuthorizer"} is given: docs/roles.md.
  std::string user;
  std::string password;
  enum class ClientTimestamps {
    kByClock,  // kHonour while the clock is real, else kReplace
    kHonour,   // a write keeps the timestamp that its client gave it, as in ScyllaDB
    kReplace,  // a write gets the server's timestamp: for clocks that a test moves, of which
               // clients know nothing
  };
  ClientTimestamps client_timestamps = ClientTimestamps::kByClock;

  // ---- Clock and data ----

  // The source of time; must outlive the server. nullptr: the store's clock, or without a store the
  // system clock, which clients may stop and move through the table liststore.clock.
  const Clock* clock = nullptr;
  // Instead of `clock`: clients may move it, but not change its mode.
  ManualClock* manual_clock = nullptr;
  // Instead of both: clients may also change its mode. With a `store`, the store uses it too.
  ServerClock* server_clock = nullptr;
  // The store to serve; must outlive the server, and may be used at the same time. nullptr: the
  // server has tables of its own, none at first.
  ListStore* store = nullptr;
  // Memory limit for data of a server without a store; see Options::memory_limit_bytes.
  uint64_t memory_limit_bytes = 0;
  // What happens at that limit. kEvict: the server is a cache: partitions go that were not read
  // lately, of all tables that clients make but those with an index or a materialized view, and
  // writes are refused only where nothing else is left; docs/cache.md. With a `store` its own policy
  // counts, which is for its lists.
  MemoryPolicy memory_policy = MemoryPolicy::kReject;
  // The limit of the process, of which `memory_limit_bytes` and `client_memory_bytes` are shares, and
  // how another one is divided, or why it cannot be. Clients may change it while the server runs,
  // through the table liststore.memory. 0: they may change the limit for rows. The server's threads
  // call the function.
  uint64_t process_memory_bytes = 0;
  std::function<absl::StatusOr<CqlMemoryShares>(uint64_t process_bytes)> divide_memory;
  // Memory that a server without a store prepares for data when it starts, and keeps; see
  // ListStore::Populate. At most the limit.
  uint64_t populate_bytes = 0;

  // ---- What is kept ----

  // A directory where the server keeps what clients write, their schema and their roles, so that it
  // is there again when the server starts the next time; made where it is missing. One process's at
  // a time. Empty: nothing is kept. Not with a `store`, `clock` or `manual_clock`. docs/durability.md
  // says what survives what.
  std::string data_dir;
  // What is on the disk before an answer leaves.
  using CommitLog = ::liststore::CommitLog;
  // With a `data_dir`.
  CommitLog commit_log = CommitLog::kOff;
  // 1 to 60,000.
  uint32_t commit_log_period_ms = 10;
  // Size of the log's files: 2 MiB to 1 GiB.
  uint64_t commit_log_segment_bytes = uint64_t{32} << 20;
  // A snapshot of everything is taken, and what the log has from before it goes, when so much was
  // written to the log since the last one (0: however much), and after so many seconds (0: never);
  // and at the end, by Stop.
  uint64_t snapshot_log_bytes = uint64_t{1} << 30;
  uint32_t snapshot_period_seconds = 0;
  bool snapshot_at_end = false;
  SnapshotCompression snapshot_compression = SnapshotCompression::kNone;
  // A snapshot to begin with, wherever it is: with a `data_dir`, one that has nothing yet.
  std::string from_snapshot;
  // Lines about the start from a `data_dir`, snapshots that were taken, and when writes that were
  // refused are accepted again. The server's threads call it: it must return soon and must not call
  // the server. May be empty.
  std::function<void(std::string_view line)> on_keeping;
  // The same for what fails: that writes are refused because the log cannot be written, a snapshot
  // that was not taken. Empty: these lines are `on_keeping`'s too.
  std::function<void(std::string_view line)> on_keeping_failure;

  // ---- What clients may take ----

  // Memory for what is held for clients: received requests, answers that wait, delayed answers,
  // prepared statements and the journal; beside `memory_limit_bytes`, which is for rows. When most
  // of it is taken, clients that hold much are not read from, then requests are answered with
  // OVERLOADED (0x1001), then the connection that holds most is closed; the table liststore.memory
  // shows who holds what. 0: an eighth of the machine's memory, 64 MiB to 4 GiB. At least 1 MiB.
  uint64_t client_memory_bytes = 0;
  // Memory for what large requests take while they are planned and carried out, beside these two:
  // those for which there is no room wait for the others, and what one may bring (words of a
  // statement, statements, values and elements of a batch) follows from it. 0: as much as the
  // connections' part of `client_memory_bytes`, and what one may bring is bounded as if there was much;
  // else at least 1 MiB.
  uint64_t work_memory_bytes = 0;
  // Called when one of them is over, with what it may have taken, before others have its room: a
  // program that counts its resident memory may give what was freed back to the system. By the
  // server's threads.
  std::function<void(uint64_t bytes)> on_work_memory_freed;
  // Connections at the same time; one more is answered with an error and closed. The last few are
  // kept for addresses that have few. 0: what the process's limit on open files leaves,
  // which is the program's to raise (RLIMIT_NOFILE) before the server starts.
  uint32_t max_connections = 0;
  // The same for each address. 0: three quarters of all.
  uint32_t max_connections_per_address = 0;
  // Connections are closed that have sent nothing for so long. 0: never. (One that has not logged
  // in ends after 10 s; one that takes nothing of its answers after 60 s.)
  uint32_t idle_timeout_seconds = 0;
  // How long requests may wait to be read. Where all that a connection, or a shard, has read waited
  // longer for twice this time, and 100 ms at least, what has waited longer is answered with
  // OVERLOADED (0x1001) and not executed, until it is less. 0: however long. At most an hour.
  uint32_t queue_time_max_ms = 500;
  // Clients may use what is there for tests: the tables liststore.data, faults, clock, requests,
  // journal and lint. False: there are no such tables, and no journal.
  bool instruments = true;

  // ---- Journal and notices ----

  // How many of the latest requests the table liststore.requests keeps; at most 100,000. About 400
  // bytes each with a few short values. 0: none, at no cost. Clients may change it through the
  // table liststore.journal.
  uint64_t journal_entries = 0;

  // Called when a client asks for a feature of CQL that is not supported, once per feature. The
  // server's threads call it, several at once: it must return soon and must not call the server.
  // May be empty.
  std::function<void(const CqlNotice&)> on_notice;
  // Called when memory for rows is nearly full and when it is full, once each until less than seven
  // tenths are held again, and when a client has changed the limit. Within about a second. The
  // server's threads call it: it must return soon and must not call the server. May be empty.
  std::function<void(const CqlMemoryNotice&)> on_memory_notice;
  // Called for each request that took so long from when it was read, or longer, until its answer was
  // ready. Where it was not put off to a thread beside the shards', it is looked at when its shard's
  // thread was busy with it, and those that came with it, for a millisecond or more. 0, or no function:
  // nobody is told. The server's threads call it, several at once: it must return soon and must not
  // call the server.
  uint32_t slow_request_ms = 0;
  std::function<void(const CqlSlowRequest&)> on_slow_request;
  // The same for each connection that is accepted, and when it has ended; not for those that are refused.
  std::function<void(const CqlConnectionNotice&)> on_connection;
  // The same for each change of the schema, once it can be seen.
  std::function<void(const CqlSchemaNotice&)> on_schema_change;
};

class CqlServer {
 public:
  // The server listens when Start returns. InvalidArgument: an option is out of bounds, or a file of
  // `tls` cannot be read, holds something else, or does not go with the others; the message names it.
  // AlreadyExists: a port is in use; the message names it. FailedPrecondition: the kernel refuses
  // the address, no memory limit is known, or `data_dir` is of a later version. ResourceExhausted:
  // too many files are open, or what `data_dir` holds does not fit the memory limit. Unavailable:
  // another process has `data_dir`. DataLoss: something is missing there; the message says what.
  static absl::StatusOr<std::unique_ptr<CqlServer>> Start(const CqlServerOptions& options);
  // Calls Stop.
  ~CqlServer();
  CqlServer(const CqlServer&) = delete;
  CqlServer& operator=(const CqlServer&) = delete;

  // Accepts no more connections, answers the requests that have arrived and closes all connections.
  // Waits for requests that are running and a snapshot that is being taken, however long those take, and half a second
  // beside for clients to take their answers. A second call has no effect.
  // Data stays until the destructor.
  void Stop();
  // Once it has stopped: why not all that is to be kept is; the last snapshot that it was to take, or
  // the end of its log. OK before. Any thread.
  absl::Status stop_status() const;

  // Takes a snapshot into the `data_dir`, while clients write; changes of the schema wait. Returns
  // when it is there, or Stop was called before. FailedPrecondition: there is no `data_dir`. Others:
  // the disk's words; what was there stays. Any thread.
  absl::Status TakeSnapshot();
  // Reads `data_dir`, with all that is damaged left out, and said by `on_keeping`, and puts what there
  // is in place of it, as a snapshot from which a server starts. Errors are those of Start.
  static absl::Status RecoverDataDirectory(const CqlServerOptions& options);

  // The rest may be called from any thread.
  uint16_t cql_port() const;
  // 0: the server has no shard-aware port.
  uint16_t shard_aware_port() const;
  // The ports that take TLS, which are the same two where those take it; 0: there is none.
  uint16_t tls_port() const;
  uint16_t tls_shard_aware_port() const;
  // 0: there is none.
  uint16_t http_port() const;
  uint16_t dynamodb_port() const;
  // Reads the files of `tls` again. Connections that are open go on as they are; new ones get what
  // the files hold now. InvalidArgument: as by Start, and the server keeps what it has.
  // FailedPrecondition: it has no TLS.
  absl::Status ReloadTls();
  // The same with other files, versions and suites, which are those of `tls` from then on.
  absl::Status ReloadTls(const TlsOptions& tls);
  size_t connection_count() const;
  // What the process has of memory, as the system says, whenever its program has looked; of a server with
  // `process_memory_bytes`. What of it is neither of rows nor held for clients may be what these leave of
  // that. For what is more, tables above all, rows have less until it is gone, and while they hold more than
  // that no table is made or altered. The least of some looks counts. True: it is more. One thread; it may
  // take as long as a change of the limit does.
  bool NoteResidentBytes(uint64_t bytes);
  // What the table liststore.counters has: what became of clients since the server started, and how many
  // are connected. In the table's order. Some loads.
  std::vector<CqlCounter> Counters() const;
  // For how long the thread that was busy longest with one thing has been so, of those of the shards and the
  // one that accepts: each comes round once a second at least while it has nothing to do. For whoever
  // ends a program that hangs. Some loads.
  std::chrono::nanoseconds LongestTurn() const;
  // Requests that were refused because they asked for an unsupported feature.
  uint64_t refusal_count() const;
  // By feature, sorted by code. The table liststore.unsupported has the same, and also what was
  // accepted without effect. May be called after Stop.
  std::vector<CqlRefusal> Refusals() const;

 private:
  class Impl;
  explicit CqlServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace liststore

#endif  // LISTSTORE_CQL_SERVER_H_
