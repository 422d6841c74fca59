// What a writer was told, and what it was not told any more when its server was killed.
#ifndef LISTSTORE_TESTS_DURABLE_KILL_LEDGER_H_
#define LISTSTORE_TESTS_DURABLE_KILL_LEDGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace liststore::testing {

using KillKey = std::pair<int, int>;  // partition, row
using KillRows = std::map<KillKey, std::string>;

// One or several rows that one request changes; all of them or none. nullopt: it is deleted.
using KillChange = std::vector<std::pair<KillKey, std::optional<std::string>>>;

// Of one writer, whose partitions nobody else writes to.
class KillLedger {
 public:
  // It was acknowledged.
  void Note(const KillChange& change) {
    for (const auto& [key, value] : change) {
      if (value) {
        rows_[key] = *value;
      } else {
        rows_.erase(key);
      }
    }
  }
  // Nobody said what became of it. All of one time are about rows of their own.
  void NoteInDoubt(KillChange change) { doubts_.push_back(std::move(change)); }

  // Compares with the rows that are there of this writer, and takes what was in doubt as it is. What is
  // wrong; empty: nothing.
  std::string Compare(const KillRows& there) {
    for (const KillChange& doubt : doubts_) {
      size_t done = 0;
      size_t not_done = 0;
      for (const auto& [key, value] : doubt) {
        const auto at = there.find(key);
        const std::optional<std::string> now =
            at == there.end() ? std::nullopt : std::optional(at->second);
        const auto known = rows_.find(key);
        const std::optional<std::string> before =
            known == rows_.end() ? std::nullopt : std::optional(known->second);
        done += now == value;
        not_done += now == before;
      }
      if (done != doubt.size() && not_done != doubt.size()) {
        return "a change of " + std::to_string(doubt.size()) +
               " rows is there in part: " + std::to_string(done) + " of them";
      }
      if (not_done != doubt.size()) Note(doubt);
    }
    doubts_.clear();
    for (const auto& [key, value] : rows_) {
      const auto at = there.find(key);
      if (at == there.end()) return "acknowledged and missing: " + Text(key, value);
      if (at->second != value) {
        return "acknowledged was " + Text(key, value) + ", there is " + Text(key, at->second);
      }
    }
    for (const auto& [key, value] : there) {
      if (!rows_.contains(key)) return "there, and deleted or never written: " + Text(key, value);
    }
    return "";
  }
  bool is_in_doubt() const { return !doubts_.empty(); }
  size_t size() const { return rows_.size(); }

 private:
  static std::string Text(const KillKey& key, const std::string& value) {
    return "(" + std::to_string(key.first) + ", " + std::to_string(key.second) + ") '" +
           value.substr(0, 24) + "' of " + std::to_string(value.size()) + " bytes";
  }

  KillRows rows_;
  std::vector<KillChange> doubts_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_DURABLE_KILL_LEDGER_H_
