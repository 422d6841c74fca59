#include "tools/report/server_notes.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "tools/report/advice.h"

namespace liststore {
namespace {

// In words; empty: the newest ones that are kept are gone.
absl::StatusOr<std::string> LongestTurn(CqlClient& client) {
  LS_ASSIGN_OR_RETURN(
      const CqlRows turns,
      client.Query("SELECT took_us, waited_for_core_us, work FROM liststore.slow_turns"));
  if (turns.size() == 0) return "";
  size_t longest = 0;
  for (size_t row = 1; row < turns.size(); ++row) {
    if (turns.Integer(row, 0) > turns.Integer(longest, 0)) longest = row;
  }
  return absl::StrFormat("the longest of late took %.1f ms, of which %.1f ms for a core: %s",
                         static_cast<double>(turns.Integer(longest, 0)) / 1e3,
                         static_cast<double>(turns.Integer(longest, 1)) / 1e3,
                         std::string(turns.at(longest, 2)));
}

}  // namespace

absl::StatusOr<std::vector<ServerNote>> ReadServerNotes(CqlClient& client) {
  std::vector<ServerNote> notes;
  LS_ASSIGN_OR_RETURN(const CqlRows counters,
                      client.Query("SELECT name, value FROM liststore.counters"));
  for (size_t row = 0; row < counters.size(); ++row) {
    const Advice* const advice = FindAdvice(CounterAdvice(), counters.at(row, 0));
    const auto count = static_cast<uint64_t>(counters.Integer(row, 1));
    if (advice == nullptr || count == 0) continue;
    ServerNote& note = notes.emplace_back(ServerNote{
        std::string(advice->name), count, std::string(advice->means), std::string(advice->remedy)});
    if (note.name == "slow_turns") {
      LS_ASSIGN_OR_RETURN(note.detail, LongestTurn(client));
    }
  }
  std::ranges::sort(notes, {}, &ServerNote::name);
  LS_ASSIGN_OR_RETURN(
      const CqlRows unsupported,
      client.Query("SELECT kind, code, count, feature, instead FROM liststore.unsupported"));
  for (size_t row = 0; row < unsupported.size(); ++row) {
    // What has no effect here, as a replication factor, was answered as everywhere.
    if (unsupported.at(row, 0) != "refused") continue;
    notes.push_back({std::string(unsupported.at(row, 1)),
                     static_cast<uint64_t>(unsupported.Integer(row, 2)),
                     "refused, not supported: " + std::string(unsupported.at(row, 3)),
                     std::string(unsupported.at(row, 4))});
  }
  return notes;
}

}  // namespace liststore
