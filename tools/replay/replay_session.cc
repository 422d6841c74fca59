#include "tools/replay/replay_session.h"

#include <chrono>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "tools/replay/embedded_target.h"
#include "tools/replay/wire_target.h"

namespace liststore {
namespace {

uint64_t MonotonicNanos() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplaySession>> ReplaySession::Open(const Settings& settings,
                                                                   uint64_t first_at_nanos,
                                                                   ReplayTimes* times) {
  std::unique_ptr<ReplaySession> session(new ReplaySession(times));
  if (settings.via.empty()) {
    LS_ASSIGN_OR_RETURN(
        session->target_,
        EmbeddedTarget::Open(settings.shards, settings.memory_limit_bytes, first_at_nanos));
  } else {
    LS_ASSIGN_OR_RETURN(session->target_,
                        WireTarget::Open(settings.via, settings.tls, first_at_nanos));
  }
  return session;
}

absl::Status ReplaySession::Execute(const Operation& operation) {
  LS_RETURN_IF_ERROR(target_->MoveClock(operation.at_nanos));

  const uint64_t start_nanos = MonotonicNanos();
  const absl::Status status = Apply(operation);
  const uint64_t nanos = MonotonicNanos() - start_nanos;

  times_.operations[static_cast<size_t>(operation.kind)].Record(nanos);
  times_.engine_nanos += nanos;
  if (!status.ok()) return status;
  if (operation.kind == OperationKind::kGet) DigestItems(operation.line);
  // Each of the first ones, so that a short log is sampled too.
  if (++executed_ < kSampleInterval || executed_ % kSampleInterval == 0) SampleAndReclaim();
  return absl::OkStatus();
}

absl::Status ReplaySession::Apply(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kCreateFeature:
      return target_->CreateFeature(operation);
    case OperationKind::kAdd: {
      LS_ASSIGN_OR_RETURN(const AddResult added, target_->Add(operation));
      totals_.stored += added.stored;
      totals_.skipped_expired += added.skipped_expired;
      return absl::OkStatus();
    }
    case OperationKind::kGet:
      return target_->Get(operation);
    case OperationKind::kRemoveValue: {
      LS_ASSIGN_OR_RETURN(const size_t removed, target_->RemoveValue(operation));
      totals_.removed_live += removed;
      return absl::OkStatus();
    }
    case OperationKind::kRemoveAll: {
      LS_ASSIGN_OR_RETURN(const size_t removed, target_->RemoveAll(operation));
      totals_.removed_live += removed;
      return absl::OkStatus();
    }
  }
  LS_UNREACHABLE("the reader knows no other kind");
}

void ReplaySession::DigestItems(uint64_t line) {
  const size_t items = target_->size();
  for (size_t i = 0; i < items; ++i) {
    if (i > 0) items_digest_.Add("\n");
    items_digest_.Add(target_->item_key(i));
  }
  answer_ = {.line = line, .items = items, .md5 = items_digest_.Finish()};
  reads_digest_.Add(answer_.md5);
  totals_.reads += 1;
  totals_.returned += answer_.items;
}

void ReplaySession::SampleAndReclaim() {
  const ReplayMemory memory = target_->Memory();
  if (memory.rows > memory_.rows) memory_ = memory;
  const uint64_t start_nanos = MonotonicNanos();
  target_->Reclaim(kReclaimBudget);
  times_.reclaim_nanos += MonotonicNanos() - start_nanos;
}

absl::Status ReplaySession::Finish() {
  SampleAndReclaim();
  LS_ASSIGN_OR_RETURN(totals_.live_at_end, target_->CountLive(&busiest_));
  totals_.md5 = reads_digest_.Finish();
  while (target_->Reclaim(kReclaimBudget) > 0) {
  }
  expired_ = target_->expired();
  return absl::OkStatus();
}

ListId ReplaySession::busiest_list() const {
  return {busiest_.entity_type, busiest_.feature, busiest_.version, busiest_.entity_id};
}

}  // namespace liststore
