// Which core has what was written last: the lines that a request fetches from another core.
#ifndef LISTSTORE_BENCH_SCALE_WRITTEN_LINES_H_
#define LISTSTORE_BENCH_SCALE_WRITTEN_LINES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace liststore {

// The lines of a number of things, all of one thing moving together: a core that changes them has them
// alone, one that looks at them has what they were when it looked. One thread.
class WrittenLines {
 public:
  WrittenLines(size_t things, uint32_t cores)
      : cores_(cores), last_(things, kNobody), versions_(things), seen_(things * cores) {}

  // True: `core` fetches them from another core. A core that is the first to ask has them.
  bool Read(size_t thing, uint32_t core) {
    uint32_t& seen = seen_[thing * cores_ + core];
    const bool moves = seen != versions_[thing];
    seen = versions_[thing];
    if (moves) last_[thing] = kNobody;  // no core has them alone any more
    return moves;
  }
  // The same, and changes them.
  bool Write(size_t thing, uint32_t core) {
    const bool moves = last_[thing] != core && versions_[thing] > 0;
    last_[thing] = core;
    seen_[thing * cores_ + core] = ++versions_[thing];
    return moves;
  }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  const uint32_t cores_;
  std::vector<uint32_t> last_;      // core that has them alone
  std::vector<uint32_t> versions_;  // changes so far
  std::vector<uint32_t> seen_;      // of each core
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_SCALE_WRITTEN_LINES_H_
