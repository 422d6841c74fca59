#include "bench/embedded/peer.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace liststore {

absl::StatusOr<const BenchPeer*> FindPeer(std::span<const BenchPeer> peers, std::string_view name) {
  std::string names;
  for (const BenchPeer& peer : peers) {
    if (peer.name == name) return &peer;
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(peer.name));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--peer is ", std::string(name), ", must be one of ", names));
}

}  // namespace liststore
