#include "tools/top/top_sample.h"

#include <algorithm>
#include <chrono>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

// No rows of a table that is not there: a server may be without instruments.
absl::StatusOr<CqlRows> ReadIfThere(CqlClient& client, const std::string& statement) {
  absl::StatusOr<CqlRows> rows = client.Query(statement);
  if (absl::IsInvalidArgument(rows.status())) return CqlRows();
  return rows;
}

absl::Status ReadRequests(CqlClient& client, std::optional<int64_t> after, TopSample* sample) {
  LS_ASSIGN_OR_RETURN(const CqlRows journal,
                      ReadIfThere(client, "SELECT enabled, capacity FROM liststore.journal"));
  const bool is_kept = journal.size() == 1 && journal.at(0, 0) == std::string_view("\1", 1) &&
                       journal.Integer(0, 1) > 0;
  sample->has_journal = is_kept;
  if (!is_kept) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(const CqlRows newest,
                      client.Query("SELECT seq FROM liststore.requests WHERE journal = 'requests' "
                                   "ORDER BY seq DESC LIMIT 1"));
  // Where it was emptied, and nothing has come since, the numbers go on.
  sample->newest_request = after;
  if (newest.size() == 1) sample->newest_request = newest.Integer(0, 0);
  if (!after) return absl::OkStatus();
  const int64_t from = std::max(*after, *sample->newest_request - TopSample::kRequestsMax);
  LS_ASSIGN_OR_RETURN(
      const CqlRows rows,
      client.Query(absl::StrCat("SELECT op, tbl, outcome, duration_us FROM liststore.requests "
                                "WHERE journal = 'requests' AND seq > ",
                                from, " AND seq <= ", *sample->newest_request)));
  for (size_t i = 0; i < rows.size(); ++i) {
    sample->requests.push_back({std::string(rows.at(i, 0)), std::string(rows.at(i, 1)),
                                std::string(rows.at(i, 2)), rows.Integer(i, 3)});
  }
  return absl::OkStatus();
}

absl::Status ReadMemory(CqlClient& client, TopSample* sample) {
  LS_ASSIGN_OR_RETURN(const CqlRows rows,
                      client.Query("SELECT kind, bytes, limit_bytes FROM liststore.memory"));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows.at(i, 0) == "connection") continue;
    sample->memory.push_back({std::string(rows.at(i, 0)), rows.Integer(i, 1), rows.Integer(i, 2)});
  }
  return absl::OkStatus();
}

absl::Status ReadSlowTurns(CqlClient& client, TopSample* sample) {
  LS_ASSIGN_OR_RETURN(
      const CqlRows rows,
      client.Query("SELECT number, took_us, waited_for_core_us, work FROM liststore.slow_turns"));
  for (size_t i = 0; i < rows.size(); ++i) {
    sample->slow_turns.push_back(
        {rows.Integer(i, 0), rows.Integer(i, 1), rows.Integer(i, 2), std::string(rows.at(i, 3))});
  }
  std::ranges::sort(sample->slow_turns, std::ranges::greater(), &TopSample::SlowTurn::number);
  return absl::OkStatus();
}

absl::Status ReadHotPartitions(CqlClient& client, TopSample* sample) {
  // An older server has none.
  LS_ASSIGN_OR_RETURN(
      const CqlRows rows,
      ReadIfThere(client,
                  absl::StrCat("SELECT tbl, key, reads, writes, seconds "
                               "FROM liststore.hot_partitions WHERE top = 'partitions' LIMIT ",
                               TopSample::kHotPartitionsMax)));
  for (size_t i = 0; i < rows.size(); ++i) {
    sample->hot_partitions.push_back({std::string(rows.at(i, 0)), std::string(rows.at(i, 1)),
                                      rows.Integer(i, 2), rows.Integer(i, 3), rows.Integer(i, 4)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TopSample> ReadTopSample(CqlClient& client, std::optional<int64_t> after) {
  TopSample sample;
  sample.at_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  LS_RETURN_IF_ERROR(ReadRequests(client, after, &sample));
  LS_ASSIGN_OR_RETURN(const CqlRows clock, ReadIfThere(client, "SELECT mode FROM liststore.clock"));
  if (clock.size() == 1) sample.clock_mode = clock.at(0, 0);
  LS_RETURN_IF_ERROR(ReadMemory(client, &sample));
  LS_ASSIGN_OR_RETURN(const CqlRows counters,
                      client.Query("SELECT name, value FROM liststore.counters"));
  for (size_t i = 0; i < counters.size(); ++i) {
    sample.counters.emplace(counters.at(i, 0), counters.Integer(i, 1));
  }
  LS_ASSIGN_OR_RETURN(
      const CqlRows data,
      ReadIfThere(client, "SELECT keyspaces, tables, rows, bytes FROM liststore.data"));
  if (data.size() == 1) {
    sample.data = {data.Integer(0, 0), data.Integer(0, 1), data.Integer(0, 2), data.Integer(0, 3)};
  }
  LS_RETURN_IF_ERROR(ReadSlowTurns(client, &sample));
  LS_RETURN_IF_ERROR(ReadHotPartitions(client, &sample));
  return sample;
}

}  // namespace liststore
