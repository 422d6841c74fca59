// The options compaction, compression and tombstone_gc: what they are refused with, and what is
// kept of them.
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/cql/schema_changes.h"

namespace liststore::testing {
namespace sstable_options_test {

class SstableOptionsTest : public SchemaChanges {
 protected:
  SstableOptionsTest() { Must("CREATE TABLE altered (p int PRIMARY KEY)"); }

  // A row of a table: options of a map, and what they are refused with; empty: taken.
  struct Row {
    std::string options;
    std::string error;
    CqlErrorCode code = kConfig;
  };

  // With CREATE TABLE and with ALTER TABLE.
  void Check(const std::string& option, const Row& row, const std::string& more = "") {
    const std::string with = " WITH " + option + " = {" + row.options + "}" + more;
    for (const std::string& text :
         {"CREATE TABLE made (p int PRIMARY KEY)" + with, "ALTER TABLE altered" + with}) {
      if (!row.error.empty()) {
        ExpectRefused({text, row.code, row.error});
        continue;
      }
      const auto before = schema_.keyspaces;
      Must(text);
      schema_.keyspaces = before;
    }
  }

  PropertyMap Compression(const std::string& options) {
    Must("ALTER TABLE altered WITH compression = {" + options + "}");
    return Table("altered").options.compression;
  }
};

// Source: ScyllaDB compaction/compaction_strategy.cc, validate_options.
TEST_F(SstableOptionsTest, WhatAllCompactionStrategiesHave) {
  for (const char* strategy : {"SizeTieredCompactionStrategy", "LeveledCompactionStrategy",
                               "TimeWindowCompactionStrategy", "NullCompactionStrategy",
                               "org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy"}) {
    for (const Row& row : std::initializer_list<Row>{
             {"'tombstone_threshold': -0.4",
              "tombstone_threshold value (-0.4) must be between 0.0 and 1.0"},
             {"'tombstone_threshold': 1.5",
              "tombstone_threshold value (1.5) must be between 0.0 and 1.0"},
             {"'tombstone_threshold': 'x'", "Invalid double value x for 'tombstone_threshold'",
              kSyntax},
             {"'tombstone_threshold': 0", ""},
             {"'tombstone_compaction_interval': -7",
              "tombstone_compaction_interval value (-7000ms) must be positive"},
             {"'tombstone_compaction_interval': 0",
              "tombstone_compaction_interval value (0ms) must be positive"},
             {"'tombstone_compaction_interval': 'y'",
              "Invalid long value y for 'tombstone_compaction_interval'", kSyntax},
             {"'unchecked_tombstone_compaction': 'x'",
              "unchecked_tombstone_compaction value (x) must be \"true\" or \"false\""},
             {"'unchecked_tombstone_compaction': true, 'enabled': false", ""},
             {"'enabled': 'x'", "enabled value (x) must be \"true\" or \"false\""},
             {"'b': 'x\"y', 'abc': -54.54",
              "Invalid compaction strategy options {\"abc\": \"-54.54\", \"b\": \"x\\\"y\"} for "
              "chosen strategy type"},
         }) {
      Row of_strategy = row;
      of_strategy.options = "'class': '" + std::string(strategy) + "', " + row.options;
      Check("compaction", of_strategy);
    }
  }
}

// Source: ScyllaDB compaction/size_tiered_compaction_strategy.cc.
TEST_F(SstableOptionsTest, WhatSizeTieredCompactionHasAndTheOthersTake) {
  for (const char* strategy : {"SizeTieredCompactionStrategy", "LeveledCompactionStrategy",
                               "TimeWindowCompactionStrategy"}) {
    for (const Row& row : std::initializer_list<Row>{
             {"'min_sstable_size': -1", "min_sstable_size value (-1) must be non negative"},
             {"'min_sstable_size': 0", ""},
             {"'bucket_low': 0", "bucket_low value (0) must be between 0.0 and 1.0"},
             {"'bucket_low': 1.0", "bucket_low value (1) must be between 0.0 and 1.0"},
             {"'bucket_high': 0.7", "bucket_high value (0.7) must be greater than 1.0"},
             {"'bucket_high': 1", "bucket_high value (1) must be greater than 1.0"},
             {"'bucket_low': 0.1, 'bucket_high': 1.1", ""},
             {"'cold_reads_to_omit': 3.5",
              "cold_reads_to_omit value (3.5) must be between 0.0 and 1.0"},
             {"'min_threshold': 1", "min_threshold value (1) must be bigger or equal to 2"},
             {"'max_threshold': 1", "max_threshold value (1) must be bigger or equal to 2"},
             {"'max_threshold': 'x'", "Invalid long value x for 'max_threshold'", kSyntax},
             {"'min_threshold': 2, 'max_threshold': 2", ""},
         }) {
      Row of_strategy = row;
      of_strategy.options = "'class': '" + std::string(strategy) + "', " + row.options;
      Check("compaction", of_strategy);
    }
  }
}

// Sources: ScyllaDB compaction/compaction_strategy.cc, leveled_compaction_strategy;
// time_window_compaction_strategy.cc.
TEST_F(SstableOptionsTest, WhatOneStrategyHas) {
  const std::string size_tiered = "'class': 'SizeTieredCompactionStrategy', ";
  const std::string leveled = "'class': 'LeveledCompactionStrategy', ";
  const std::string window = "'class': 'TimeWindowCompactionStrategy', ";
  for (const Row& row : std::initializer_list<Row>{
           {leveled + "'sstable_size_in_mb': -5", "sstable_size_in_mb value (-5) must be positive"},
           {leveled + "'sstable_size_in_mb': 5", ""},
           {size_tiered + "'sstable_size_in_mb': 5",
            "Invalid compaction strategy options {\"sstable_size_in_mb\": \"5\"} for chosen "
            "strategy type"},
           {window + "'compaction_window_unit': 'SECONDS'",
            "Invalid window unit SECONDS for compaction_window_unit"},
           {window + "'compaction_window_size': -8",
            "compaction_window_size value (-8) must be greater than 1"},
           {window + "'compaction_window_size': 'x'",
            "Invalid long value x for 'compaction_window_size'", kSyntax},
           {window + "'expired_sstable_check_frequency_seconds': 'x'",
            "Invalid long value x for expired_sstable_check_frequency_seconds", kSyntax},
           {window + "'timestamp_resolution': 'SECONDS'",
            "Invalid timestamp resolution SECONDS for timestamp_resolution"},
           {window + "'enable_optimized_twcs_queries': 'no'",
            "enable_optimized_twcs_queries value (no) must be \"true\" or \"false\""},
           {window + "'compaction_window_unit': 'MINUTES', 'compaction_window_size': 10, "
                     "'expired_sstable_check_frequency_seconds': 7, 'timestamp_resolution': "
                     "'MILLISECONDS', 'enable_optimized_twcs_queries': false, "
                     "'unsafe_aggressive_sstable_expiration': true",
            ""},
           {size_tiered + "'compaction_window_size': 1",
            "Invalid compaction strategy options {\"compaction_window_size\": \"1\"} for chosen "
            "strategy type"},
           {"'class': 'NullCompactionStrategy', 'min_threshold': 4",
            "Invalid compaction strategy options {\"min_threshold\": \"4\"} for chosen strategy "
            "type"},
           {"'class': 'my.SizeTieredCompactionStrategy'",
            "Unable to find compaction strategy class 'my.SizeTieredCompactionStrategy'"},
       }) {
    Check("compaction", row);
  }
}

// Source: ScyllaDB cql3/statements/create_table_statement.cc, check_restricted_table_properties.
TEST_F(SstableOptionsTest, ADefaultTtlMakesFiftyWindowsAtMost) {
  const std::string window =
      "'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'MINUTES', "
      "'compaction_window_size': 1";
  const std::string fifty_one =
      "The setting of default_time_to_live=3060 and compaction window=60(s) can lead to 51 "
      "windows, which is larger than the allowed number of windows specified by the "
      "twcs_max_window_count (50) parameter. Note that default_time_to_live=0 is also highly "
      "discouraged.";
  Check("compaction", {window, fifty_one}, " AND default_time_to_live = 3060");
  Check("compaction", {window, ""}, " AND default_time_to_live = 3059");
  Check("compaction", {window, ""});
  Must("ALTER TABLE altered WITH compaction = {" + window + "}");
  ExpectRefused({"ALTER TABLE altered WITH default_time_to_live = 3060", kConfig, fifty_one});
  Must("ALTER TABLE altered WITH default_time_to_live = 3000");
  Must("ALTER TABLE altered WITH comment = 'other'");
}

// Sources: ScyllaDB compress.cc, compression_parameters; zstd.cc.
TEST_F(SstableOptionsTest, Compression) {
  const std::string lz4 = "'sstable_compression': 'LZ4Compressor', ";
  const std::string zstd = "'sstable_compression': 'ZstdCompressor', ";
  for (const Row& row : std::initializer_list<Row>{
           {"'chunk_length_in_kb': 4",
            "Missing sub-option 'sstable_compression' for the 'compression' option."},
           {lz4 + "'chunk_length_in_kb': 'dog'", "Invalid integer value dog for chunk_length_in_kb",
            kSyntax},
           {lz4 + "'chunk_length_in_kb': null", "Invalid integer value null for chunk_length_in_kb",
            kSyntax},
           {lz4 + "'chunk_length_kb': 'dog'", "Invalid integer value dog for chunk_length_kb",
            kSyntax},
           {lz4 + "'chunk_length_in_kb': 0",
            "Invalid negative or null for chunk_length_in_kb/chunk_length_kb"},
           {lz4 + "'chunk_length_in_kb': -4",
            "Invalid negative or null for chunk_length_in_kb/chunk_length_kb"},
           {lz4 + "'chunk_length_in_kb': 3",
            "chunk_length_in_kb/chunk_length_kb must be a power of 2."},
           {lz4 + "'chunk_length_in_kb': 256",
            "chunk_length_in_kb/chunk_length_kb must be 128 or less."},
           {lz4 + "'chunk_length_in_kb': 128", ""},
           {lz4 + "'crc_check_chance': 1.1", "crc_check_chance must be between 0.0 and 1.0."},
           {lz4 + "'crc_check_chance': 'x'", "Invalid double value xfor crc_check_chance", kSyntax},
           {lz4 + "'foo': 1", "Unknown compression option 'foo'."},
           {lz4 + "'compression_level': 1", "Unknown compression option 'compression_level'."},
           {zstd + "'compression_level': 1", ""},
           {zstd + "'compression_level': 'x'", "Invalid integer value x for compression_level",
            kSyntax},
           {zstd + "'compression_level': 23",
            "compression_level must be between -131072 and 22, got 23"},
       }) {
    Check("compression", row);
  }
  const std::string package = "org.apache.cassandra.io.compress.";
  EXPECT_EQ(Compression(lz4 + "'chunk_length_kb': 16, 'crc_check_chance': 0.5"),
            (PropertyMap{{"sstable_compression", package + "LZ4Compressor"},
                         {"chunk_length_in_kb", "16"},
                         {"crc_check_chance", "0.500000"}}));
  EXPECT_EQ(Compression(zstd + "'chunk_length_in_kb': 4"),
            (PropertyMap{{"sstable_compression", package + "ZstdCompressor"},
                         {"chunk_length_in_kb", "4"},
                         {"compression_level", "3"}}));
  EXPECT_EQ(Compression("'sstable_compression': ''"), PropertyMap{});
}

// Sources: ScyllaDB tombstone_gc_options.cc; tombstone_gc.cc, validate_tombstone_gc_options.
TEST_F(SstableOptionsTest, TombstoneGc) {
  for (const Row& row : std::initializer_list<Row>{
           {"'mode': 'timeout'", ""},
           {"'mode': 'immediate', 'propagation_delay_in_seconds': 7", ""},
           {"'mode': 'x'", "Invalid value for tombstone_gc option mode: x"},
           {"'propagation_delay_in_seconds': 'x'",
            "Invalid value for tombstone_gc option propagation_delay_in_seconds: x"},
           {"'propagation_delay_in_seconds': -1",
            "Invalid value for tombstone_gc option propagation_delay_in_seconds: -1"},
           {"'x': 'y'", "Invalid tombstone_gc option: x"},
           {"'mode': 'repair'",
            "tombstone_gc option with mode = repair not supported for table with RF one or local "
            "replication strategy"},
       }) {
    Check("tombstone_gc", row);
  }
  Must("ALTER KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}");
  Check("tombstone_gc", {"'mode': 'repair'", ""});
}

TEST_F(SstableOptionsTest, ViewsAreCheckedAlike) {
  Must("CREATE TABLE t (p int PRIMARY KEY, v int)");
  ExpectRefused(
      {"CREATE MATERIALIZED VIEW v AS SELECT p FROM t WHERE p IS NOT NULL PRIMARY KEY (p) WITH "
       "compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 0}",
       kConfig, "sstable_size_in_mb value (0) must be positive"});
}

}  // namespace sstable_options_test
}  // namespace liststore::testing
