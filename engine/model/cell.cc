#include "engine/model/cell.h"
#include "engine/base/three_way.h"

namespace liststore {
int CompareMarkers(const Liveness& a, const Liveness& b) {
  if (a.timestamp != b.timestamp) return ThreeWay(a.timestamp, b.timestamp);
  if (a.expiring() != b.expiring()) return a.expiring() ? 1 : -1;
  if (a.expiry_seconds != b.expiry_seconds) return ThreeWay(a.expiry_seconds, b.expiry_seconds);
  return ThreeWay(b.ttl_seconds, a.ttl_seconds);
}

int CompareCells(const CellView& a, const CellView& b) {
  if (a.liveness.timestamp != b.liveness.timestamp) {
    return ThreeWay(a.liveness.timestamp, b.liveness.timestamp);
  }
  if (a.live != b.live) return a.live ? -1 : 1;
  if (!a.live) return ThreeWay(a.deletion_seconds, b.deletion_seconds);
  if (const int order = CompareMarkers(a.liveness, b.liveness); order != 0) return order;
  return a.value.compare(b.value);
}

}  // namespace liststore
