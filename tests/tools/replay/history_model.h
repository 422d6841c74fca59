// Logs of list operations with the right answers, from a dictionary for each list. It shares no
// code with the store: item keys are made from libcrypto's MD5 and base64, order is that of their
// text.
#ifndef LISTSTORE_TESTS_TOOLS_REPLAY_HISTORY_MODEL_H_
#define LISTSTORE_TESTS_TOOLS_REPLAY_HISTORY_MODEL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace liststore::testing {

struct HistoryItem {
  uint64_t timestamp_nanos = 0;
  std::string value;
};

// Each call applies an operation and writes its line; gets and Finish write expected answers.
class HistoryModel {
 public:
  struct List {
    std::string entity_type, feature, version, entity_id;
  };

  // `now_nanos` never goes back.
  void SetNow(uint64_t now_nanos) { now_nanos_ = now_nanos; }
  // `list.entity_id` does not count.
  void CreateFeature(const List& list, uint64_t ttl_seconds);
  void Add(const List& list, const std::vector<HistoryItem>& items);
  void Get(const List& list, uint64_t min_timestamp_nanos, uint64_t limit);
  void RemoveValue(const List& list, const std::string& value);
  void RemoveAll(const List& list);
  void Finish();

  const std::string& log() const { return log_; }
  const std::string& expected() const { return expected_; }

 private:
  struct Row {
    std::string value;
    uint64_t expiry_seconds = 0;
  };
  using Rows = std::map<std::string, Row, std::greater<>>;  // by item key

  bool Alive(const Row& row) const { return now_nanos_ / 1'000'000'000 < row.expiry_seconds; }
  Rows& RowsOf(const List& list);
  // The front of a line, open for further fields.
  void Begin(std::string_view op, const List& list, bool with_entity = true);

  uint64_t now_nanos_ = 0;
  uint64_t lines_ = 0;
  std::string log_;
  std::string expected_;
  std::map<std::tuple<std::string, std::string, std::string>, uint64_t> ttl_seconds_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Rows> lists_;
  uint64_t reads_ = 0, returned_ = 0, stored_ = 0, skipped_expired_ = 0, removed_live_ = 0;
  std::string digests_;
};

// `text` as a JSON string, quotes included.
std::string JsonString(std::string_view text);

// A history of `steps` operations around `start_nanos`: versions, features created again, equal and
// out-of-order timestamps, remaining times at the edges of a second, values that repeat, quotes and
// control characters, gaps in which everything expires.
HistoryModel RandomHistory(uint64_t seed, uint64_t start_nanos, uint64_t steps);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_TOOLS_REPLAY_HISTORY_MODEL_H_
