#include "tools/liststore/clock_command.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/instruments/statements.h"
#include "tools/liststore/instrument_command.h"

namespace liststore {
namespace {

constexpr char kClockHelp[] =
    R"(The time by which TTLs end and writes are stamped: the table liststore.clock. Alone it shows mode and time;
what moves the clock shows them afterwards. A clock that runs is stopped before it can be moved, and no clock
goes backwards but by 'liststore reset'.

  show              SELECT mode, now FROM liststore.clock
  set TIME          UPDATE liststore.clock SET now = 'TIME' WHERE key = 'clock'
  advance DURATION  UPDATE liststore.clock SET advance = DURATION WHERE key = 'clock'
  jump              UPDATE liststore.clock SET jump = 'next_expiry' WHERE key = 'clock'
  stop              UPDATE liststore.clock SET mode = 'manual' WHERE key = 'clock'
  run               UPDATE liststore.clock SET mode = 'real' WHERE key = 'clock'
  run --factor 60   UPDATE liststore.clock SET mode = 'scaled:60' WHERE key = 'clock'

Examples:
  liststore clock stop
  liststore clock advance 29d23h
  liststore clock set 2026-03-01T12:00:00Z
)";

struct ClockOptions {
  std::string time = {};
  std::string duration = {};
  std::string factor = {};
};

using Statements = std::vector<std::string>;

// Moves it, and shows it then.
absl::StatusOr<Statements> Move(const absl::StatusOr<std::string>& statement) {
  if (!statement.ok()) return statement.status();
  return Statements{*statement, kShowClock};
}

}  // namespace

void AddClockCommand(const Subcommand& program) {
  const InstrumentCommand clock(program, "clock", "Show, move, stop or run a server's clock",
                                kClockHelp);
  const auto options = std::make_shared<ClockOptions>();
  const auto show = [] { return Statements{kShowClock}; };
  clock.Sends(show);
  clock.Add("show", "Show mode and time", show);
  clock.Add("set", "Move it to a time", [options] { return Move(SetClock(options->time)); })
      .Option("TIME", &options->time,
              "2026-01-01, 2026-01-01T12:00:00Z, or milliseconds since 1970")
      .Value("")
      .Required();
  clock.Add("advance", "Move it on", [options] { return Move(AdvanceClock(options->duration)); })
      .Option("DURATION", &options->duration, "As 500ms, 90s, 1h30m or 30d")
      .Value("")
      .Required();
  clock.Add("jump", "Move it to the instant at which the next row or cell expires",
            [] { return Move(kJumpClock); });
  clock.Add("stop", "Let it stand still", [] { return Move(SetClockMode("manual")); });
  clock
      .Add("run", "Let it run",
           [options] {
             return Move(
                 SetClockMode(options->factor.empty() ? "real" : "scaled:" + options->factor));
           })
      .Option("--factor", &options->factor, "So many times as fast as the machine's")
      .Value("N");
}

}  // namespace liststore
