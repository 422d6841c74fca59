#include "engine/instruments/slow_turns.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/run_delay.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/syntax/statement_outline.h"
#include "engine/cql/values/encode_value.h"
#include "engine/execute/client_state.h"
#include "engine/instruments/request_names.h"

namespace liststore::instruments {
namespace {

constexpr cql::TableSpec kSlowTurnsSpec = {
    "liststore",
    "slow_turns",
    "loop int",
    "number bigint DESC",
    "ended timestamp, took_us bigint, waited_for_core_us bigint, work text",
    "turns of a loop that took a millisecond or more"};

constexpr std::chrono::milliseconds kLookTime(500);
// Kinds of requests that a description names; the others are counted together.
constexpr size_t kNamedKinds = 4;
// Requests that are not alike, of which that is looked at.
constexpr size_t kLookedAt = 16;

// How long the calling thread has waited for a core, and how much of that was known at the last look.
class CoreWaits {
 public:
  std::chrono::steady_clock::time_point looked_at;
  std::chrono::steady_clock::time_point second_began;
  int described = 0;  // in that second

  CoreWaits() : delay_(RunDelay::OfThisThread()) {}

  // Since the last one. A system call or two, on the way of what is slow already.
  uint64_t Look() {
    if (!delay_) return 0;
    const int64_t before = std::exchange(seen_, delay_->Nanos());
    return static_cast<uint64_t>(std::max<int64_t>(0, seen_ - before));
  }

 private:
  std::optional<RunDelay> delay_;
  int64_t seen_ = 0;
};

CoreWaits& WaitsOfThisThread() {
  thread_local CoreWaits waits;
  return waits;
}

// " feat.clicks", or nothing where it has no table.
std::string TableOf(execute::StatementView& statement, std::string_view keyspace) {
  const cql::StatementOutline& outline = statement.Outline(keyspace);
  if (outline.table.empty()) return "";
  return outline.keyspace.empty() ? absl::StrCat(" ", outline.table)
                                  : absl::StrCat(" ", outline.keyspace, ".", outline.table);
}

bool AreAlike(execute::RequestView& a, execute::RequestView& b) {
  return a.kind() == execute::RequestKind::kExecute && b.kind() == execute::RequestKind::kExecute &&
         a.statement().id() == b.statement().id();
}

std::string KindOf(execute::RequestView& request, std::string_view keyspace) {
  std::string kind(NameOf(request.kind()));
  const std::span<execute::StatementView> statements = request.statements();
  if (request.kind() == execute::RequestKind::kBatch) {
    absl::StrAppend(&kind, " of ", statements.size());
    if (statements.empty()) return kind;
  }
  return kind + TableOf(statements.front(), keyspace);
}

}  // namespace

void SlowTurns::LookNowAndThen(std::chrono::steady_clock::time_point now) {
  CoreWaits& waits = WaitsOfThisThread();
  if (now - waits.looked_at < kLookTime) return;
  waits.looked_at = now;
  waits.Look();
}

bool SlowTurns::IsToBeDescribed(std::chrono::steady_clock::time_point now) {
  CoreWaits& loop = WaitsOfThisThread();
  if (now - loop.second_began >= std::chrono::seconds(1)) {
    loop.second_began = now;
    loop.described = 0;
  }
  return ++loop.described <= kDescribedPerSecond;
}

void SlowTurns::Record(uint64_t number, std::chrono::nanoseconds took, Work work) {
  SlowTurn turn;
  turn.number = number;
  turn.at_nanos = clock_.NowNanos();
  turn.took_nanos = static_cast<uint64_t>(took.count());
  turn.waited_nanos = std::min(WaitsOfThisThread().Look(), turn.took_nanos);
  turn.loop = work.loop;
  turn.work = std::move(work.text);
  const MutexLock lock(mutex_);
  if (recent_.size() == kKept) recent_.pop_front();
  recent_.push_back(std::move(turn));
}

std::vector<SlowTurn> SlowTurns::Recent() const {
  const MutexLock lock(mutex_);
  return {recent_.rbegin(), recent_.rend()};
}

execute::ConnectionOrders SlowTurnHandler::Handle(std::span<execute::RequestView> requests,
                                                  execute::ClientState& client, OutputBuffer& out) {
  const auto begin = std::chrono::steady_clock::now();
  HotPartitions::Samples samples;
  hot_.Choose(requests, client, begin, samples);
  execute::ConnectionOrders orders = next_.Handle(requests, client, out);
  const auto now = std::chrono::steady_clock::now();
  hot_.Note(requests, client, samples, now, now - client.read_at);
  if (metrics_ != nullptr) metrics_->Note(requests, client, statements_, now - client.read_at);
  if (client.place.begun_at) {
    if (slow_requests_ != nullptr) slow_requests_->Note(requests, client, statements_, begin, now);
    return orders;
  }
  if (now - begin < SlowTurns::kTimeMin) [[likely]]
    return orders;
  if (slow_requests_ != nullptr) slow_requests_->Note(requests, client, statements_, begin, now);
  turns_.NoteEnd(begin, now, [&] {
    return SlowTurns::Work{client.shard, DescribeRequests(requests, client.keyspace)};
  });
  return orders;
}

std::string DescribeRequests(std::span<execute::RequestView> requests, std::string_view keyspace) {
  // Those of one prepared statement are known by its id, and looked at once.
  struct Alike {
    execute::RequestView* first = nullptr;
    size_t count = 0;
  };
  std::vector<Alike> alike;
  size_t others = 0;
  for (execute::RequestView& request : requests) {
    const auto at = std::ranges::find_if(
        alike, [&](const Alike& known) { return AreAlike(*known.first, request); });
    if (at != alike.end()) {
      ++at->count;
    } else if (alike.size() < kLookedAt) {
      alike.push_back({&request, 1});
    } else {
      ++others;
    }
  }
  std::map<std::string, size_t> counts;
  for (const Alike& kind : alike) counts[KindOf(*kind.first, keyspace)] += kind.count;
  std::vector<std::pair<size_t, std::string>> kinds;
  for (const auto& [kind, count] : counts) kinds.emplace_back(count, kind);
  std::ranges::stable_sort(kinds, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text =
      absl::StrCat(requests.size(), requests.size() == 1 ? " request: " : " requests: ");
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (i >= kNamedKinds) {
      others += kinds[i].first;
    } else {
      absl::StrAppend(&text, i == 0 ? "" : ", ", kinds[i].first, " ", kinds[i].second);
    }
  }
  if (others > 0) absl::StrAppend(&text, ", ", others, " others");
  return text;
}

std::unique_ptr<cql::VirtualTable> MakeSlowTurnsTable(const SlowTurns& turns) {
  return std::make_unique<cql::ComputedTable>(
      kSlowTurnsSpec,
      [&turns](const cql::VirtualReadContext& /*context*/, cql::RowCollector& rows) {
        const auto micros = [](uint64_t nanos) {
          return cql::EncodeBigint(static_cast<int64_t>(nanos / 1000));
        };
        for (SlowTurn& turn : turns.Recent()) {
          rows.Row()
              .Set("loop", cql::EncodeInt(static_cast<int32_t>(turn.loop)))
              .Set("number", cql::EncodeBigint(static_cast<int64_t>(turn.number)))
              .Set("ended", cql::EncodeBigint(static_cast<int64_t>(turn.at_nanos / 1'000'000)))
              .Set("took_us", micros(turn.took_nanos))
              .Set("waited_for_core_us", micros(turn.waited_nanos))
              .Set("work", std::move(turn.work));
        }
      });
}

}  // namespace liststore::instruments
