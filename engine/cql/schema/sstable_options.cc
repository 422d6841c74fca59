#include "engine/cql/schema/sstable_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/schema/schema_change_impl.h"

namespace liststore::cql::schema_change {
namespace {

std::string FormatNumber(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), number);
  return {text, end};
}

// {"abc": "1", "b": "x"}: as C++'s fmt writes a map.
std::string DebugText(const PropertyMap& map) {
  const auto quoted = [](std::string_view text) {
    std::string shown = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') shown += '\\';
      shown += c;
    }
    return shown + "\"";
  };
  std::string text;
  for (const auto& [key, value] : map) {
    text += (text.empty() ? "{" : ", ") + quoted(key) + ": " + quoted(value);
  }
  return text + "}";
}

std::string_view ClassName(std::string_view name, std::string_view package) {
  if (name.starts_with(package)) name.remove_prefix(package.size());
  return name;
}

constexpr std::string_view kCompactionPackage = "org.apache.cassandra.db.compaction.";
constexpr std::string_view kTimeWindow = "TimeWindowCompactionStrategy";
constexpr std::string_view kLeveled = "LeveledCompactionStrategy";
constexpr std::string_view kSizeTiered = "SizeTieredCompactionStrategy";
constexpr std::string_view kIncremental = "IncrementalCompactionStrategy";

// One map of options: each is looked at once, and what nobody has looked at is an error.
class CompactionOptions {
 public:
  explicit CompactionOptions(const PropertyMap& map) : map_(map), left_(map) {}

  CqlStatus Check() {
    const std::string strategy = map_.at("class");
    left_.erase("class");
    LS_RETURN_IF_ERROR(CheckCommon());
    if (strategy == kTimeWindow) LS_RETURN_IF_ERROR(CheckTimeWindow());
    if (strategy == kSizeTiered || strategy == kLeveled || strategy == kTimeWindow ||
        strategy == kIncremental) {
      LS_RETURN_IF_ERROR(CheckSizeTiered());
    }
    if (strategy == kLeveled) LS_RETURN_IF_ERROR(CheckLeveled());
    if (strategy == kIncremental) {
      for (const char* option : {"sstable_size_in_mb", "space_amplification_goal"}) Take(option);
    }
    if (left_.empty()) return {};
    return CqlError::Config("Invalid compaction strategy options " + DebugText(left_) +
                            " for chosen strategy type");
  }

  // The seconds of a window, of a map that was checked.
  static int64_t WindowSeconds(const PropertyMap& map) {
    const auto size = map.find("compaction_window_size");
    const auto unit = map.find("compaction_window_unit");
    const int64_t count = size == map.end() ? 1 : LeadingInt64(size->second).value_or(1);
    return count * (unit == map.end() ? kSecondsOfDay : SecondsOf(unit->second).value_or(1));
  }

 private:
  static constexpr int64_t kSecondsOfDay = 86'400;

  static std::optional<int64_t> SecondsOf(std::string_view unit) {
    if (unit == "MINUTES") return 60;
    if (unit == "HOURS") return 3600;
    if (unit == "DAYS") return kSecondsOfDay;
    return std::nullopt;
  }

  const std::string* Take(const std::string& option) {
    left_.erase(option);
    const auto at = map_.find(option);
    return at == map_.end() ? nullptr : &at->second;
  }
  CqlOr<int64_t> Integer(const std::string& option, int64_t otherwise) {
    const std::string* text = Take(option);
    if (text == nullptr) return otherwise;
    const std::optional<int64_t> number = LeadingInt64(*text);
    if (number) return *number;
    return CqlError::Syntax("Invalid long value " + *text + " for '" + option + "'");
  }
  CqlOr<double> Number(const std::string& option, double otherwise) {
    const std::string* text = Take(option);
    if (text == nullptr) return otherwise;
    const std::optional<double> number = LeadingDouble(*text);
    if (number) return *number;
    return CqlError::Syntax("Invalid double value " + *text + " for '" + option + "'");
  }
  static CqlError Wrong(const std::string& option, const std::string& value,
                        std::string_view must) {
    return CqlError::Config(option + " value (" + value + ") must be " + std::string(must));
  }
  CqlStatus CheckTrueOrFalse(const std::string& option) {
    const std::string* text = Take(option);
    if (text == nullptr || *text == "true" || *text == "false") return {};
    return Wrong(option, *text, "\"true\" or \"false\"");
  }

  CqlStatus CheckCommon() {
    LS_ASSIGN_OR_RETURN(const double threshold, Number("tombstone_threshold", 0.2));
    if (threshold < 0.0 || threshold > 1.0) {
      return Wrong("tombstone_threshold", FormatNumber(threshold), "between 0.0 and 1.0");
    }
    LS_ASSIGN_OR_RETURN(const int64_t interval,
                        Integer("tombstone_compaction_interval", kSecondsOfDay));
    if (interval <= 0) {
      const std::string millis = interval == 0 ? "0ms" : std::to_string(interval) + "000ms";
      return Wrong("tombstone_compaction_interval", millis, "positive");
    }
    LS_RETURN_IF_ERROR(CheckTrueOrFalse("unchecked_tombstone_compaction"));
    return CheckTrueOrFalse("enabled");
  }

  CqlStatus CheckThresholds() {
    for (const char* option : {"min_threshold", "max_threshold"}) {
      LS_ASSIGN_OR_RETURN(const int64_t threshold, Integer(option, 4));
      if (threshold < 2) {
        return Wrong(option, std::to_string(threshold), "bigger or equal to 2");
      }
    }
    return {};
  }

  // Source: ScyllaDB compaction/size_tiered_compaction_strategy.cc.
  CqlStatus CheckSizeTiered() {
    LS_ASSIGN_OR_RETURN(const int64_t size, Integer("min_sstable_size", 50 << 20));
    if (size < 0) return Wrong("min_sstable_size", std::to_string(size), "non negative");
    LS_ASSIGN_OR_RETURN(const double low, Number("bucket_low", 0.5));
    if (low <= 0.0 || low >= 1.0) {
      return Wrong("bucket_low", FormatNumber(low), "between 0.0 and 1.0");
    }
    LS_ASSIGN_OR_RETURN(const double high, Number("bucket_high", 1.5));
    if (high <= 1.0) return Wrong("bucket_high", FormatNumber(high), "greater than 1.0");
    LS_ASSIGN_OR_RETURN(const double cold, Number("cold_reads_to_omit", 0.05));
    if (cold < 0.0 || cold > 1.0) {
      return Wrong("cold_reads_to_omit", FormatNumber(cold), "between 0.0 and 1.0");
    }
    return CheckThresholds();
  }

  CqlStatus CheckLeveled() {
    LS_ASSIGN_OR_RETURN(const int64_t size, Integer("sstable_size_in_mb", 160));
    if (size > 0) return {};
    return Wrong("sstable_size_in_mb", std::to_string(size), "positive");
  }

  // Source: ScyllaDB compaction/time_window_compaction_strategy.cc.
  CqlStatus CheckTimeWindow() {
    const std::string* unit = Take("compaction_window_unit");
    if (unit != nullptr && !SecondsOf(*unit)) {
      return CqlError::Config("Invalid window unit " + *unit + " for compaction_window_unit");
    }
    LS_ASSIGN_OR_RETURN(const int64_t size, Integer("compaction_window_size", 1));
    if (static_cast<int32_t>(size) <= 0) {
      return Wrong("compaction_window_size", std::to_string(static_cast<int32_t>(size)),
                   "greater than 1");
    }
    constexpr const char* kFrequency = "expired_sstable_check_frequency_seconds";
    const std::string* frequency = Take(kFrequency);
    if (frequency != nullptr && !LeadingInt64(*frequency)) {
      return CqlError::Syntax("Invalid long value " + *frequency + " for " + kFrequency);
    }
    const std::string* resolution = Take("timestamp_resolution");
    if (resolution != nullptr && *resolution != "MICROSECONDS" && *resolution != "MILLISECONDS") {
      return CqlError::Config("Invalid timestamp resolution " + *resolution +
                              " for timestamp_resolution");
    }
    LS_RETURN_IF_ERROR(CheckThresholds());
    LS_RETURN_IF_ERROR(CheckTrueOrFalse("enable_optimized_twcs_queries"));
    Take("unsafe_aggressive_sstable_expiration");
    return {};
  }

  const PropertyMap& map_;
  PropertyMap left_;
};

}  // namespace

CqlStatus ApplyCompaction(const Properties& properties, TableOptions& options) {
  constexpr std::array<std::string_view, 5> kStrategies = {kSizeTiered, kLeveled, kTimeWindow,
                                                           kIncremental, "NullCompactionStrategy"};
  LS_ASSIGN_OR_RETURN(auto compaction, properties.Map("compaction"));
  if (!compaction || compaction->empty()) return {};
  if (!compaction->contains("class")) {
    return CqlError::Config("Missing sub-option 'class' for the 'compaction' option.");
  }
  std::string& strategy = compaction->at("class");
  const std::string_view name = ClassName(strategy, kCompactionPackage);
  if (std::ranges::count(kStrategies, name) == 0) {
    return CqlError::Config("Unable to find compaction strategy class '" + strategy + "'");
  }
  strategy = std::string(name);
  options.compaction = *std::move(compaction);
  return {};
}

CqlStatus CheckCompaction(const Properties& properties, const TableOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto given, properties.Map("compaction"));
  if (!given || given->empty()) return {};
  return CompactionOptions(options.compaction).Check();
}

CqlStatus CheckTimeWindows(const Properties& properties, const TableOptions& options,
                           const settings::StatementSettings& settings) {
  LS_ASSIGN_OR_RETURN(const auto given, properties.Map("compaction"));
  const bool has_strategy = given && !given->empty();
  const auto strategy = options.compaction.find("class");
  if (strategy == options.compaction.end() || strategy->second != kTimeWindow) return {};
  if (!has_strategy && !properties.Has("default_time_to_live")) return {};
  const int64_t ttl = options.default_ttl_seconds;
  if (ttl <= 0) {
    // A warning of this goes to ScyllaDB's log alone.
    if (settings.restrict_twcs_without_default_ttl != settings::RestrictionMode::kRefused)
      return {};
    return CqlError::Config(
        "TimeWindowCompactionStrategy tables without a strict default_time_to_live setting are "
        "forbidden. You may override this restriction by setting restrict_twcs_without_default_ttl "
        "configuration option to false.");
  }
  const int64_t window = CompactionOptions::WindowSeconds(options.compaction);
  const int64_t windows = ttl / window;
  const int64_t most = settings.twcs_max_window_count;
  if (most == 0 || windows <= most) return {};
  return CqlError::Config(
      "The setting of default_time_to_live=" + std::to_string(ttl) + " and compaction window=" +
      std::to_string(window) + "(s) can lead to " + std::to_string(windows) +
      " windows, which is larger than the allowed number of windows specified by the "
      "twcs_max_window_count (" +
      std::to_string(most) +
      ") parameter. Note that default_time_to_live=0 is also highly discouraged.");
}

namespace {

constexpr std::string_view kCompressionPackage = "org.apache.cassandra.io.compress.";
constexpr const char* kCompressor = "sstable_compression";
constexpr const char* kChunkLength = "chunk_length_in_kb";
constexpr const char* kChunkLengthBefore = "chunk_length_kb";
constexpr const char* kChecks = "crc_check_chance";
constexpr const char* kLevel = "compression_level";
constexpr const char* kBothLengths = "chunk_length_in_kb/chunk_length_kb";

bool HasLevels(std::string_view compressor) { return compressor.starts_with("Zstd"); }

// The level as it is kept, of a compressor that has levels.
CqlOr<std::string> CompressionLevel(const PropertyMap& given) {
  constexpr int64_t kDefault = 3;
  constexpr int64_t kMin = -131'072;
  constexpr int64_t kMax = 22;
  const auto text = given.find(kLevel);
  if (text == given.end()) return std::to_string(kDefault);
  const std::optional<int32_t> level = LeadingInt32(text->second);
  if (!level) {
    return CqlError::Syntax("Invalid integer value " + text->second + " for " + kLevel);
  }
  if (*level >= kMin && *level <= kMax) return std::to_string(*level);
  return CqlError::Config("compression_level must be between " + std::to_string(kMin) + " and " +
                          std::to_string(kMax) + ", got " + std::to_string(*level));
}

CqlStatus CheckChunkLength(int64_t kilobytes) {
  constexpr int64_t kMax = 128;
  if (kilobytes <= 0) {
    return CqlError::Config(std::string("Invalid negative or null for ") + kBothLengths);
  }
  if ((kilobytes & (kilobytes - 1)) != 0) {
    return CqlError::Config(std::string(kBothLengths) + " must be a power of 2.");
  }
  if (kilobytes <= kMax) return {};
  return CqlError::Config(std::string(kBothLengths) + " must be 128 or less.");
}

}  // namespace

CqlStatus ApplyCompression(const Properties& properties, TableOptions& options) {
  constexpr std::array<std::string_view, 6> kCompressors = {
      "LZ4Compressor",  "SnappyCompressor",       "DeflateCompressor",
      "ZstdCompressor", "LZ4WithDictsCompressor", "ZstdWithDictsCompressor"};
  LS_ASSIGN_OR_RETURN(const auto given, properties.Map("compression"));
  if (!given) return {};
  if (given->empty()) {
    options.compression.clear();
    return {};
  }
  const auto compressor = given->find(kCompressor);
  if (compressor == given->end()) {
    return CqlError::Config(
        "Missing sub-option 'sstable_compression' for the 'compression' option.");
  }
  const std::string_view name = ClassName(compressor->second, kCompressionPackage);
  PropertyMap kept;
  if (!name.empty() && std::ranges::count(kCompressors, name) == 0) {
    return CqlError::Config("Unsupported compression class '" + compressor->second + "'");
  }
  if (HasLevels(name)) {
    LS_ASSIGN_OR_RETURN(kept[kLevel], CompressionLevel(*given));
  }
  for (const auto& [option, value] : *given) {
    const bool known = option == kCompressor || option == kChunkLength ||
                       option == kChunkLengthBefore || option == kChecks ||
                       (option == kLevel && HasLevels(name));
    if (!known) return CqlError::Config("Unknown compression option '" + option + "'.");
  }
  kept[kCompressor] = std::string(kCompressionPackage) + std::string(name);
  auto length = given->find(kChunkLength);
  if (length == given->end()) length = given->find(kChunkLengthBefore);
  std::optional<int64_t> kilobytes;
  if (length != given->end()) {
    kilobytes = LeadingInt32(length->second);
    if (!kilobytes) {
      return CqlError::Syntax("Invalid integer value " + length->second + " for " + length->first);
    }
    kept[kChunkLength] = std::to_string(*kilobytes);
  }
  std::optional<double> chance;
  if (const auto text = given->find(kChecks); text != given->end()) {
    chance = LeadingDouble(text->second);
    // Without a blank, as ScyllaDB has it.
    if (!chance) {
      return CqlError::Syntax("Invalid double value " + text->second + "for " + kChecks);
    }
    kept[kChecks] = std::to_string(*chance);
  }
  if (kilobytes) LS_RETURN_IF_ERROR(CheckChunkLength(*kilobytes));
  if (chance && !(*chance >= 0.0 && *chance <= 1.0)) {
    return CqlError::Config("crc_check_chance must be between 0.0 and 1.0.");
  }
  options.compression = name.empty() ? PropertyMap{} : std::move(kept);
  return {};
}

}  // namespace liststore::cql::schema_change
