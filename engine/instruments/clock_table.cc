#include "engine/instruments/clock_table.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/base/strings.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"
#include "engine/model/types/duration.h"

namespace liststore::instruments {
namespace {

constexpr char kClockKey[] = "clock";
constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr int64_t kNanosPerDay = 86'400 * kNanosPerSecond;

constexpr cql::TableSpec kClockSpec = {
    "liststore",
    "clock",
    "key text",
    "",
    "advance duration, advance_seconds bigint, jump text, mode text, now timestamp, "
    "now_nanos bigint",
    "the server's time"};

cql::CqlError RefuseClock(std::string_view why) {
  return cql::CqlError::Invalid(std::string("liststore.clock: ").append(why));
}

// What a statement asks for, before it is known whether it can be.
struct ClockChange {
  enum class Kind : uint8_t {
    kTo,
    kBy,
    kJump,
    kMode
  };
  Kind kind = Kind::kTo;
  int64_t nanos = 0;  // kTo, kBy; negative: backwards
  ServerClock::Setting setting = {};
};

// `count` units, or nullopt beyond what 64 bits hold.
std::optional<int64_t> Times(int64_t count, int64_t unit) {
  int64_t nanos = 0;
  if (__builtin_mul_overflow(count, unit, &nanos)) return std::nullopt;
  return nanos;
}

cql::CqlOr<ClockChange> TooFar() { return RefuseClock("the time lies behind the year 2262"); }

cql::CqlOr<ClockChange> ChangeBy(const Duration& duration) {
  if (duration.months != 0) return RefuseClock("months have no fixed length: advance by days");
  if (duration.days < 0 || duration.nanoseconds < 0)
    return ClockChange{.kind = ClockChange::Kind::kBy, .nanos = -1};
  const std::optional<int64_t> days = Times(duration.days, kNanosPerDay);
  int64_t nanos = 0;
  if (!days || __builtin_add_overflow(*days, duration.nanoseconds, &nanos)) return TooFar();
  return ClockChange{.kind = ClockChange::Kind::kBy, .nanos = nanos};
}

// The change that a column and its value ask for.
cql::CqlOr<ClockChange> ChangeOf(std::string_view column, std::string_view value) {
  if (column == "advance") {
    const std::optional<Duration> duration = DecodeDuration(value);
    if (!duration) return RefuseClock("advance is not a duration");
    return ChangeBy(*duration);
  }
  if (column == "mode") {
    const absl::StatusOr<ServerClock::Setting> setting =
        ParseClockSetting(absl::AsciiStrToLower(ToAbsl(value)));
    if (!setting.ok()) return RefuseClock("mode " + std::string(ToStd(setting.status().message())));
    return ClockChange{.kind = ClockChange::Kind::kMode, .setting = *setting};
  }
  if (column == "jump") {
    if (absl::EqualsIgnoreCase(ToAbsl(value), "next_expiry"))
      return ClockChange{.kind = ClockChange::Kind::kJump};
    return RefuseClock("jump '" + std::string(value) + "' is not next_expiry");
  }
  LS_CHECK(column == "now" || column == "now_nanos" || column == "advance_seconds",
           "a statement has only columns of its table");
  // Empty values are valid for numbers.
  if (value.size() != 8) return RefuseClock("a time cannot be empty");
  const auto number = static_cast<int64_t>(LoadBigEndian64(value.data()));
  const bool relative = column == "advance_seconds";
  const int64_t unit = relative ? kNanosPerSecond : column == "now" ? kNanosPerMilli : 1;
  const std::optional<int64_t> nanos = Times(number, unit);
  if (!nanos && number > 0) return TooFar();
  // What overflows below lies before the epoch, and so backwards, like any other negative number.
  return ClockChange{.kind = relative ? ClockChange::Kind::kBy : ClockChange::Kind::kTo,
                     .nanos = nanos.value_or(-1)};
}

// The one change in `values`.
cql::CqlOr<ClockChange> ChangeIn(const cql::VirtualTable::Values& values) {
  std::optional<ClockChange> change;
  for (const auto& [column, value] : values) {
    if (column == "key") {
      if (value != kClockKey) return RefuseClock("the only key is 'clock'");
      continue;
    }
    if (!value) return RefuseClock(column + " cannot be null");
    if (change) return RefuseClock("one statement changes the clock once");
    cql::CqlOr<ClockChange> asked = ChangeOf(column, *value);
    if (!asked.ok()) return asked;
    change = *asked;
  }
  if (!change)
    return RefuseClock("set one of now, now_nanos, advance, advance_seconds, jump and mode");
  return *change;
}

ServerClock::Change Apply(const ClockChange& change, ServerClock& clock) {
  if (change.kind == ClockChange::Kind::kMode) return clock.SetMode(change.setting);
  // A real clock says so whatever it is asked for.
  if (clock.mode() == ServerClock::Mode::kReal) return ServerClock::Change::kFollowsMachine;
  if (change.nanos < 0) return ServerClock::Change::kBackwards;
  const auto nanos = static_cast<uint64_t>(change.nanos);
  return change.kind == ClockChange::Kind::kBy ? clock.Advance(nanos) : clock.Set(nanos);
}

// Why a real clock is not moved, and what helps.
cql::CqlError FollowsMachine(const ServerClock& clock) {
  if (clock.mode_is_fixed()) {
    return RefuseClock(
        "the clock is that of the program that started the server, or of its store, and is moved "
        "there alone");
  }
  return RefuseClock(
      "the clock follows the machine's and cannot be moved; freeze it first: UPDATE "
      "liststore.clock SET mode = 'manual' WHERE key = 'clock'");
}

}  // namespace

ClockTable::ClockTable(ServerClock& clock, NextExpiry next_expiry, Kept kept)
    : clock_(clock),
      next_expiry_(std::move(next_expiry)),
      kept_(std::move(kept)),
      definition_(cql::MakeVirtualDefinition(kClockSpec)) {}

std::vector<cql::VirtualRow> ClockTable::Rows(const cql::VirtualReadContext& /*context*/) const {
  const uint64_t now_nanos = clock_.NowNanos();
  cql::RowCollector rows(*definition_);
  rows.Row()
      .Set("key", kClockKey)
      .Set("mode", ClockSettingText(clock_.setting()))
      .Set("now", cql::EncodeTimestamp(now_nanos))
      .Set("now_nanos", cql::EncodeBigint(static_cast<int64_t>(now_nanos)));
  return rows.Take();
}

std::optional<cql::CqlError> ClockTable::Write(const Values& values) {
  if (kept_.refusal) {
    if (const auto why = kept_.refusal()) return cql::CqlError::Server("liststore.clock: " + *why);
  }
  std::optional<cql::CqlError> error = Change(values);
  if (!error && kept_.moved) kept_.moved();
  return error;
}

std::optional<cql::CqlError> ClockTable::Change(const Values& values) {
  const cql::CqlOr<ClockChange> change = ChangeIn(values);
  if (!change.ok()) return change.error();
  if (change->kind == ClockChange::Kind::kJump) return Jump();
  switch (Apply(*change, clock_)) {
    case ServerClock::Change::kDone:
      return std::nullopt;
    case ServerClock::Change::kFollowsMachine:
      return FollowsMachine(clock_);
    case ServerClock::Change::kBackwards:
      if (change->kind != ClockChange::Kind::kMode)
        return RefuseClock("the clock cannot go backwards");
      return RefuseClock(
          "the clock is ahead of the machine's and cannot go backwards: mode 'real' waits until "
          "the machine's has come as far");
    case ServerClock::Change::kTooFar:
      return TooFar().error();
    case ServerClock::Change::kModeIsFixed:
      return RefuseClock("the mode cannot be changed: the clock is " +
                         std::string(clock_.is_shared()
                                         ? "CqlServerOptions::manual_clock"
                                         : "CqlServerOptions::clock, or its store's") +
                         ", which belongs to the program that started the server");
  }
  LS_UNREACHABLE("every outcome of a change has its answer");
}

bool ClockTable::WriteTakesLong(const Values& values) const {
  return std::ranges::any_of(values, [](const auto& value) { return value.first == "jump"; });
}

std::optional<cql::CqlError> ClockTable::Jump() {
  const MutexLock lock(jumps_);
  if (clock_.mode() == ServerClock::Mode::kReal) return FollowsMachine(clock_);
  const std::optional<int64_t> seconds = next_expiry_(clock_.NowNanos());
  if (!seconds) return RefuseClock("nothing expires: no row and no cell that lives has a TTL");
  const std::optional<int64_t> nanos = Times(*seconds, kNanosPerSecond);
  if (!nanos) return TooFar().error();
  switch (clock_.Set(static_cast<uint64_t>(*nanos))) {
    case ServerClock::Change::kDone:
    case ServerClock::Change::kBackwards:  // by itself, or moved by another, it has come there
      return std::nullopt;
    case ServerClock::Change::kFollowsMachine:
      return FollowsMachine(clock_);
    case ServerClock::Change::kTooFar:
    case ServerClock::Change::kModeIsFixed:
      break;
  }
  LS_UNREACHABLE("the instant was looked at, and the mode is not touched");
}

}  // namespace liststore::instruments
