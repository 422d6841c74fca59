// What a peer's client needs beside its operations on one list.
#ifndef LISTSTORE_BENCH_EMBEDDED_PEER_CLIENT_H_
#define LISTSTORE_BENCH_EMBEDDED_PEER_CLIENT_H_

#include <cstddef>
#include <cstdint>

#include "bench/embedded/bench_client.h"
#include "bench/measure/workload.h"

namespace liststore {

// `Client` derives from it and has Get(batch, i), Add(batch, i) and Remove(batch, i), for one
// request each; all return how many items; and NewestValue(), that of the list Get read last. It
// may have a MultiGet(batch, i) of its own, for kBenchGroup requests from `i` on. None of the calls
// is virtual.
template <typename Client>
class PeerClient : public BenchClient {
 public:
  uint64_t Run(const BenchBatch& batch, size_t begin, size_t end) override {
    auto& client = static_cast<Client&>(*this);
    uint64_t items = 0;
    switch (batch.kind()) {
      case BenchKind::kGet10:
      case BenchKind::kGet50:
        for (size_t i = begin; i < end; ++i) {
          items += client.Get(batch, OnceAnswered(client.NewestValue(), i));
        }
        break;
      case BenchKind::kMultiGet16:
        for (size_t i = begin; i < end; i += kBenchGroup) items += client.MultiGet(batch, i);
        break;
      case BenchKind::kAdd1:
      case BenchKind::kAdd10:
        for (size_t i = begin; i < end; ++i) items += client.Add(batch, i);
        break;
      case BenchKind::kMixed:
        for (size_t i = begin; i < end; ++i) {
          items += IsAddition(BenchKind::kMixed, i)
                       ? client.Add(batch, i)
                       : client.Get(batch, OnceAnswered(client.NewestValue(), i));
        }
        break;
      case BenchKind::kRemove:
        for (size_t i = begin; i < end; ++i) items += client.Remove(batch, i);
        break;
    }
    return items;
  }

  // One list after the other, for those that know nothing better.
  uint64_t MultiGet(const BenchBatch& batch, size_t i) {
    uint64_t items = 0;
    for (size_t k = 0; k < kBenchGroup; ++k) items += static_cast<Client&>(*this).Get(batch, i + k);
    return items;
  }
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_EMBEDDED_PEER_CLIENT_H_
