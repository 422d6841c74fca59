// StatementSettings: the settings that planning and running statements depend on, as one value.
#ifndef LISTSTORE_ENGINE_SETTINGS_STATEMENT_SETTINGS_H_
#define LISTSTORE_ENGINE_SETTINGS_STATEMENT_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace liststore::settings {

enum class RestrictionMode : uint8_t {
  kAllowed,
  kWarned,
  kRefused,
};

// What is found to be wrong in a statement, and what a client is told beside its answer.
using Warnings = std::vector<std::string>;

// A copy is taken when something changes; who plans or runs a statement has one for its length. The
// defaults are ScyllaDB's, and names, but for shorter units, its own (scylla_settings.cc).
struct StatementSettings {
  RestrictionMode strict_allow_filtering = RestrictionMode::kWarned;
  RestrictionMode strict_is_not_null_in_views = RestrictionMode::kWarned;
  RestrictionMode restrict_twcs_without_default_ttl = RestrictionMode::kWarned;
  RestrictionMode restrict_replication_simplestrategy = RestrictionMode::kAllowed;
  bool restrict_future_timestamp = true;
  bool duplicate_bind_names_are_one_variable = true;
  // Keyspaces of NetworkTopologyStrategy have tablets where nothing is said.
  bool enable_tablets = false;
  uint32_t twcs_max_window_count = 50;

  // Negative: no threshold.
  int32_t minimum_replication_factor_fail_threshold = -1;
  int32_t minimum_replication_factor_warn_threshold = 3;
  int32_t maximum_replication_factor_warn_threshold = -1;
  int32_t maximum_replication_factor_fail_threshold = -1;
  // "SimpleStrategy": without a package.
  std::vector<std::string> replication_strategy_warn_list = {"SimpleStrategy"};
  std::vector<std::string> replication_strategy_fail_list;

  // Keys that the IN lists of one statement may make.
  uint32_t partition_keys_max = 100;
  uint32_t clustering_keys_max = 100;

  uint64_t batch_fail_bytes = uint64_t{1} << 20;

  // How long statements may take, in milliseconds; 0 is over at once.
  uint32_t read_timeout_ms = 5'000;
  uint32_t range_read_timeout_ms = 10'000;
  uint32_t write_timeout_ms = 2'000;
  uint32_t counter_write_timeout_ms = 5'000;
  uint32_t truncate_timeout_ms = 60'000;

  static constexpr uint64_t kPageBytesDefault = uint64_t{1} << 20;
  // What a page holds; it ends with the row that comes to more.
  uint64_t page_bytes_max = kPageBytesDefault;

  // Requests cannot run in groups, which know nothing of these.
  bool run_alone() const {
    return read_timeout_ms == 0 || range_read_timeout_ms == 0 || write_timeout_ms == 0 ||
           counter_write_timeout_ms == 0 || page_bytes_max < kPageBytesDefault;
  }
  // Plans that were made by `other` hold by these too: what plans keep is the same.
  bool HasPlansOf(const StatementSettings& other) const {
    return duplicate_bind_names_are_one_variable == other.duplicate_bind_names_are_one_variable &&
           partition_keys_max == other.partition_keys_max &&
           clustering_keys_max == other.clustering_keys_max;
  }
  bool operator==(const StatementSettings&) const = default;
};

}  // namespace liststore::settings

#endif  // LISTSTORE_ENGINE_SETTINGS_STATEMENT_SETTINGS_H_
