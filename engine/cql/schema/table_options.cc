#include "engine/cql/schema/table_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/schema/schema_change_impl.h"
#include "engine/cql/schema/sstable_options.h"
#include "engine/cql/schema/table_extensions.h"
#include "engine/cql/values/json_value.h"
#include "engine/model/time.h"

namespace liststore::cql::schema_change {
namespace {

constexpr std::array<std::string_view, 21> kKnown = {"comment",
                                                     "gc_grace_seconds",
                                                     "caching",
                                                     "default_time_to_live",
                                                     "min_index_interval",
                                                     "max_index_interval",
                                                     "speculative_retry",
                                                     "bloom_filter_fp_chance",
                                                     "memtable_flush_period_in_ms",
                                                     "compaction",
                                                     "compression",
                                                     "crc_check_chance",
                                                     "id",
                                                     "paxos_grace_seconds",
                                                     "synchronous_updates",
                                                     "cdc",
                                                     "tombstone_gc",
                                                     "per_partition_rate_limit",
                                                     "scylla_encryption_options",
                                                     "scylla_tags",
                                                     "in_memory"};
constexpr std::array<std::string_view, 5> kObsolete = {
    "index_interval", "replicate_on_write", "populate_io_cache_on_flush", "read_repair_chance",
    "dclocal_read_repair_chance"};

// Below this a bloom filter cannot be built. Source: ScyllaDB utils/bloom_calculations.cc.
constexpr double kBloomChanceMin = 6.71e-05;
constexpr int32_t kFlushPeriodMin = 60'000;

std::string Shortest(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), number);
  return {text, end};
}

CqlOr<std::optional<int32_t>> AtLeastZero(const Properties& properties, std::string_view name,
                                          std::string_view shown_default) {
  LS_ASSIGN_OR_RETURN(const std::optional<int32_t> value, properties.Int(name));
  if (value && *value < 0) {
    return CqlError::Config(std::string(name) + " cannot be smaller than 0, (default " +
                            std::string(shown_default) + ")");
  }
  return value;
}

CqlStatus ApplyTimes(const Properties& properties, TableOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto ttl, AtLeastZero(properties, "default_time_to_live", "0"));
  if (ttl && *ttl > kTtlSecondsMax) {
    return CqlError::Config("default_time_to_live must be less than or equal to " +
                            std::to_string(kTtlSecondsMax) + " (got " + std::to_string(*ttl) + ")");
  }
  LS_ASSIGN_OR_RETURN(const auto grace, AtLeastZero(properties, "gc_grace_seconds", "864000"));
  options.default_ttl_seconds = ttl.value_or(static_cast<int32_t>(options.default_ttl_seconds));
  options.gc_grace_seconds = grace.value_or(static_cast<int32_t>(options.gc_grace_seconds));
  return {};
}

CqlStatus ApplyNumbers(const Properties& properties, TableOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto min_interval, properties.Int("min_index_interval"));
  LS_ASSIGN_OR_RETURN(const auto max_interval, properties.Int("max_index_interval"));
  options.min_index_interval = min_interval.value_or(options.min_index_interval);
  options.max_index_interval = max_interval.value_or(options.max_index_interval);
  if (options.min_index_interval < 1) {
    return CqlError::Config("min_index_interval must be greater than 0");
  }
  if (options.max_index_interval < options.min_index_interval) {
    return CqlError::Config("max_index_interval must be greater than min_index_interval");
  }
  LS_ASSIGN_OR_RETURN(const auto bloom, properties.Double("bloom_filter_fp_chance"));
  if (bloom && !(*bloom > kBloomChanceMin && *bloom <= 1.0)) {
    return CqlError::Config(
        "bloom_filter_fp_chance must be larger than 6.71e-05 and less than or equal to 1.0 (got " +
        Shortest(*bloom) + ")");
  }
  options.bloom_filter_fp_chance = bloom.value_or(options.bloom_filter_fp_chance);
  LS_ASSIGN_OR_RETURN(const auto period, properties.Int("memtable_flush_period_in_ms"));
  if (period && *period != 0 && *period < kFlushPeriodMin) {
    return CqlError::Config("memtable_flush_period_in_ms must be 0 or greater than 60000");
  }
  options.memtable_flush_period_in_ms = period.value_or(options.memtable_flush_period_in_ms);
  return {};
}

// "99.0PERCENTILE", "10.00ms", "NONE", "ALWAYS": as ScyllaDB shows them (db/speculative_retry.hh).
// "99P" is the first, as in later versions of ScyllaDB.
std::optional<std::string> CanonicalRetry(const std::string& text) {
  const std::string lower = AsciiLower(text);
  if (lower == "none") return "NONE";
  if (lower == "always") return "ALWAYS";
  const auto number_before = [&](std::string_view unit) -> std::optional<double> {
    if (!lower.ends_with(unit)) return std::nullopt;
    double number = 0;
    const char* end = lower.data() + lower.size() - unit.size();
    const auto [stop, error] = std::from_chars(lower.data(), end, number);
    if (error != std::errc() || stop != end || number < 0) return std::nullopt;
    return number;
  };
  char shown[64];
  auto percentile = number_before("percentile");
  if (!percentile) percentile = number_before("p");
  if (percentile && *percentile <= 100) {
    std::snprintf(shown, sizeof(shown), "%.1fPERCENTILE", *percentile);
    return shown;
  }
  if (const auto millis = number_before("ms"); millis && *millis < 1e9) {
    std::snprintf(shown, sizeof(shown), "%.2fms", *millis);
    return shown;
  }
  return std::nullopt;
}

CqlStatus ApplyTexts(const Properties& properties, TableOptions& options) {
  LS_ASSIGN_OR_RETURN(auto comment, properties.Text("comment"));
  if (comment) options.comment = *std::move(comment);
  LS_ASSIGN_OR_RETURN(const auto retry, properties.Text("speculative_retry"));
  if (!retry) return {};
  std::optional<std::string> canonical = CanonicalRetry(*retry);
  if (!canonical) {
    return CqlError::Config("Invalid value " + *retry + " for option 'speculative_retry'");
  }
  options.speculative_retry = *std::move(canonical);
  return {};
}

// As a map, or as the text of a JSON object, which is how Cassandra 2 wrote it. Source: ScyllaDB
// utils/rjson.hh, parse_to_map.
CqlOr<std::optional<PropertyMap>> CachingMap(const Properties& properties, const Dialect& dialect) {
  if (dialect.is_cassandra || !properties.IsText("caching")) {
    LS_ASSIGN_OR_RETURN(auto map, properties.Map("caching"));
    if (map && map->empty()) map.reset();
    return map;
  }
  LS_ASSIGN_OR_RETURN(const auto text, properties.Text("caching"));
  LS_ASSIGN_OR_RETURN(const JsonValue json, ParseJson(*text));
  PropertyMap map;
  if (json.is_null()) return std::optional(std::move(map));
  const auto* object = json.As<JsonObject>();
  if (object == nullptr) {
    return CqlError::Server("Only json objects can be transformed to maps. Encountered: " + *text);
  }
  for (const auto& [name, value] : *object) {
    map.emplace(name, value.is_string() ? *value.As<std::string>() : PrintJson(value));
  }
  return std::optional(std::move(map));
}

// Source: ScyllaDB schema/caching_options.cc.
CqlStatus ApplyCaching(const Properties& properties, const Dialect& dialect,
                       TableOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto caching, CachingMap(properties, dialect));
  if (!caching) return {};
  PropertyMap kept = {{"keys", "ALL"},
                      {"rows_per_partition", dialect.is_cassandra ? "NONE" : "ALL"}};
  for (const auto& [option, value] : *caching) {
    if (option == "enabled") {
      if (value != "true") kept[option] = "false";
    } else if (kept.contains(option)) {
      kept[option] = value;
    } else {
      return CqlError::Config("Invalid caching option: " + option);
    }
  }
  const auto is_all_or_none = [](std::string_view value) {
    return value == "ALL" || value == "NONE";
  };
  const std::string& keys = kept.at("keys");
  if (!is_all_or_none(keys)) return CqlError::Config("Invalid key value: " + keys);
  const std::string& rows = kept.at("rows_per_partition");
  if (!is_all_or_none(rows) && !ParseInteger(rows)) {
    return CqlError::Config("Invalid key value: " + rows);
  }
  options.caching = std::move(kept);
  return {};
}

CqlStatus CheckAbsent(const Properties& properties, TableKind kind) {
  LS_ASSIGN_OR_RETURN(const auto synchronous, properties.Boolean("synchronous_updates"));
  // Of views: they are never anything else.
  if (synchronous.value_or(false) && kind == TableKind::kTable) {
    return CqlError::Invalid(
        "The synchronous_updates option is only applicable to materialized views, not to base "
        "tables");
  }
  for (const auto& [name, feature] :
       {std::pair(std::string_view("per_partition_rate_limit"), CqlFeature::kRateLimits),
        std::pair(std::string_view("scylla_encryption_options"), CqlFeature::kEncryption)}) {
    if (properties.Has(name)) return CqlError::Unsupported(feature, name);
  }
  return {};
}

// ---- Where Cassandra differs. Files are of org.apache.cassandra.schema.

constexpr std::string_view kCassandraCompaction = "org.apache.cassandra.db.compaction.";
constexpr std::string_view kCassandraCompression = "org.apache.cassandra.io.compress.";

std::string_view WithoutPackage(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// CompressionParams.java, DEFAULT_CHUNK_LENGTH.
std::string_view ChunkLength(const Dialect& dialect) { return dialect.major < 4 ? "64" : "16"; }

// SpeculativeRetryParam.java of 3.11; service/reads/PercentileSpeculativeRetryPolicy.java.
std::string RetryOfPercentile(std::string_view percentile, const Dialect& dialect) {
  return std::string(percentile) + (dialect.major < 4 ? "PERCENTILE" : "p");
}

// CompactionParams.java, fromMap, create.
CqlStatus ApplyCassandraCompaction(const Properties& properties, TableOptions& options) {
  constexpr std::array<std::string_view, 5> kStrategies = {
      "SizeTieredCompactionStrategy", "LeveledCompactionStrategy", "TimeWindowCompactionStrategy",
      "DateTieredCompactionStrategy", "UnifiedCompactionStrategy"};
  LS_ASSIGN_OR_RETURN(auto compaction, properties.Map("compaction"));
  if (!compaction) return {};
  if (!compaction->contains("class")) {
    return CqlError::Config("Missing sub-option 'class' for the 'compaction' option");
  }
  std::string& strategy = compaction->at("class");
  if (strategy.find('.') == std::string::npos)
    strategy = std::string(kCassandraCompaction) + strategy;
  if (std::ranges::count(kStrategies, WithoutPackage(strategy)) == 0) {
    return CqlError::Config("Unable to find compaction strategy class '" + strategy + "'");
  }
  if (WithoutPackage(strategy) != "UnifiedCompactionStrategy") {
    compaction->try_emplace("min_threshold", "4");
    compaction->try_emplace("max_threshold", "32");
  }
  options.compaction = *std::move(compaction);
  return {};
}

// CompressionParams.java, fromMap, asMap; `sstable_compression` and `chunk_length_kb` are the names
// of before 3.0.
CqlStatus ApplyCassandraCompression(const Properties& properties, const Dialect& dialect,
                                    TableOptions& options) {
  constexpr std::array<std::string_view, 5> kCompressors = {
      "LZ4Compressor", "SnappyCompressor", "DeflateCompressor", "ZstdCompressor", "NoopCompressor"};
  LS_ASSIGN_OR_RETURN(auto compression, properties.Map("compression"));
  if (!compression) return {};
  for (const auto& [before, now] : {std::pair("sstable_compression", "class"),
                                    std::pair("chunk_length_kb", "chunk_length_in_kb")}) {
    if (!compression->contains(before)) continue;
    compression->try_emplace(now, compression->at(before));
    compression->erase(before);
  }
  const auto enabled = compression->find("enabled");
  const bool is_off = compression->empty() ||
                      (enabled != compression->end() && AsciiLower(enabled->second) == "false") ||
                      (compression->contains("class") && compression->at("class").empty());
  if (is_off) {
    options.compression = {{"enabled", "false"}};
    return {};
  }
  compression->erase("enabled");
  if (!compression->contains("class")) {
    return CqlError::Config("Missing sub-option 'class' for the 'compression' option.");
  }
  std::string& compressor = compression->at("class");
  if (compressor.find('.') == std::string::npos) {
    compressor = std::string(kCassandraCompression) + compressor;
  }
  if (std::ranges::count(kCompressors, WithoutPackage(compressor)) == 0) {
    return CqlError::Config("Could not create Compression for type " + compressor);
  }
  const auto length = compression->try_emplace("chunk_length_in_kb", ChunkLength(dialect)).first;
  const std::optional<int64_t> number = ParseInteger(length->second);
  if (!number) return CqlError::Config("Invalid value for chunk_length_in_kb");
  if (*number <= 0) return CqlError::Config("Invalid negative or null chunk_length_in_kb");
  if ((*number & (*number - 1)) != 0) {
    return CqlError::Config("chunk_length_in_kb must be a power of 2");
  }
  options.compression = *std::move(compression);
  return {};
}

CqlStatus ApplyCassandraRetry(const Properties& properties, const Dialect& dialect,
                              TableOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto retry, properties.Text("speculative_retry"));
  if (!retry) return {};
  const std::optional<std::string> canonical = CanonicalRetry(*retry);
  const std::string lower = AsciiLower(*retry);
  if (lower == "never" || lower == "none") {
    options.speculative_retry = dialect.major < 4 ? "NONE" : "NEVER";
  } else if (canonical && canonical->ends_with("PERCENTILE")) {
    options.speculative_retry =
        RetryOfPercentile(Shortest(std::strtod(canonical->c_str(), nullptr)), dialect);
  } else if (canonical && canonical->ends_with("ms")) {
    const std::string millis = Shortest(std::strtod(canonical->c_str(), nullptr));
    options.speculative_retry =
        millis + (dialect.major < 4 && millis.find('.') == std::string::npos ? ".0ms" : "ms");
  } else if (canonical) {
    options.speculative_retry = *canonical;
  } else {
    return CqlError::Config("Invalid value " + *retry + " for option 'speculative_retry'");
  }
  return {};
}

// cql3/statements/schema/TableAttributes.java; what TableOptions has no place for is dropped.
CqlStatus ApplyAsCassandra(const Properties& properties, const Dialect& dialect,
                           TableOptions& options) {
  constexpr std::array<std::string_view, 23> kNames = {"comment",
                                                       "gc_grace_seconds",
                                                       "caching",
                                                       "default_time_to_live",
                                                       "min_index_interval",
                                                       "max_index_interval",
                                                       "speculative_retry",
                                                       "bloom_filter_fp_chance",
                                                       "memtable_flush_period_in_ms",
                                                       "compaction",
                                                       "compression",
                                                       "crc_check_chance",
                                                       "id",
                                                       "additional_write_policy",
                                                       "read_repair",
                                                       "cdc",
                                                       "memtable",
                                                       "extensions",
                                                       "allow_auto_snapshot",
                                                       "incremental_backups",
                                                       "auto_repair",
                                                       "read_repair_chance",
                                                       "dclocal_read_repair_chance"};
  LS_RETURN_IF_ERROR(properties.Check(kNames));
  LS_ASSIGN_OR_RETURN([[maybe_unused]] const auto id, TableIdOption(properties));
  LS_ASSIGN_OR_RETURN(const auto cdc, properties.Boolean("cdc"));
  if (cdc.value_or(false)) return CqlError::Unsupported(CqlFeature::kCdc, "cdc");
  LS_RETURN_IF_ERROR(ApplyCassandraCompaction(properties, options));
  LS_RETURN_IF_ERROR(ApplyCassandraCompression(properties, dialect, options));
  LS_RETURN_IF_ERROR(ApplyTimes(properties, options));
  LS_RETURN_IF_ERROR(ApplyNumbers(properties, options));
  LS_ASSIGN_OR_RETURN(const auto crc, properties.Double("crc_check_chance"));
  if (crc && !(*crc >= 0.0 && *crc <= 1.0)) {
    return CqlError::Config("crc_check_chance must be between 0.0 and 1.0");
  }
  options.crc_check_chance = crc.value_or(options.crc_check_chance);
  LS_ASSIGN_OR_RETURN(auto comment, properties.Text("comment"));
  if (comment) options.comment = *std::move(comment);
  LS_RETURN_IF_ERROR(ApplyCassandraRetry(properties, dialect, options));
  return ApplyCaching(properties, dialect, options);
}

}  // namespace

TableOptions DefaultTableOptions(const Dialect& dialect) {
  TableOptions options;
  if (!dialect.is_cassandra) return options;
  options.caching["rows_per_partition"] = "NONE";
  options.compaction = {
      {"class", std::string(kCassandraCompaction) + "SizeTieredCompactionStrategy"},
      {"max_threshold", "32"},
      {"min_threshold", "4"}};
  options.compression = {{"chunk_length_in_kb", std::string(ChunkLength(dialect))},
                         {"class", std::string(kCassandraCompression) + "LZ4Compressor"}};
  options.speculative_retry = RetryOfPercentile("99", dialect);
  if (dialect.major < 4) options.dclocal_read_repair_chance = 0.1;
  return options;
}

CqlStatus ApplyTableOptions(const Properties& properties, const KeyspaceDefinition& keyspace,
                            TableOptions& options, TableKind kind, const Dialect& dialect) {
  if (dialect.is_cassandra) return ApplyAsCassandra(properties, dialect, options);
  LS_RETURN_IF_ERROR(properties.Check(kKnown, kObsolete));
  LS_ASSIGN_OR_RETURN([[maybe_unused]] const auto id, TableIdOption(properties));
  LS_RETURN_IF_ERROR(ApplyCompaction(properties, options));
  LS_RETURN_IF_ERROR(ApplyCompression(properties, options));
  LS_RETURN_IF_ERROR(ApplyExtensions(properties, keyspace, options));
  LS_RETURN_IF_ERROR(ApplyTimes(properties, options));
  LS_RETURN_IF_ERROR(ApplyNumbers(properties, options));
  LS_RETURN_IF_ERROR(ApplyTexts(properties, options));
  LS_RETURN_IF_ERROR(ApplyCaching(properties, dialect, options));
  LS_RETURN_IF_ERROR(CheckAbsent(properties, kind));
  return CheckCompaction(properties, options);
}

CqlOr<std::optional<Uuid>> TableIdOption(const Properties& properties) {
  LS_ASSIGN_OR_RETURN(const std::optional<std::string> text, properties.Text("id"));
  if (!text) return std::optional<Uuid>();
  constexpr size_t kHyphens[] = {8, 13, 18, 23};
  Uuid id;
  size_t digits = 0;
  for (size_t i = 0; i < text->size() && text->size() == 36; ++i) {
    const char c = (*text)[i];
    if (std::ranges::count(kHyphens, i) != 0) {
      if (c != '-') break;
      continue;
    }
    unsigned nibble = 0;
    if (std::from_chars(&c, &c + 1, nibble, 16).ec != std::errc()) break;
    char& byte = id.bytes[digits / 2];
    byte = static_cast<char>(digits % 2 == 0 ? nibble << 4 : static_cast<uint8_t>(byte) | nibble);
    ++digits;
  }
  if (digits != 32) return CqlError::Config("Invalid table id");
  return std::optional(id);
}

}  // namespace liststore::cql::schema_change
