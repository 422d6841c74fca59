#include "tests/conformance/random_moments.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tests/conformance/time_model.h"

namespace liststore::testing {
namespace {

using Value = std::optional<std::string>;

constexpr int64_t kMicrosPerMilli = 1000;
constexpr int64_t kMicrosPerDay = int64_t{86'400} * 1'000'000;

bool IsWithin(int64_t value, int64_t from, int64_t to) { return value >= from && value <= to; }

// ---- What has to hold of a value

// Some servers know their time to the millisecond.
bool IsNow(const std::string& value, const TimeWindow& window) {
  const int64_t from = window.from_micros - window.from_micros % kMicrosPerMilli;
  return VersionOf(value) == 1 &&
         IsWithin(FloorDivide(TicksOf(value), kTicksPerMicro), from, window.to_micros);
}

bool IsRandomUuid(const std::string& value, const TimeWindow&) { return VersionOf(value) == 4; }

// Of a timestamp, and of the milliseconds of one.
bool IsMillis(const std::string& value, const TimeWindow& window) {
  return value.size() == 8 && IsWithin(IntOf(value), window.from_micros / kMicrosPerMilli,
                                       window.to_micros / kMicrosPerMilli);
}

bool IsDate(const std::string& value, const TimeWindow& window) {
  return value == DateOfMillis(window.from_micros / kMicrosPerMilli) ||
         value == DateOfMillis(window.to_micros / kMicrosPerMilli);
}

bool IsTime(const std::string& value, const TimeWindow& window) {
  if (value.size() != 8) return false;
  const int64_t micros = IntOf(value) / 1000;
  const int64_t from = window.from_micros % kMicrosPerDay;
  const int64_t to = window.to_micros % kMicrosPerDay;
  // Midnight may lie between the two.
  if (from > to) return micros >= from || micros <= to;
  return IsWithin(micros, from - from % kMicrosPerMilli, to);
}

struct Moment {
  std::string_view call;
  bool (*is_right)(const std::string& value, const TimeWindow& window);
  bool is_unique;  // each value is one of its own
};
constexpr Moment kMoments[] = {
    {"now()", IsNow, true},
    {"currentTimeUUID()", IsNow, true},
    {"uuid()", IsRandomUuid, true},
    {"currentTimestamp()", IsMillis, false},
    {"currentDate()", IsDate, false},
    {"currentTime()", IsTime, false},
    {"toTimestamp(now())", IsMillis, false},
    {"toUnixTimestamp(currentTimestamp())", IsMillis, false},
    {"toDate(now())", IsDate, false},
    {"dateOf(now())", IsMillis, false},
    {"unixTimestampOf(now())", IsMillis, false},
};

// What stands for all values that are right.
constexpr char kRight[] = "right";

}  // namespace

void AddMoment(const Selection& to) {
  const Moment& moment = kMoments[to.random.Below(std::size(kMoments))];
  to.Say(moment.call);
  to.Add([](const LiveRow&, int64_t) { return Value(kRight); });
  to.shape.selectors.back().make_comparable = [&moment](std::vector<Value>& values,
                                                        const TimeWindow& window) {
    std::set<std::string> seen;
    for (Value& value : values) {
      if (!value || *value == kRight || !moment.is_right(*value, window)) continue;
      if (moment.is_unique && !seen.insert(*value).second) continue;
      value = kRight;
    }
  };
}

// ---- MomentTable

std::string MomentTable::CreateStatement() const {
  return "CREATE TABLE " + name_ +
         " (p int, c timeuuid, u uuid, s timestamp, d date, i time, m bigint, PRIMARY KEY (p, c))";
}

std::string MomentTable::CheckNew(const ResultRow& row, const TimeWindow& window) {
  if (std::ranges::find(row, Value()) != row.end()) return "a value is missing";
  if (!IsNow(*row[1], window)) return "now() is not of its instant";
  if (TicksOf(*row[1]) <= last_ticks_) return "now() is not behind the one before";
  last_ticks_ = TicksOf(*row[1]);
  if (!IsRandomUuid(*row[2], window)) return "uuid() is none of version 4";
  for (const auto& [partition, rows] : rows_) {
    for (const ResultRow& other : rows) {
      if (other[2] == row[2]) return "uuid() has been there";
    }
  }
  if (!IsMillis(*row[3], window)) return "currentTimestamp() is not of its instant";
  if (!IsDate(*row[4], window)) return "currentDate() is not of its instant";
  if (!IsTime(*row[5], window)) return "currentTime() is not of its instant";
  return IsMillis(*row[6], window) ? "" : "toUnixTimestamp(now()) is not of its instant";
}

std::string MomentTable::Step(Random& random, const Runner& run, std::string& shown) {
  const int64_t partition = random.Between(0, 2);
  TimeWindow of_write;
  StatementText insert(random);
  insert << "INSERT INTO " << name_ << " (p, c, u, s, d, i, m) VALUES (";
  insert.AddNumber(partition, 4);
  insert << ", " << (random.OneIn(2) ? "now()" : "currentTimeUUID()")
         << ", uuid(), currentTimestamp(), currentDate(), currentTime(), toUnixTimestamp(now()))";
  shown += insert.shown() + ";\n";
  const CqlAnswer written = run(insert.Sent(), of_write);
  if (!written.error.empty()) return written.error;

  StatementText select(random);
  select << "SELECT p, c, u, s, d, i, m FROM " << name_ << " WHERE p = ";
  select.AddNumber(partition, 4);
  std::vector<ResultRow>& rows = rows_[partition];
  // Those from a millisecond on, that of one of them.
  int64_t first_millis = 0;
  if (!rows.empty() && random.OneIn(2)) {
    first_millis = FloorDivide(TicksOf(*rows[random.Below(rows.size())][1]), kTicksPerMilli);
    select << " AND c >= minTimeuuid(";
    select.AddNumber(first_millis, 8);
    select << ")";
  }
  shown += select.shown() + ";\n";
  TimeWindow of_read;
  const CqlAnswer read = run(select.Sent(), of_read);
  if (!read.error.empty()) return read.error;
  std::vector<ResultRow> found = read.rows;
  if (found.empty()) return "the row is not there";
  const ResultRow added = found.back();
  found.pop_back();
  std::vector<ResultRow> expected;
  for (const ResultRow& row : rows) {
    if (TicksOf(*row[1]) >= first_millis * kTicksPerMilli) expected.push_back(row);
  }
  if (found != expected) return "the rows before have changed";
  const std::string wrong = CheckNew(added, of_write);
  rows.push_back(added);
  return wrong;
}

}  // namespace liststore::testing
