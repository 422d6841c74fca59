#include "engine/serve/server_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/machine_limits.h"
#include "engine/base/strings.h"
#include "engine/execute/client_state.h"
#include "engine/shard/limit_around.h"

namespace liststore {
namespace {

constexpr std::string_view kProcess = "process";
constexpr std::string_view kRows = "rows";
constexpr size_t kConnectionsShown = 100;
constexpr size_t kReclaimedAtOnce = 1'000;

}  // namespace

ServerMemory::ServerMemory(const CqlServerOptions& options, const Parts& parts,
                           uint64_t log_limit_bytes)
    : parts_(parts),
      log_limit_bytes_(log_limit_bytes),
      divide_(options.divide_memory),
      tell_(options.on_memory_notice),
      process_limit_bytes_(options.divide_memory ? options.process_memory_bytes : 0) {
  const MutexLock lock(mutex_);
  rows_share_bytes_ = limit_set_ = parts_.engine.memory_limit_bytes();
  const uint64_t shared = rows_share_bytes_ + options.client_memory_bytes;
  program_limit_bytes_ =
      options.process_memory_bytes - std::min(options.process_memory_bytes, shared);
}

std::vector<instruments::MemoryUse> ServerMemory::Uses() const {
  const shard::Engine& engine = parts_.engine;
  const network::ClientBudget& connections = parts_.connections;
  std::vector<instruments::MemoryUse> uses = {
      {"rows", "all", engine.held_bytes(), engine.memory_limit_bytes()},
      {"connections", "all", connections.held_bytes(), connections.limit_bytes()},
      {"statements", "all", parts_.statements.statement_bytes(),
       parts_.statements.statement_bytes_max()},
      {"journal", "all", parts_.journal.bytes(), parts_.journal.bytes_max()},
      {"sketches", "all", parts_.hot_partitions.bytes(), std::nullopt}};
  if (parts_.log_bytes) uses.push_back({"commit_log", "all", parts_.log_bytes(), log_limit_bytes_});
  if (const uint64_t limit = process_limit_bytes_.load(std::memory_order_relaxed)) {
    if (const uint64_t program = program_bytes_.load(std::memory_order_relaxed)) {
      uses.push_back(
          {"program", "all", program, program_limit_bytes_.load(std::memory_order_relaxed)});
    }
    uint64_t all = 0;
    for (const instruments::MemoryUse& use : uses) all += use.bytes;
    uses.push_back({std::string(kProcess), "all", all, limit});
  }
  for (const network::ClientHolding& holding : connections.Largest(kConnectionsShown)) {
    execute::ClientState client;
    client.peer_address = holding.address;
    client.peer_port = holding.port;
    uses.push_back({"connection", client.PeerText(), holding.bytes, std::nullopt});
  }
  return uses;
}

absl::StatusOr<CqlMemoryShares> ServerMemory::SharesOf(std::string_view kind,
                                                       uint64_t bytes) const {
  const bool is_divided = process_limit_bytes_.load(std::memory_order_relaxed) != 0;
  if (kind != (is_divided ? kProcess : kRows)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the limit of kind = '", ToAbsl(is_divided ? kProcess : kRows),
                     "' alone can be changed", is_divided ? "; the others follow from it" : ""));
  }
  if (is_divided) return divide_(bytes);
  if (bytes < kMemoryLimitBytesMin) {
    return absl::InvalidArgumentError(
        absl::StrCat("limit_bytes ", bytes, " is less than ", kMemoryLimitBytesMin));
  }
  return CqlMemoryShares{.rows_bytes = bytes};
}

std::optional<std::string> ServerMemory::ChangeLimit(std::string_view kind, uint64_t bytes,
                                                     std::vector<std::string>& warnings) {
  const MutexLock lock(mutex_);
  const absl::StatusOr<CqlMemoryShares> shares = SharesOf(kind, bytes);
  if (!shares.ok()) return std::string(ToStd(shares.status().message()));
  if (kind == kProcess) {
    // The logs keep what they have.
    ClientShares clients(shares->client_bytes, 0);
    clients.connections -= std::min(clients.connections / 2, log_limit_bytes_);
    parts_.statements.set_statement_bytes_max(clients.statements);
    parts_.journal.set_bytes_max(clients.journal);
    parts_.connections.set_limit(clients.connections);
    process_limit_bytes_.store(bytes, std::memory_order_relaxed);
    const uint64_t shared = shares->rows_bytes + shares->client_bytes;
    program_limit_bytes_.store(bytes - std::min(bytes, shared), std::memory_order_relaxed);
  }
  rows_share_bytes_ = limit_set_ = shares->rows_bytes;
  shard::Engine& engine = parts_.engine;
  const uint64_t era = engine.era();  // before the clock
  if (!engine.SetMemoryLimit(shares->rows_bytes, parts_.clock.NowNanos(), nullptr, era)) {
    warnings.push_back(
        absl::StrCat("the memory limit for rows is ", shares->rows_bytes, " bytes now, and ",
                     engine.held_bytes(),
                     " are held: writes are refused until deletions and expiries have made room"));
  }
  watch_.LimitHasChanged();
  if (tell_) tell_(Notice(CqlMemoryNotice::Kind::kLimitChanged));
  return std::nullopt;
}

CqlMemoryNotice ServerMemory::Notice(CqlMemoryNotice::Kind kind) const {
  const shard::Engine& engine = parts_.engine;
  return {.kind = kind,
          .held_bytes = engine.held_bytes(),
          .limit_bytes = engine.memory_limit_bytes(),
          .process_limit_bytes = process_limit_bytes_.load(std::memory_order_relaxed),
          .evicts = engine.evicts(),
          .fits = engine.is_within_limit(),
          .refused_writes = engine.refused_writes(),
          .evicted_partitions = engine.evictions()};
}

uint64_t ServerMemory::CountedBytes() const {
  const uint64_t log_bytes = parts_.log_bytes ? parts_.log_bytes() : 0;
  return parts_.engine.page_bytes() + parts_.connections.held_bytes() +
         parts_.statements.statement_bytes() + parts_.journal.bytes() +
         parts_.hot_partitions.bytes() + log_bytes;
}

bool ServerMemory::NoteResident(uint64_t resident_bytes) {
  if (process_limit_bytes_.load(std::memory_order_relaxed) == 0) return false;
  const uint64_t counted = CountedBytes();
  const MutexLock lock(mutex_);
  looks_[next_look_++ % kLooks] = resident_bytes - std::min(resident_bytes, counted);
  const uint64_t program = *std::ranges::min_element(looks_);
  program_bytes_.store(program, std::memory_order_relaxed);
  const uint64_t share = program_limit_bytes_.load(std::memory_order_relaxed);
  const uint64_t over = program - std::min(program, share);

  shard::Engine& engine = parts_.engine;
  const uint64_t now = engine.memory_limit_bytes();
  if (now != limit_set_) rows_share_bytes_ = now;  // whoever has the store has changed it
  const uint64_t least = std::min(rows_share_bytes_, kMemoryLimitBytesMin);
  const uint64_t taken = (over + kStepBytes - 1) / kStepBytes * kStepBytes;
  const uint64_t wanted = rows_share_bytes_ - std::min(taken, rows_share_bytes_ - least);
  const uint64_t era = engine.era();  // before the clock
  const uint64_t now_nanos = parts_.clock.NowNanos();
  // What is deleted and due goes first, as where a limit is lowered.
  while (over > 0 && engine.held_bytes() > wanted &&
         engine.Reclaim(now_nanos, kReclaimedAtOnce, era) != 0) {
  }
  const uint64_t held = engine.held_bytes();
  uint64_t limit = wanted;
  // Who deletes may write a tombstone, and needs room for it: below what is held there is none. Nothing grows at this
  // limit either.
  if (!engine.evicts()) {
    limit = std::max(wanted, std::min(rows_share_bytes_, shard::LimitAround(held)));
  }
  // What goes up and down by a step changes nothing.
  if (limit < now || limit == rows_share_bytes_ || limit > now + kStepBytes) {
    if (limit != now) engine.SetMemoryLimit(limit, now_nanos, nullptr, era);
  }
  limit_set_ = engine.memory_limit_bytes();
  engine.SetRefusesTables(over > 0 && (held > wanted || wanted == least));
  return over > 0;
}

void ServerMemory::Tick() {
  // Who holds it is looking, or is about to tell of a change: the next look will do.
  if (!tell_ || !mutex_.TryLock()) return;
  const shard::Engine& engine = parts_.engine;
  const std::optional<CqlMemoryNotice::Kind> kind =
      watch_.Look({.held_bytes = engine.held_bytes(),
                   .limit_bytes = engine.memory_limit_bytes(),
                   .short_of_memory = engine.refused_writes() + engine.evictions()});
  mutex_.Unlock();
  if (kind) tell_(Notice(*kind));
}

}  // namespace liststore
