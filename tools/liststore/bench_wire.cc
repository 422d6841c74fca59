#include "tools/liststore/bench_wire.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/histogram.h"
#include "engine/base/random.h"
#include "engine/base/status_macros.h"
#include "liststore/clock.h"
#include "liststore/item_key.h"
#include "tools/liststore/bench_machine.h"
#include "tools/liststore/bench_report.h"
#include "tools/liststore/bench_workload.h"
#include "tools/liststore/cql_client.h"
#include "tools/liststore/json_line.h"
#include "tools/liststore/replay_status.h"
#include "tools/liststore/server_process.h"
#include "tools/liststore/terminal.h"
#include "tools/liststore/text.h"
#include "tools/liststore/wire_load.h"
#include "tools/liststore/wire_target.h"

namespace liststore {
namespace {

constexpr uint64_t kQuickLists = 50'000;
constexpr double kQuickSeconds = 0.2;
constexpr double kWarmUpShare = 0.1;  // of a measurement's time, before it
constexpr size_t kRowsRead = 10;
constexpr size_t kLoadInFlight = 4;        // batches of a connection
constexpr uint64_t kOfWhichVerified = 64;  // replies: one is read in full
constexpr uint64_t kListsReadBack = 1'000;
constexpr double kSelectsBar = 300'000;  // a second, with most under way
constexpr char kZeroBound[] = "0000000000000000000";
constexpr uint8_t kResult = 0x08;
constexpr std::string_view kFeatureKey = "user#reading_history|v2";

// What is measured.
struct WireKind {
  const char* key;
  const char* name;
  bool is_insert;
  size_t in_flight;
};
constexpr WireKind kKinds[] = {
    {"select10_64", "SELECT 10, 64 each", false, 64},
    {"select10_16", "SELECT 10, 16 each", false, 16},
    {"insert1_64", "INSERT 1, 64 each", true, 64},
    {"insert1_16", "INSERT 1, 16 each", true, 16},
};

struct WireLine {
  WireKind kind;
  std::vector<double> rates;       // replies a second, one for each round
  std::vector<double> core_rates;  // by the server's time on its core; none with --via
  std::vector<double> server_shares;
  std::vector<double> client_shares;
  Histogram latency;  // of all rounds
};

struct WireReport {
  BenchWireOptions options;
  MachineFacts machine;
  std::string server;
  WireCores cores;
  double load_seconds = 0;
  uint64_t resident_bytes = 0;  // 0: not known
  std::vector<WireLine> lines;
  uint64_t verified = 0;  // replies that were read in full
};

absl::StatusOr<BenchWireOptions> Resolve(BenchWireOptions options) {
  const auto check = [](const char* name, uint64_t value, uint64_t low, uint64_t high) {
    if (value >= low && value <= high) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is ", value, ", must be from ", low, " to ", high));
  };
  LS_RETURN_IF_ERROR(check("--lists", options.lists, 1'000, 100'000'000));
  LS_RETURN_IF_ERROR(check("--items", options.items_per_list, kRowsRead, 1'000));
  LS_RETURN_IF_ERROR(check("--value-bytes", options.value_bytes, 8, 65'487));
  LS_RETURN_IF_ERROR(check("--connections", options.connections, 1, 1'000));
  LS_RETURN_IF_ERROR(check("--rounds", static_cast<uint64_t>(options.rounds), 1, 1'000));
  if (!(options.seconds > 0 && options.seconds <= 3'600)) {
    return absl::InvalidArgumentError("--seconds must be above 0, at most 3600");
  }
  if (options.quick) {
    options.lists = std::min(options.lists, kQuickLists);
    options.seconds = std::min(options.seconds, kQuickSeconds);
    options.rounds = 1;
  }
  return options;
}

absl::Status WrongAnswer(uint32_t list, std::string_view what) {
  return DifferenceError(absl::StrCat("list ", EntityIdOfList(list), ": ", std::string(what)));
}

// The lists as they are to be on the server.
class WireLists {
 public:
  WireLists(const BenchItems& items, const BenchWireOptions& options)
      : items_(items),
        loaded_(static_cast<uint32_t>(options.items_per_list)),
        added_(static_cast<size_t>(options.lists)) {}

  uint64_t count() const { return added_.size(); }
  uint32_t loaded() const { return loaded_; }
  uint32_t ItemsOf(uint32_t list) const { return loaded_ + added_[list]; }
  uint32_t AddTo(uint32_t list) { return loaded_ + added_[list]++; }
  std::string ValueOf(uint32_t list, uint32_t number) const {
    std::string value(items_.value_bytes(), '\0');
    items_.WriteValue(list, number, value.data());
    return value;
  }
  std::string KeyOf(uint32_t list, uint32_t number, std::string_view value) const {
    return *MakeItemKey(items_.TimestampOf(list, number), value);
  }

  // `body` is a RESULT with the newest rows of `list`, up to `limit`.
  absl::Status Check(uint32_t list, std::string_view body, size_t limit) const {
    CqlRows rows;
    LS_RETURN_IF_ERROR(CqlRows::Decode(body, &rows));
    return CheckRows(list, rows, limit);
  }
  absl::Status CheckRows(uint32_t list, const CqlRows& rows, size_t limit) const {
    const uint32_t all = ItemsOf(list);
    const size_t expected = std::min<size_t>(all, limit);
    if (rows.size() != expected || (expected > 0 && rows.columns() != 2)) {
      return WrongAnswer(list, absl::StrCat(rows.size(), " rows of ", rows.columns(),
                                            " columns, expected ", expected, " of 2"));
    }
    for (size_t row = 0; row < expected; ++row) {
      const auto number = static_cast<uint32_t>(all - 1 - row);
      const std::string value = ValueOf(list, number);
      if (rows.at(row, 0) != value || rows.at(row, 1) != KeyOf(list, number, value)) {
        return WrongAnswer(list, absl::StrCat("row ", row, " is not item ", number));
      }
    }
    return absl::OkStatus();
  }

 private:
  const BenchItems& items_;
  const uint32_t loaded_;
  std::vector<uint16_t> added_;
};

// One list after the other, each by one batch.
class LoadSource final : public WireSource {
 public:
  LoadSource(const WireLists& lists, std::string_view insert) : lists_(lists), insert_(insert) {}

  bool Next(size_t /*slot*/, int16_t stream, CqlRequests& requests) override {
    if (next_ == lists_.count()) return false;
    const auto list = static_cast<uint32_t>(next_++);
    const std::string entity_id = EntityIdOfList(list);
    texts_.clear();
    values_.clear();
    executions_.clear();
    for (uint32_t number = 0; number < lists_.loaded(); ++number) {
      std::string value = lists_.ValueOf(list, number);
      std::string key = lists_.KeyOf(list, number, value);
      texts_.push_back({std::move(key), std::move(value)});
    }
    values_.reserve(texts_.size());
    for (const auto& [key, value] : texts_) {
      values_.push_back({kFeatureKey, entity_id, key, value, ttl_});
      executions_.push_back({insert_, values_.back()});
    }
    requests.Batch(stream, executions_, std::nullopt);
    return true;
  }
  absl::Status OnReply(size_t /*slot*/, const CqlReply& reply) override {
    return reply.opcode == kResult ? absl::OkStatus()
                                   : absl::InvalidArgumentError("a BATCH was refused");
  }

 private:
  const WireLists& lists_;
  const std::string_view insert_;
  const std::string ttl_ = CqlInt(static_cast<int32_t>(kBenchTtlSeconds));
  uint64_t next_ = 0;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::array<std::string_view, 5>> values_;
  std::vector<CqlRequests::Execution> executions_;
};

// A frame of which only some bytes change from request to request.
class FrameTemplate {
 public:
  FrameTemplate(std::string_view statement_id, CqlRequests::Values values,
                const CqlParameters& parameters) {
    frame_.Execute(0, statement_id, values, parameters);
  }
  // Where `placeholder`, one of the values, lies.
  size_t Find(std::string_view placeholder) const { return frame_.view().find(placeholder); }
  // Appends the frame; returns where it may be changed.
  char* AppendTo(CqlRequests& requests, int16_t stream) const {
    const size_t at = requests.view().size();
    requests.Append(frame_.view());
    char* const frame = requests.bytes().data() + at;
    frame[2] = static_cast<char>(stream >> 8);
    frame[3] = static_cast<char>(stream & 0xff);
    return frame;
  }

 private:
  CqlRequests frame_;
};

// Reads of lists drawn at random. Every reply has the length that the first had, and some are
// read in full: values have one length, and so have keys.
class SelectSource final : public WireSource {
 public:
  SelectSource(const WireLists& lists, std::string_view select, size_t slots, uint64_t seed)
      : lists_(lists),
        picker_(lists.count(), false, seed),
        lists_asked_(slots),
        entity_id_(EntityIdOfList(0)),
        limit_(CqlInt(kRowsRead)),
        values_{kFeatureKey, entity_id_, kZeroBound, limit_},
        frame_(select, values_, {.skip_metadata = true, .page_size = 5'000}),
        entity_id_at_(frame_.Find(entity_id_)) {}

  bool Next(size_t slot, int16_t stream, CqlRequests& requests) override {
    const uint32_t list = picker_.Next();
    lists_asked_[slot] = list;
    WriteEntityId(list, frame_.AppendTo(requests, stream) + entity_id_at_);
    return true;
  }
  absl::Status OnReply(size_t slot, const CqlReply& reply) override {
    const uint32_t list = lists_asked_[slot];
    if (reply.opcode != kResult) return WrongAnswer(list, "the SELECT was refused");
    if (replies_++ % kOfWhichVerified == 0) {
      LS_RETURN_IF_ERROR(lists_.Check(list, reply.body, kRowsRead));
      body_bytes_ = reply.body.size();
      ++verified_;
    }
    if (reply.body.size() == body_bytes_) return absl::OkStatus();
    return WrongAnswer(
        list, absl::StrCat("a reply of ", reply.body.size(), " bytes, expected ", body_bytes_));
  }
  uint64_t verified() const { return verified_; }

 private:
  const WireLists& lists_;
  ListPicker picker_;
  std::vector<uint32_t> lists_asked_;  // by slot
  const std::string entity_id_;
  const std::string limit_;
  const std::string_view values_[4];
  const FrameTemplate frame_;
  const size_t entity_id_at_;
  size_t body_bytes_ = 0;
  uint64_t replies_ = 0;
  uint64_t verified_ = 0;
};

// New items of lists drawn at random.
class InsertSource final : public WireSource {
 public:
  InsertSource(WireLists& lists, std::string_view insert, uint64_t seed)
      : lists_(lists),
        picker_(lists.count(), false, seed),
        insert_(insert),
        ttl_(CqlInt(static_cast<int32_t>(kBenchTtlSeconds))) {}

  bool Next(size_t /*slot*/, int16_t stream, CqlRequests& requests) override {
    const uint32_t list = picker_.Next();
    const uint32_t number = lists_.AddTo(list);
    const std::string entity_id = EntityIdOfList(list);
    const std::string value = lists_.ValueOf(list, number);
    const std::string key = lists_.KeyOf(list, number, value);
    const std::string_view values[] = {kFeatureKey, entity_id, key, value, ttl_};
    requests.Execute(stream, insert_, values);
    return true;
  }
  absl::Status OnReply(size_t /*slot*/, const CqlReply& reply) override {
    return reply.opcode == kResult ? absl::OkStatus()
                                   : absl::InvalidArgumentError("an INSERT was refused");
  }

 private:
  WireLists& lists_;
  ListPicker picker_;
  const std::string_view insert_;
  const std::string ttl_;
};

uint64_t ThreadCpuNanos() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  const auto nanos = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<uint64_t>(time.tv_usec) * 1'000;
  };
  return nanos(usage.ru_utime) + nanos(usage.ru_stime);
}

class WireBench {
 public:
  explicit WireBench(const BenchWireOptions& options)
      : items_(SystemClock::Instance().NowNanos(), options.items_per_list,
               static_cast<size_t>(options.value_bytes)),
        lists_(items_, options) {
    report_.options = options;
    report_.machine = ReadMachineFacts();
  }
  const WireReport& report() const { return report_; }

  absl::Status Run() {
    LS_RETURN_IF_ERROR(Connect());
    LS_RETURN_IF_ERROR(Load());
    for (const WireKind& kind : kKinds) {
      WireLine& line = report_.lines.emplace_back();
      line.kind = kind;
      for (int round = 0; round < report_.options.rounds; ++round) {
        LS_RETURN_IF_ERROR(Measure(line, static_cast<uint64_t>(round)));
      }
      absl::FPrintF(stderr, "%-20s %12.0f/s\n", kind.name, Median(line.rates));
    }
    return ReadBack();
  }

 private:
  absl::Status Connect() {
    report_.cores = ChooseWireCores();
    report_.server = report_.options.via;
    if (report_.server.empty()) {
      LS_ASSIGN_OR_RETURN(process_, ServerProcess::Start(report_.cores.server));
      report_.server = process_->address();
    }
    PinToCore(report_.cores.client);
    for (uint32_t i = 0; i < report_.options.connections; ++i) {
      LS_ASSIGN_OR_RETURN(std::unique_ptr<CqlClient> client, CqlClient::Connect(report_.server));
      clients_.push_back(std::move(client));
    }
    for (const std::string& statement : ListModelSchema()) {
      LS_RETURN_IF_ERROR(clients_[0]->Query(statement).status());
    }
    LS_ASSIGN_OR_RETURN(
        const CqlRows rows,
        clients_[0]->Query("SELECT item_key FROM feature_store.list_items LIMIT 1"));
    if (rows.size() > 0) {
      return absl::FailedPreconditionError(
          absl::StrCat(report_.server, ": feature_store.list_items holds items; it must be empty"));
    }
    LS_ASSIGN_OR_RETURN(insert_, clients_[0]->Prepare(kInsertItemStatement));
    LS_ASSIGN_OR_RETURN(select_, clients_[0]->Prepare(kSelectItemsStatement));
    return absl::OkStatus();
  }

  absl::Status Load() {
    const BenchWireOptions& options = report_.options;
    absl::FPrintF(stderr, "loading %d lists of %d items\n", options.lists, options.items_per_list);
    LoadSource source(lists_, insert_);
    WireLoad load(clients_, kLoadInFlight);
    WireRun run;
    LS_RETURN_IF_ERROR(load.Run(source, 0, nullptr, &run));
    report_.load_seconds = run.seconds;
    if (process_ != nullptr) report_.resident_bytes = process_->ResidentBytes();
    return absl::OkStatus();
  }

  absl::Status Measure(WireLine& line, uint64_t round) {
    WireLoad load(clients_, line.kind.in_flight);
    const uint64_t seed = report_.options.seed + 1'000 * round + line.kind.in_flight;
    if (line.kind.is_insert) {
      InsertSource source(lists_, insert_, seed);
      return MeasureSource(load, source, line);
    }
    SelectSource source(lists_, select_, clients_.size() * line.kind.in_flight, seed);
    LS_RETURN_IF_ERROR(MeasureSource(load, source, line));
    report_.verified += source.verified();
    return absl::OkStatus();
  }

  absl::Status MeasureSource(WireLoad& load, WireSource& source, WireLine& line) {
    WireRun run;
    const double seconds = report_.options.seconds;
    LS_RETURN_IF_ERROR(load.Run(source, kWarmUpShare * seconds, nullptr, &run));
    const uint64_t client_before = ThreadCpuNanos();
    const uint64_t server_before = process_ == nullptr ? 0 : process_->CpuNanos();
    LS_RETURN_IF_ERROR(load.Run(source, seconds, &line.latency, &run));
    const auto replies = static_cast<double>(run.replies);
    const auto share = [&run](uint64_t nanos) {
      return static_cast<double>(nanos) * 1e-9 / run.seconds;
    };
    line.rates.push_back(replies / run.seconds);
    line.client_shares.push_back(share(ThreadCpuNanos() - client_before));
    if (process_ == nullptr) return absl::OkStatus();
    const uint64_t server_nanos = process_->CpuNanos() - server_before;
    line.server_shares.push_back(share(server_nanos));
    line.core_rates.push_back(replies / (static_cast<double>(server_nanos) * 1e-9));
    return absl::OkStatus();
  }

  // What was inserted is there.
  absl::Status ReadBack() {
    constexpr size_t kLimit = 1'000;
    ListPicker picker(lists_.count(), false, report_.options.seed);
    const std::string limit = CqlInt(kLimit);
    for (uint64_t i = 0; i < std::min(kListsReadBack, lists_.count()); ++i) {
      const uint32_t list = picker.Next();
      const std::string entity_id = EntityIdOfList(list);
      const std::string_view values[] = {kFeatureKey, entity_id, kZeroBound, limit};
      CqlRows rows;
      LS_RETURN_IF_ERROR(
          clients_[0]->Execute("reading back", select_, values, {.skip_metadata = true}, &rows));
      LS_RETURN_IF_ERROR(lists_.CheckRows(list, rows, kLimit));
      ++report_.verified;
    }
    return absl::OkStatus();
  }

  WireReport report_;
  const BenchItems items_;
  WireLists lists_;
  std::unique_ptr<ServerProcess> process_;
  WireLoad::Clients clients_;
  std::string insert_, select_;
};

std::string Percent(const std::vector<double>& shares) {
  return shares.empty() ? "-" : absl::StrFormat("%.0f %%", 100 * Median(shares));
}

void Print(const WireReport& report, std::FILE* out) {
  const Style style(out);
  const BenchWireOptions& options = report.options;
  const MachineFacts& machine = report.machine;
  const auto line = [&](std::string_view name, const std::string& text) {
    absl::FPrintF(out, "  %s %s\n", style.Bold(Padded(std::string(name), 9)), text);
  };
  absl::FPrintF(out, "%s\n",
                style.Bold(absl::StrCat("liststore ", machine.version, ", bench wire")));
  line("date", absl::StrCat(machine.date, " UTC"));
  line("machine", absl::StrFormat("%s, %d cores, %s; %s", machine.cpu, machine.cores,
                                  Bytes(machine.memory_bytes), machine.kernel));
  line("built by", machine.compiler);
  line("data", absl::StrFormat("%s lists of %d items with values of %d bytes; loaded in %.1f s",
                               Grouped(options.lists), options.items_per_list, options.value_bytes,
                               report.load_seconds));
  line("server",
       options.via.empty()
           ? absl::StrFormat("its own, one shard on core %d, the client on core %d; %s "
                             "resident when loaded",
                             report.cores.server, report.cores.client, Bytes(report.resident_bytes))
           : absl::StrCat(options.via, ", the client on core ", report.cores.client));
  line("measured",
       absl::StrFormat("%d round%s of %g s a line over %d connections; medians; latency from the "
                       "write of a request to the read of its reply",
                       options.rounds, options.rounds == 1 ? "" : "s", options.seconds,
                       options.connections));
  absl::FPrintF(out, "\n  %s\n",
                style.Dim(absl::StrFormat("%-20s %11s %8s %8s %8s   %7s %7s %13s",
                                          "prepared, in flight", "a second", "p50", "p99", "p99.9",
                                          "server", "client", "a core second")));
  for (const WireLine& measured : report.lines) {
    absl::FPrintF(
        out, "  %-20s %11s %8s %8s %8s   %7s %7s %13s\n", measured.kind.name,
        Grouped(static_cast<uint64_t>(Median(measured.rates))),
        FormatNanos(measured.latency.Percentile(50)), FormatNanos(measured.latency.Percentile(99)),
        FormatNanos(measured.latency.Percentile(99.9)), Percent(measured.server_shares),
        Percent(measured.client_shares),
        measured.core_rates.empty() ? "-"
                                    : Grouped(static_cast<uint64_t>(Median(measured.core_rates))));
  }
  const double selects = Median(report.lines.front().rates);
  const std::string judged = absl::StrFormat(
      "%s SELECTs a second %s %s", Grouped(static_cast<uint64_t>(selects)),
      selects >= kSelectsBar ? ">=" : "<", Grouped(static_cast<uint64_t>(kSelectsBar)));
  absl::FPrintF(out, "\n  %s; %s replies read in full, all as expected\n",
                selects >= kSelectsBar ? style.Good(judged) : style.Bold(judged),
                Grouped(report.verified));
}

void PrintJson(const WireReport& report, std::FILE* out) {
  JsonLine json;
  const BenchWireOptions& options = report.options;
  json.Text("version", report.machine.version);
  json.Text("date", report.machine.date);
  json.Text("cpu", report.machine.cpu);
  json.Count("cores", report.machine.cores);
  json.Text("kernel", report.machine.kernel);
  json.Text("compiler", report.machine.compiler);
  json.Count("lists", options.lists);
  json.Count("items_per_list", options.items_per_list);
  json.Count("value_bytes", options.value_bytes);
  json.Count("connections", options.connections);
  json.Add("seconds", options.seconds);
  json.Count("rounds", static_cast<uint64_t>(options.rounds));
  json.Count("seed", options.seed);
  json.Add("load_seconds", report.load_seconds);
  json.Count("server_resident_bytes", report.resident_bytes);
  for (const WireLine& line : report.lines) {
    const std::string key = line.kind.key;
    json.Count(key, static_cast<uint64_t>(Median(line.rates)));
    json.Count(key + "_p50_ns", line.latency.Percentile(50));
    json.Count(key + "_p99_ns", line.latency.Percentile(99));
    json.Count(key + "_p999_ns", line.latency.Percentile(99.9));
    json.Add(key + "_client_share", Median(line.client_shares));
    if (line.core_rates.empty()) continue;
    json.Add(key + "_server_share", Median(line.server_shares));
    json.Count(key + "_per_core_second", static_cast<uint64_t>(Median(line.core_rates)));
  }
  json.Count("replies_verified", report.verified);
  absl::FPrintF(out, "%s\n", json.Finish());
}

}  // namespace

int RunBenchWire(const BenchWireOptions& options) {
  const auto resolved = Resolve(options);
  absl::Status status = resolved.status();
  if (status.ok()) {
    WireBench bench(*resolved);
    status = bench.Run();
    if (status.ok()) {
      resolved->json ? PrintJson(bench.report(), stdout) : Print(bench.report(), stdout);
      return kExitSame;
    }
  }
  absl::FPrintF(stderr, "liststore bench: %s\n", std::string(status.message()));
  return kExitFailed;
}

}  // namespace liststore
