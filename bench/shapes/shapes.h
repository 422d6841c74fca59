// The shapes: each measures what it says and adds its lines to a report. Answers are checked: a
// wrong one is DataLoss.
#ifndef LISTSTORE_BENCH_SHAPES_SHAPES_H_
#define LISTSTORE_BENCH_SHAPES_SHAPES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "bench/shapes/shape_report.h"

namespace liststore {

struct ShapeOptions {
  uint64_t long_items = 1'000'000;     // of the long list
  uint64_t value_bytes = 60 << 10;     // of the long values
  uint64_t rows = 2'000'000;           // that expire, or are loaded
  uint64_t idle_connections = 10'000;  // each takes a descriptor here and one in the server
  uint32_t connections = 8;            // busy ones
  double seconds = 2;                  // of each measurement
  std::string program;                 // the liststore whose server is asked
};

// One list beside a small one in the same run: newest ten, one more, one removed by its value.
absl::Status MeasureLongList(const ShapeOptions& options, ShapeReport* report);
// The same of a list with long values.
absl::Status MeasureLongValues(const ShapeOptions& options, ShapeReport* report);

// Reads while another thread adds items and items expire, ours and the plain structure in turn.
absl::Status MeasureChurn(const ShapeOptions& options, ShapeReport* report);
// Hits of a cache while another thread adds to other lists, evicts and loads.
absl::Status MeasureCacheHits(const ShapeOptions& options, ShapeReport* report);
// What it costs to give an expired row back, beside a wheel with a link in every row.
absl::Status MeasureExpiryCost(const ShapeOptions& options, ShapeReport* report);

// Lists that are put whole, added, and restored from a file.
absl::Status MeasureLoading(const ShapeOptions& options, ShapeReport* report);

// One list under all connections beside lists at random, over the wire.
absl::Status MeasureHotList(const ShapeOptions& options, ShapeReport* report);
// Memory of connections that do nothing, and what busy ones get beside them.
absl::Status MeasureIdleConnections(const ShapeOptions& options, ShapeReport* report);

// The newest ten by values and relations, as a relational model keeps them, beside one list.
absl::Status MeasureRelationalModel(const ShapeOptions& options, ShapeReport* report);

// What the server's journal costs, on and off in turn.
absl::Status MeasureJournalCost(const ShapeOptions& options, ShapeReport* report);

// Where the time of a call in the process goes, and that of a request over the wire: what a stage
// costs is the difference to the same without it.
absl::Status MeasureStages(const ShapeOptions& options, ShapeReport* report);
absl::Status MeasureWireStages(const ShapeOptions& options, ShapeReport* report);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_SHAPES_SHAPES_H_
