// A server of our own with lists of one shape, and connections to it.
#ifndef LISTSTORE_BENCH_SHAPES_WIRE_SHAPE_H_
#define LISTSTORE_BENCH_SHAPES_WIRE_SHAPE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/load/server_process.h"
#include "bench/measure/growing_lists.h"
#include "bench/measure/workload.h"
#include "bench/shapes/shapes.h"
#include "bench/wire/cql_load_target.h"
#include "bench/wire/wire_line.h"

namespace liststore {

// One thread. The calling thread is pinned to the client's core.
class WireShape {
 public:
  static constexpr uint64_t kItems = 20;
  static constexpr size_t kInFlight = 16;  // on each connection

  // `lists` of 20 items with values of 24 bytes, loaded by batches.
  static absl::StatusOr<std::unique_ptr<WireShape>> Open(const ShapeOptions& options,
                                                         uint64_t lists);

  GrowingLists& lists() { return lists_; }
  const ServerProcess& process() const { return *process_; }
  const CqlLoadTarget::Clients& clients() const { return clients_; }
  const std::string& select() const { return select_; }
  const std::string& insert() const { return insert_; }
  const std::string& address() const { return process_->address(); }

  // One round of what `source` asks.
  absl::StatusOr<WireLine> Measure(WireSource& source, double seconds) const;

 private:
  explicit WireShape(uint64_t lists);

  const BenchItems items_;
  GrowingLists lists_;
  std::unique_ptr<ServerProcess> process_;
  CqlLoadTarget::Clients clients_;
  std::string select_, insert_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_SHAPES_WIRE_SHAPE_H_
