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
  CqlType type;
  bool (*is_right)(const std::string& value, const TimeWindow& window);
  bool is_unique;  // each value is one of its own
};
constexpr Moment kMoments[] = {
    {"now()", CqlType::kTimeuuid, IsNow, true},
    {"currentTimeUUID()", CqlType::kTimeuuid, IsNow, true},
    {"uuid()", CqlType::kUuid, IsRandomUuid, true},
    {"currentTimestamp()", CqlType::kTimestamp, IsMillis, false},
    {"currentDate()", CqlType::kDate, IsDate, false},
    {"currentTime()", CqlType::kTime, IsTime, false},
    {"toTimestamp(now())", CqlType::kTimestamp, IsMillis, false},
    {"toUnixTimestamp(currentTimestamp())", CqlType::kBigint, IsMillis, false},
    {"toDate(now())", CqlType::kDate, IsDate, false},
    {"dateOf(now())", CqlType::kTimestamp, IsMillis, false},
    {"unixTimestampOf(now())", CqlType::kBigint, IsMillis, false},
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

// ---- Into any table

namespace {

// A moment of the column's type; nullptr: there is none.
const Moment* MomentOf(Random& random, const DataType& type) {
  std::vector<const Moment*> moments;
  for (const Moment& moment : kMoments) {
    if (type.is(moment.type)) moments.push_back(&moment);
  }
  return moments.empty() ? nullptr : moments[random.Below(moments.size())];
}

class MomentWriteMaker {
 public:
  MomentWriteMaker(Random& random, TableModel& model, const WriteTimes& times)
      : random_(random), model_(model), schema_(model.schema()), times_(times) {}

  std::optional<MomentWrite> Make() {
    const size_t regular = schema_.regular.size();
    row_.statics_alone = !schema_.statics.empty() && random_.OneIn(2);
    const size_t first = row_.statics_alone ? regular : 0;
    const size_t end = row_.statics_alone ? schema_.values() : regular;
    for (size_t i = first; i < end; ++i) {
      const Moment* moment = MomentOf(random_, schema_.ValueColumn(i).type);
      if (moment != nullptr) columns_.push_back({i, moment});
    }
    if (columns_.empty()) return std::nullopt;
    ChooseKey();
    row_.ttl_seconds = schema_.default_ttl_seconds;
    StatementText write(random_);
    random_.OneIn(2) ? Insert(write) : Update(write);
    StatementText read(random_);
    Read(read);
    return MomentWrite{row_.statics_alone ? kStaticMomentWritten : kMomentWritten, write.Sent(),
                       write.shown(), read.Sent(),
                       [this_model = &model_, row = row_, columns = columns_](
                           const CqlAnswer& answer, const TimeWindow& window, int64_t timestamp,
                           int64_t now_seconds) {
                         return Apply(*this_model, row, columns, answer, window, timestamp,
                                      now_seconds);
                       }};
  }

 private:
  struct Written {
    size_t column = 0;
    const Moment* moment = nullptr;
  };

  void ChooseKey() {
    const auto choose = [&](const std::vector<ModelColumn>& columns, Values& to) {
      for (const ModelColumn& column : columns) {
        const PoolValue* value = &RandomPoolValue(random_, column);
        while (value->bytes.empty()) value = &RandomPoolValue(random_, column);
        key_.push_back({&column, value});
        to.push_back(value->bytes);
      }
    };
    choose(schema_.partition_key, row_.partition);
    if (!row_.statics_alone) choose(schema_.clustering, row_.clustering);
  }

  void AddUsing(StatementText& text) {
    std::string_view begin = " USING ";
    if (random_.OneIn(3)) {
      row_.ttl_seconds = 1000;
      text << begin << "TTL 1000";
      begin = " AND ";
    }
    if (!times_.of_message) return;
    text.Show(std::string(begin) + "TIMESTAMP " + std::to_string(*times_.of_message));
  }

  void Insert(StatementText& text) {
    row_.marker = !row_.statics_alone;
    text << "INSERT INTO " << schema_.table << " (";
    for (const auto& [column, value] : key_) text << column->name << ", ";
    for (const Written& written : columns_) {
      text << (&written == &columns_[0] ? "" : ", ") << schema_.ValueColumn(written.column).name;
    }
    text << ") VALUES (";
    for (const auto& [column, value] : key_) {
      text.AddValue(*value);
      text << ", ";
    }
    for (const Written& written : columns_) {
      text << (&written == &columns_[0] ? "" : ", ") << written.moment->call;
    }
    text << ")";
    AddUsing(text);
  }

  void Update(StatementText& text) {
    text << "UPDATE " << schema_.table;
    AddUsing(text);
    text << " SET ";
    for (const Written& written : columns_) {
      text << (&written == &columns_[0] ? "" : ", ") << schema_.ValueColumn(written.column).name
           << " = " << written.moment->call;
    }
    AddWhere(text);
  }

  void Read(StatementText& text) {
    text << "SELECT ";
    // Of a partition that may have no rows.
    if (row_.statics_alone) text << "DISTINCT " << KeyNames(schema_) << ", ";
    for (const Written& written : columns_) {
      text << (&written == &columns_[0] ? "" : ", ") << schema_.ValueColumn(written.column).name;
    }
    text << " FROM " << schema_.table;
    AddWhere(text);
  }

  void AddWhere(StatementText& text) {
    std::string_view before = " WHERE ";
    for (const auto& [column, value] : key_) {
      text << before << column->name << " = ";
      text.AddValue(*value);
      before = " AND ";
    }
  }

  // Something else has won where what was read is not right: what was written is not to be seen,
  // and less than all others. Whether that can be, the model's next answer tells.
  static std::string Apply(TableModel& model, RowWrite row, const std::vector<Written>& columns,
                           const CqlAnswer& read, const TimeWindow& window, int64_t timestamp,
                           int64_t now_seconds) {
    if (!read.error.empty()) return read.error;
    if (read.rows.size() > 1) return "a key has several rows";
    const size_t before = row.statics_alone ? row.partition.size() : 0;
    for (size_t i = 0; i < columns.size(); ++i) {
      const Value found = read.rows.empty() ? std::nullopt : read.rows[0].at(before + i);
      const bool is_right = found && columns[i].moment->is_right(*found, window);
      row.cells.emplace_back(columns[i].column, is_right ? *found : "");
    }
    model.Write(row, timestamp, now_seconds);
    return "";
  }

  Random& random_;
  TableModel& model_;
  const ModelSchema& schema_;
  const WriteTimes& times_;
  RowWrite row_;
  std::vector<Written> columns_;
  std::vector<std::pair<const ModelColumn*, const PoolValue*>> key_;
};

}  // namespace

std::optional<MomentWrite> MakeMomentWrite(Random& random, TableModel& model,
                                           const WriteTimes& times) {
  return MomentWriteMaker(random, model, times).Make();
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
