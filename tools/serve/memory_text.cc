#include "tools/serve/memory_text.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"

namespace liststore {
namespace {

// Below 2^57 bytes exactly, above to a few per cent.
uint64_t PerCent(uint64_t bytes, uint64_t of) { return of < 100 ? 0 : bytes / (of / 100); }

std::string Figures(const CqlMemoryNotice& notice) {
  return absl::StrCat("rows hold ", notice.held_bytes, " of ", notice.limit_bytes, " bytes (",
                      PerCent(notice.held_bytes, notice.limit_bytes), " %)");
}

std::string WhatHelps(const CqlMemoryNotice& notice) {
  const bool is_divided = notice.process_limit_bytes != 0;
  std::string text =
      absl::StrCat("more room: UPDATE liststore.memory SET limit_bytes = BYTES WHERE kind = '",
                   is_divided ? "process" : "rows", "' AND name = 'all'");
  if (is_divided) absl::StrAppend(&text, ", now ", notice.process_limit_bytes);
  absl::StrAppend(&text,
                  ", and --memory-limit for the next start; rows with a TTL go by themselves");
  if (!notice.evicts) absl::StrAppend(&text, "; with --memory-policy evict the server is a cache");
  return text;
}

}  // namespace

std::string MemoryText(const CqlMemoryNotice& notice) {
  switch (notice.kind) {
    case CqlMemoryNotice::Kind::kNearlyFull:
      return absl::StrCat("memory is nearly full: ", Figures(notice), "; when it is full, ",
                          notice.evicts ? "partitions are evicted; " : "writes are refused; ",
                          WhatHelps(notice));
    case CqlMemoryNotice::Kind::kFull:
      return absl::StrCat(
          "memory is full: ", Figures(notice), "; ",
          notice.evicts ? absl::StrCat(notice.evicted_partitions, " partitions were evicted and ")
                        : "",
          notice.refused_writes, " writes were refused; ", WhatHelps(notice));
    case CqlMemoryNotice::Kind::kLimitChanged: {
      std::string text = "the memory limit was changed: ";
      if (notice.process_limit_bytes != 0) {
        absl::StrAppend(&text, notice.process_limit_bytes, " bytes for the process; ");
      }
      absl::StrAppend(&text, Figures(notice));
      if (!notice.fits) {
        absl::StrAppend(&text, "; writes are refused until deletions and expiries have made room");
      }
      return text;
    }
  }
  LS_UNREACHABLE("every kind has its words");
}

}  // namespace liststore
