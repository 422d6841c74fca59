// Writes rows as they were read: with their timestamps and what is left of their TTLs.
#ifndef LISTSTORE_TOOLS_LISTSTORE_TABLE_WRITER_H_
#define LISTSTORE_TOOLS_LISTSTORE_TABLE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/liststore/cql_client.h"
#include "tools/liststore/remote_schema.h"
#include "tools/liststore/table_reader.h"

namespace liststore {

// Any number of statements for a row: one for each pair of timestamp and TTL among its cells.
//
// A row that was inserted exists by itself, by a marker whose timestamp and TTL no server tells.
// The cells that were written first are inserted, so that the marker gets what they have, which is
// what it has unless all cells of the INSERT were written again; the others are updated. A row of a
// key alone is inserted at kMarkerMicros, with the TTL that the table gives. Static cells are
// written once for each partition.
//
// Writing the same again changes nothing, but for counters, which are added to.
//
// One thread; up to kInFlight statements under way. Statuses are the client's.
class TableWriter {
 public:
  // Before every timestamp of clients and servers, so that whatever they do goes before it.
  static constexpr int64_t kMarkerMicros = 1;
  static constexpr int16_t kInFlight = 128;

  // Client and table outlive the writer.
  static absl::StatusOr<TableWriter> Open(CqlClient& client, const RemoteTable& table,
                                          uint16_t consistency);

  // Sends it; answers may come later.
  absl::Status Write(const RemoteRows& page, size_t row);
  // All of them have come.
  absl::Status Flush();

 private:
  // What one statement writes: cells of one timestamp and TTL.
  struct CellGroup {
    int64_t timestamp_micros = 0;
    int32_t ttl_seconds = 0;
    bool operator==(const CellGroup&) const = default;
  };
  // The ids of prepared statements; empty: the table has no use for it.
  struct Statements {
    std::string insert, update, insert_key, update_static, add, add_static;
  };

  TableWriter(CqlClient& client, const RemoteTable& table, uint16_t consistency);
  absl::Status Prepare();
  absl::Status WriteCells(const RemoteRows& page, size_t row, bool is_static);
  absl::Status AddCounters(const RemoteRows& page, size_t row, bool is_static);
  // Of the cells from `first` to before `end`, the oldest first, of these the one that lives
  // longest.
  void FindGroups(const RemoteRows& page, size_t row, size_t first, size_t end);
  void AddKey(const RemoteRows& page, size_t row, size_t columns);
  absl::Status Send(const std::string& statement);
  // Waits for answers until no more than `left` are under way.
  absl::Status Await(size_t left);

  CqlClient* client_;
  const RemoteTable* table_;
  uint16_t consistency_;
  Statements statements_;
  std::string partition_;  // whose static cells were written last
  std::vector<CellGroup> groups_;
  CqlValues values_;
  std::vector<int16_t> free_streams_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_TABLE_WRITER_H_
