// What a connection knows of its client, beyond bytes: what statements may depend on.
#ifndef LISTSTORE_ENGINE_EXECUTE_CLIENT_STATE_H_
#define LISTSTORE_ENGINE_EXECUTE_CLIENT_STATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/execute/select/work_pace.h"
#include "engine/execute/statement_cache.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/scylla_options.h"
#include "engine/roles/permission_cache.h"

namespace liststore::instruments {
struct JournalClient;
}  // namespace liststore::instruments

namespace liststore::execute {

// Drivers say some hundred bytes.
inline constexpr size_t kStartupOptionsBytesMax = 16 << 10;

// Owned by a connection, used on its loop only.
struct ClientState {
  protocol::ProtocolVersion protocol_version = protocol::kProtocolVersionMax;
  std::string keyspace;  // chosen by USE; empty: none
  std::string user;      // the role as which it has logged in, or "anonymous"
  bool has_logged_in = false;
  std::string driver_name;
  std::string driver_version;
  // All that STARTUP said, up to kStartupOptionsBytesMax: what comes behind is left out.
  std::map<std::string, std::string> startup_options;
  std::string local_address;  // of this end: 4 or 16 bytes
  std::string peer_address;   // 4 or 16 bytes
  uint16_t peer_port = 0;
  // How its connection is encrypted, "TLSv1.3" and the standard's name of the suite; empty: not.
  std::string tls_protocol;
  std::string tls_cipher_suite;
  uint32_t shard = 0;  // of the connection, constant
  // Negotiated by STARTUP.
  protocol::Extensions extensions;
  // Who this is to the journal; made when that wants to know, and again for another keyspace.
  std::shared_ptr<const instruments::JournalClient> journal_client;
  StatementMemo statements;            // that it has executed
  roles::PermissionCache permissions;  // of `user`
  WorkPlace place;                     // of its statements, at the moment
  WorkInstant read_at;                 // what is dealt with was read then, at the latest
  // Statements that may have written have run since this was taken back; whoever sends their answers
  // does that.
  bool has_written = false;

  // HOST:PORT, [IPV6]:PORT.
  std::string PeerText() const;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_CLIENT_STATE_H_
