#include "bench/shapes/wire_shape.h"

#include <utility>

#include "bench/load/closed_load.h"
#include "bench/wire/wire_sources.h"
#include "engine/base/status_macros.h"
#include "liststore/clock.h"
#include "programs/client/list_model.h"

namespace liststore {
namespace {

constexpr size_t kWireValueBytes = 24;

}  // namespace

WireShape::WireShape(uint64_t lists)
    : items_(SystemClock::Instance().NowNanos(), kItems, kWireValueBytes),
      lists_(items_, lists, kItems) {}

absl::StatusOr<std::unique_ptr<WireShape>> WireShape::Open(const ShapeOptions& options,
                                                           uint64_t lists) {
  std::unique_ptr<WireShape> shape(new WireShape(lists));
  const WireCores cores = ChooseWireCores();
  LS_ASSIGN_OR_RETURN(shape->process_, ServerProcess::Start(cores.server, 0, options.program));
  PinToCore(cores.client);
  for (uint32_t i = 0; i < options.connections; ++i) {
    LS_ASSIGN_OR_RETURN(std::unique_ptr<CqlClient> client, CqlClient::Connect(shape->address()));
    shape->clients_.push_back(std::move(client));
  }
  CqlClient& first = *shape->clients_[0];
  for (const std::string& statement : ListModelSchema()) {
    LS_RETURN_IF_ERROR(first.Query(statement).status());
  }
  LS_ASSIGN_OR_RETURN(shape->insert_, first.Prepare(kInsertItemStatement));
  LS_ASSIGN_OR_RETURN(shape->select_, first.Prepare(kSelectItemsStatement));
  LoadSource source(shape->lists_, shape->insert_);
  CqlLoadTarget target(shape->clients_, 4, {&source});
  do {
    ClosedRun run;
    LS_RETURN_IF_ERROR(ClosedLoad(target).Run(0, nullptr, &run));
  } while (source.waits());
  return shape;
}

absl::StatusOr<WireLine> WireShape::Measure(WireSource& source, double seconds) const {
  CqlLoadTarget target(clients_, kInFlight, {&source});
  WireLine line;
  LS_RETURN_IF_ERROR(MeasureWireLine(
      target, seconds, [this] { return process_->CpuNanos(); }, &line));
  return line;
}

}  // namespace liststore
