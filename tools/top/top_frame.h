// Two samples -> what happened between them, as people and programs read it.
#ifndef LISTSTORE_TOOLS_TOP_TOP_FRAME_H_
#define LISTSTORE_TOOLS_TOP_TOP_FRAME_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/top/top_sample.h"

namespace liststore {

struct TopFrame {
  using Rates = std::vector<std::pair<std::string, double>>;  // the largest first

  std::string server;
  TopSample now;
  double seconds = 0;  // between the two
  // Absent: the server keeps no journal.
  std::optional<double> requests_per_s;
  // Of the requests that were looked at, taken for all. Failed: with another outcome than ok.
  Rates by_op, by_table, failed_by_outcome;
  // Microseconds by the server, of the requests that were looked at; absent: there were none.
  std::optional<int64_t> p50_us, p99_us, max_us;
  // Counters that have grown, by how much; without connections
  // and statements_long.
  std::map<std::string, int64_t> grown;
};

TopFrame MakeTopFrame(const std::string& server, const TopSample& before, const TopSample& now);

// Lines of at most `columns` columns, each with a line feed.
std::string TopText(const TopFrame& frame, size_t columns);
// One line of JSON, without a line feed.
std::string TopJson(const TopFrame& frame);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_TOP_TOP_FRAME_H_
