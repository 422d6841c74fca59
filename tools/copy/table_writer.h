// Writes rows as they were read: with their timestamps and what is left of their TTLs.
#ifndef LISTSTORE_TOOLS_COPY_TABLE_WRITER_H_
#define LISTSTORE_TOOLS_COPY_TABLE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/client/cql_client.h"
#include "tools/copy/remote_schema.h"
#include "tools/copy/table_reader.h"

namespace liststore {

// Any number of statements for a row: one for each pair of timestamp and TTL among its cells, and
// what its lists take.
//
// A row that was inserted exists by itself, by a marker whose timestamp and TTL no server tells.
// The cells that were written first are inserted, so that the marker gets what they have, which is
// what it has unless all cells of the INSERT were written again; the others are updated. A row of a
// key alone is inserted at kMarkerMicros, with the TTL that the table gives. Static cells are
// written once for each partition.
//
// Elements and fields are added to what there is, each with its own timestamp and TTL. Those of
// lists where the source says that they stand, or else one behind the other; a target that takes no
// places for them (RemoteSchema::places_elements) has them in the order in which they are written,
// and twice when they are written twice. A value whose parts' times the source does not tell is
// written whole, at the target's own time, with the TTL that the table gives.
//
// Apart from these, writing the same again changes nothing, but for counters, which are added to.
//
// One thread; up to kInFlight requests under way. Statuses are the client's.
class TableWriter {
 public:
  // Before every timestamp of clients and servers, so that whatever they do goes before it.
  static constexpr int64_t kMarkerMicros = 1;
  static constexpr int16_t kInFlight = 128;

  // All of them outlive the writer. `layout`: of the rows that will come.
  static absl::StatusOr<TableWriter> Open(CqlClient& client, const RemoteTable& table,
                                          const RemoteSchema& schema, const RowLayout& layout);

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
  // Of what the source tells no times: the target's own, and the TTL that the table gives.
  static constexpr CellGroup kUntold = {std::numeric_limits<int64_t>::max(), -1};
  // What a row has in a column: one cell, or elements.
  struct Content {
    RemoteCell whole;
    std::vector<RemoteElement> elements;
  };
  // The ids of prepared statements; empty: the table has no use for it.
  struct Statements {
    std::string insert, update, insert_key, update_static, add, add_static;
    std::vector<std::string> lists;  // by cell: writes elements of that list
  };

  TableWriter(CqlClient& client, const RemoteTable& table, const RemoteSchema& schema,
              const RowLayout& layout);
  absl::Status Prepare();
  absl::Status WriteCells(const RemoteRows& page, size_t row, bool is_static);
  absl::Status AddCounters(const RemoteRows& page, size_t row, bool is_static);
  // Looks at the cells from `first` to before `end`: what they hold, and of which groups it is, the
  // oldest first, of these the one that lives longest.
  void Read(const RemoteRows& page, size_t row, size_t first, size_t end);
  absl::Status Insert(const RemoteRows& page, size_t row, const CellGroup& group);
  // `with_whole`: also the cells that are read whole. Nothing is sent when there is nothing to set.
  absl::Status Update(const RemoteRows& page, size_t row, const CellGroup& group, bool is_static,
                      bool with_whole);
  // The values of `c = ?`, `c = c + ?` and `c.field = ?`, or unset. False: all are unset.
  bool AddParts(size_t cell, const CellGroup& group);
  absl::Status WriteList(const RemoteRows& page, size_t row, size_t cell, bool is_static);
  absl::Status AppendList(const RemoteRows& page, size_t row, size_t cell, bool is_static);
  void AddUsing(const CellGroup& group, CqlValues& values);
  void AddKey(const RemoteRows& page, size_t row, size_t columns, CqlValues& values);
  // Whether it is written by statements of its own.
  bool is_list(size_t cell) const { return !statements_.lists[cell].empty(); }
  CellGroup GroupOf(size_t cell) const;
  absl::Status Send(const std::string& statement);
  absl::Status MakeRoom();
  // Behind each request.
  absl::Status Sent();
  // Waits for answers until no more than `left` are under way.
  absl::Status Await(size_t left);

  CqlClient* client_;
  const RemoteTable* table_;
  const RemoteSchema* schema_;
  const RowLayout* layout_;
  Statements statements_;
  std::string partition_;          // whose static cells were written last
  std::vector<Content> contents_;  // by cell
  std::vector<CellGroup> groups_;
  CqlValues values_;
  std::vector<CqlValues> batch_;
  std::vector<int16_t> free_streams_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_COPY_TABLE_WRITER_H_
