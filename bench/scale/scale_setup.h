// What the simulation of many cores is asked and what it answers; plain data.
//
// A loop is a thread that takes one request after the other: some work of its own, then the lane of the
// request's list, as engine/runtime/lane_ownership.h gives it, then the work in the lane. All loops always
// have a request: what they reach is what the machine sustains.
#ifndef LISTSTORE_BENCH_SCALE_SCALE_SETUP_H_
#define LISTSTORE_BENCH_SCALE_SCALE_SETUP_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "engine/base/histogram.h"

namespace liststore {

// Costs of one kind of request, with everything it touches in the caches of its core.
struct RequestCosts {
  double outside_ns = 0;  // before and after the lane
  double in_lane_ns = 0;  // with the lane, its two locked instructions included
  // What is added where the list lies in memory and nobody fetched it beforehand.
  double missing_ns = 0;
  // Lines of the lane that the request writes, each of which comes from the core that had the lane before,
  // one after the other: its word, its counters, what a write changes in table, arena and wheel.
  double lane_lines = 0;
  // The same of a list in caches, where it was changed elsewhere since this core had it.
  double list_lines = 0;
  uint64_t memory_bytes = 0;   // from memory or to it, for a list that no cache holds
  uint64_t network_bytes = 0;  // both ways
};

struct ScaleCosts {
  RequestCosts read;
  RequestCosts write;
  // Requests that come together. Their lanes are looked into beforehand, their lists fetched outside of
  // lanes, unless the lane was taken just then. 1: none of that.
  uint64_t group = 1;
  double turn_ns = 0;            // of the system, for the requests of one turn together
  uint64_t requests_a_turn = 1;  // with which a loop is done before the next turn
  // Of each request under the one lock that all loops share, that of the journal, taken once for a turn; and
  // the lines that come with it where another core had it.
  double journal_ns = 0;
  double journal_lines = 3;

  double transfer_ns = 100;       // a line that another core has written
  double pause_ns = 24;           // one pause of a thread that waits
  double yield_ns = 340;          // offering the core to nobody
  double switch_ns = 1'000;       // from one thread to another on the same core
  double wake_ns = 9'000;         // for whoever wakes a thread that sleeps; it runs as much later
  double slice_ns = 3'000'000;    // a thread has its core before another that is ready gets it
  double memory_gb_per_s = 200;   // of the machine, shared by all; 0: no limit
  double network_gbit_per_s = 0;  // the same; 0: no limit
};

enum class ScaleMix : uint8_t {
  kUniform,
  kZipf,
  kHot
};
// How long a piece of work takes around its mean.
enum class WorkSpread : uint8_t {
  kHalf,         // uniform, up to half more or less
  kExponential,  // what formulas of queues are made for
};

struct ScaleSetup {
  ScaleCosts costs;
  uint32_t loops = 1;
  uint32_t cores = 0;  // 0: one a loop; else loop i has core i modulo `cores`
  uint32_t lanes_per_loop = 16;
  uint64_t lists = 1'000'000;
  ScaleMix mix = ScaleMix::kUniform;
  double zipf = 0.99;        // exponent of kZipf
  double hot_percent = 100;  // of kHot: requests for the one list; the others are uniform
  double write_percent = 5;
  // Requests that come to the loop of their list's shard, as shard-aware drivers send them; the others come
  // to any. The one list of kHot comes to any loop.
  double aware_percent = 0;
  WorkSpread spread = WorkSpread::kHalf;
  double milliseconds = 20;  // simulated, after a tenth as much that is not counted
  uint64_t seed = 1;

  uint32_t cores_used() const { return cores == 0 || cores > loops ? loops : cores; }
  uint32_t lanes() const { return loops * lanes_per_loop; }
};

struct ScaleResult {
  uint64_t requests = 0;
  double seconds = 0;        // simulated
  uint64_t found_taken = 0;  // requests that did not get their lane at once
  uint64_t as_mail = 0;      // of these, done by somebody else, who had the lane
  uint64_t sleeps = 0;       // waits that outlasted spinning and yielding
  Histogram waits;  // from wanting the lane until the work in it begins, ns; of all requests

  // Where the time of the cores went, in all, ns. The rest of it was waiting.
  double work_ns = 0;      // as one loop alone would have needed it
  double transfer_ns = 0;  // lines from other cores
  double memory_ns = 0;    // waiting for memory that others use
  double network_ns = 0;   // the same of the network
  double journal_ns = 0;   // waiting for the journal's lock
  double switch_ns = 0;    // threads that share a core
  double cores_ns = 0;     // all of it

  double per_second() const { return seconds > 0 ? static_cast<double>(requests) / seconds : 0; }
  double found_taken_share() const { return ShareOf(found_taken); }
  double mail_share() const { return ShareOf(as_mail); }
  double waiting_ns() const;
  // The largest of what is not work, with its part of the cores' time: "lanes 12 %"; "-" below 2 %.
  std::string Limit() const;

 private:
  double ShareOf(uint64_t count) const {
    // Some are found to wait before the end and done after it.
    return requests > 0
               ? static_cast<double>(std::min(count, requests)) / static_cast<double>(requests)
               : 0;
  }
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_SCALE_SCALE_SETUP_H_
