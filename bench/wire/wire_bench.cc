#include "bench/wire/wire_bench.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/load/closed_load.h"
#include "bench/load/core_gaps.h"
#include "bench/load/open_load.h"
#include "bench/load/server_process.h"
#include "bench/measure/bench_progress.h"
#include "bench/measure/growing_lists.h"
#include "bench/measure/machine.h"
#include "bench/measure/median.h"
#include "bench/measure/workload.h"
#include "bench/wire/cql_load_target.h"
#include "bench/wire/list_server.h"
#include "bench/wire/throwaway_certificate.h"
#include "bench/wire/wire_line.h"
#include "bench/wire/wire_report.h"
#include "bench/wire/wire_sources.h"
#include "engine/base/status_macros.h"
#include "liststore/clock.h"
#include "programs/client/client_socket.h"
#include "programs/client/client_tls.h"
#include "programs/client/cql_client.h"
#include "programs/client/list_model.h"
#include "programs/console/exit_codes.h"

namespace liststore {
namespace {

constexpr uint64_t kQuickServerLists = 50'000;
constexpr double kQuickSeconds = 0.2;
constexpr double kRateMax = 100'000'000;
constexpr int kHandshakesMax = 5'000;  // of a round: each takes a port for a while

absl::StatusOr<BenchWireOptions> Resolve(BenchWireOptions options) {
  const auto check = [](const char* name, uint64_t value, uint64_t low, uint64_t high) {
    if (value >= low && value <= high) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is ", value, ", must be from ", low, " to ", high));
  };
  LS_RETURN_IF_ERROR(check("--lists", options.lists, 1'000, 100'000'000));
  LS_RETURN_IF_ERROR(check("--items", options.items_per_list, kWireRowsRead, 1'000));
  LS_RETURN_IF_ERROR(check("--value-bytes", options.value_bytes, 8, 65'487));
  LS_RETURN_IF_ERROR(check("--connections", options.connections, 1, 1'000));
  LS_RETURN_IF_ERROR(check("--rounds", static_cast<uint64_t>(options.rounds), 1, 1'000));
  if (!(options.seconds > 0 && options.seconds <= 3'600)) {
    return absl::InvalidArgumentError("--seconds must be above 0, at most 3600");
  }
  if (!(options.rate >= 0 && options.rate <= kRateMax)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--rate is ", options.rate, ", must be from 0 to ", kRateMax));
  }
  if (options.via.empty() && (options.unchecked || options.server_pid != 0)) {
    return absl::InvalidArgumentError(
        "--unchecked and --server-pid are for a server that is there (--via): its own is known and "
        "must be right");
  }
  if (options.quick) {
    options.lists = std::min(options.lists, kQuickServerLists);
    options.seconds = std::min(options.seconds, kQuickSeconds);
    options.rounds = 1;
  }
  return options;
}

uint64_t PopulatedBytes(const BenchWireOptions& options) {
  if (options.populate_bytes) return *options.populate_bytes;
  return PopulatedBytesFor(options.lists, options.items_per_list, options.value_bytes);
}

absl::Status CheckRoom(const BenchWireOptions& options, uint64_t populated_bytes) {
  if (options.populate_bytes) {
    return CheckServerRoom(populated_bytes, absl::StrCat("--populate is ", populated_bytes, ","));
  }
  const absl::Status status = CheckServerRoom(
      populated_bytes, absl::StrCat(options.lists, " lists of ", options.items_per_list,
                                    " values of ", options.value_bytes, " bytes want ",
                                    populated_bytes, " bytes populated, twice what they take:"));
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat(status.message(),
                   ". Ask for less by --lists, --items or --value-bytes, or for fewer by "
                   "--populate"));
}

class WireBench {
 public:
  explicit WireBench(const BenchWireOptions& options)
      : progress_(StepsOf(options)),
        items_(SystemClock::Instance().NowNanos(), options.items_per_list,
               static_cast<size_t>(options.value_bytes)),
        lists_(items_, options.lists, options.items_per_list) {
    report_.options = options;
    report_.machine = ReadMachineFacts();
  }
  const WireReport& report() const { return report_; }

  absl::Status Run() {
    LS_RETURN_IF_ERROR(Connect());
    LS_RETURN_IF_ERROR(Load());
    for (size_t kind = 0; kind < std::size(kWireKinds); ++kind) {
      LS_RETURN_IF_ERROR(MeasureKind(kind));
    }
    if (report_.options.tls.IsWanted()) LS_RETURN_IF_ERROR(MeasureHandshakes());
    LS_RETURN_IF_ERROR(MeasureAtRate());
    return report_.options.unchecked ? absl::OkStatus() : ReadBack();
  }

 private:
  static size_t StepsOf(const BenchWireOptions& options) {
    const bool is_beside_plain = options.tls.IsWanted() && options.via.empty();
    const size_t kinds = std::size(kWireKinds) + (options.tls.IsWanted() ? 1 : 0) +
                         (is_beside_plain ? std::size(kPlainWireKinds) : 0);
    return kinds * static_cast<size_t>(options.rounds) + 1;
  }
  void Step(std::string_view name, int round) {
    progress_.Step(absl::StrFormat("%s, round %d of %d", std::string(name), round + 1,
                                   report_.options.rounds));
  }

  absl::Status Connect() {
    report_.cores = ChooseWireCores();
    report_.server = report_.options.via;
    if (report_.server.empty()) {
      report_.populated_bytes = PopulatedBytes(report_.options);
      LS_RETURN_IF_ERROR(CheckRoom(report_.options, report_.populated_bytes));
      LS_RETURN_IF_ERROR(StartServer());
    }
    PinToCore(report_.cores.client);
    const uint32_t connections = report_.options.connections;
    LS_RETURN_IF_ERROR(ConnectAll(report_.server, report_.options.tls, connections, clients_));
    if (process_ != nullptr && report_.options.tls.IsWanted()) {
      LS_RETURN_IF_ERROR(ConnectAll(process_->address(), {}, connections, plain_clients_));
    }
    std::vector<std::string> schema = ListModelSchema();
    if (report_.options.no_index) schema.pop_back();
    for (const std::string& statement : schema) {
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

  absl::Status StartServer() {
    ClientTlsOptions& tls = report_.options.tls;
    if (!tls.IsWanted()) {
      LS_ASSIGN_OR_RETURN(process_,
                          ServerProcess::Start(report_.cores.server, report_.populated_bytes));
      report_.server = process_->address();
      return absl::OkStatus();
    }
    if (!tls.ca_file.empty() || !tls.certificate_file.empty() || !tls.key_file.empty()) {
      return absl::InvalidArgumentError(
          "--tls-ca, --tls-certificate and --tls-key are for a server that is there (--via): its "
          "own has a certificate for the occasion");
    }
    LS_ASSIGN_OR_RETURN(certificate_, ThrowawayCertificate::Make());
    tls.ca_file = certificate_->path();
    LS_ASSIGN_OR_RETURN(
        process_,
        ServerProcess::Start(report_.cores.server, report_.populated_bytes, "/proc/self/exe",
                             {"--tls-certificate", certificate_->path()}));
    report_.server = process_->tls_address();
    return absl::OkStatus();
  }

  void SayRate(std::string_view name, double rate) {
    progress_.Say(absl::StrFormat("%-20s %12.0f/s", std::string(name), rate));
  }

  // Where SELECTs are measured without TLS too, the two take turns.
  absl::Status MeasureKind(size_t number) {
    WireLine& line = report_.lines.emplace_back();
    line.kind = kWireKinds[number];
    WireLine* plain = nullptr;
    if (!plain_clients_.empty() && number < std::size(kPlainWireKinds)) {
      plain = &report_.plain_lines.emplace_back();
      plain->kind = kPlainWireKinds[number];
    }
    // They are there for this line alone: the others are measured beside no idle ones.
    CqlLoadTarget::Clients more;
    if (line.kind.connections > 0) {
      LS_RETURN_IF_ERROR(
          ConnectAll(report_.server, report_.options.tls, line.kind.connections, more));
    }
    const CqlLoadTarget::Clients& clients = more.empty() ? clients_ : more;
    for (int round = 0; round < report_.options.rounds; ++round) {
      Step(line.kind.name, round);
      LS_RETURN_IF_ERROR(Measure(clients, line, static_cast<uint64_t>(round)));
      if (plain == nullptr) continue;
      Step("the same, plain", round);
      LS_RETURN_IF_ERROR(Measure(plain_clients_, *plain, static_cast<uint64_t>(round)));
    }
    SayRate(line.kind.name, Median(line.rates));
    if (plain != nullptr) SayRate(plain->kind.name, Median(plain->rates));
    return absl::OkStatus();
  }

  absl::Status MeasureHandshakes() {
    HandshakeLine& line = report_.handshakes;
    for (int round = 0; round < report_.options.rounds; ++round) {
      Step("handshakes", round);
      const uint64_t server_begin = ServerNanos();
      const int64_t begin = SteadyNanos();
      const int64_t end = begin + static_cast<int64_t>(report_.options.seconds * 1e9);
      int64_t now = begin;
      int count = 0;
      for (; now < end && count < kHandshakesMax; ++count) {
        LS_RETURN_IF_ERROR(ClientSocket::Connect(report_.server, report_.options.tls).status());
        const int64_t done = SteadyNanos();
        line.latency.Record(static_cast<uint64_t>(done - now));
        now = done;
      }
      const double seconds = static_cast<double>(now - begin) * 1e-9;
      const uint64_t spent = ServerNanos() - server_begin;
      line.rates.push_back(count / seconds);
      if (spent == 0) continue;
      line.server_shares.push_back(static_cast<double>(spent) * 1e-9 / seconds);
      line.core_rates.push_back(count / (static_cast<double>(spent) * 1e-9));
    }
    SayRate("handshakes", Median(line.rates));
    return absl::OkStatus();
  }

  // 0: it is somewhere else.
  pid_t ServerPid() const {
    return process_ == nullptr ? report_.options.server_pid : process_->pid();
  }
  uint64_t ServerNanos() const { return ServerPid() == 0 ? 0 : ProcessCpuNanos(ServerPid()); }

  absl::Status Load() {
    const BenchWireOptions& options = report_.options;
    progress_.Say(
        absl::StrFormat("loading %d lists of %d items", options.lists, options.items_per_list));
    const WaitingLine waiting("loading");
    LS_RETURN_IF_ERROR(LoadOverWire(clients_, lists_, insert_, &report_.load_seconds));
    if (ServerPid() != 0) report_.resident_bytes = ProcessResidentBytes(ServerPid());
    return absl::OkStatus();
  }

  absl::Status Measure(const CqlLoadTarget::Clients& clients, WireLine& line, uint64_t round) {
    const uint64_t seed = report_.options.seed + 1'000 * round + line.kind.in_flight;
    const ListPicker picker(lists_.count(), false, seed);
    if (line.kind.is_insert) {
      InsertSource source(lists_, insert_, picker);
      return MeasureSource(clients, source, line);
    }
    SelectSource source(lists_, select_, clients.size() * line.kind.in_flight, picker,
                        !report_.options.unchecked);
    LS_RETURN_IF_ERROR(MeasureSource(clients, source, line));
    report_.verified += source.verified();
    line.reply_bytes = source.body_bytes();
    return absl::OkStatus();
  }

  absl::Status MeasureSource(const CqlLoadTarget::Clients& clients, WireSource& source,
                             WireLine& line) {
    CqlLoadTarget target(clients, line.kind.in_flight, {&source});
    const auto server_nanos = [this] { return ServerNanos(); };
    return MeasureWireLine(target, report_.options.seconds, server_nanos, &line);
  }

  // Lists of even numbers are read and those of odd ones added to: what a read finds is known.
  absl::Status MeasureAtRate() {
    const BenchWireOptions& options = report_.options;
    const double rate =
        options.rate > 0 ? options.rate : OpenRateFor(Median(report_.lines.front().rates));
    SelectSource selects(lists_, select_, clients_.size() * kOpenInFlight,
                         ListPicker(lists_.count(), false, options.seed + 1, 2, 0),
                         !options.unchecked);
    InsertSource inserts(lists_, insert_,
                         ListPicker(lists_.count(), false, options.seed + 2, 2, 1));
    CqlLoadTarget target(clients_, kOpenInFlight, {&selects, &inserts});
    progress_.Step(absl::StrFormat("%.0f requests a second, each at its instant, %d times %g s",
                                   rate, options.rounds, options.seconds));
    LS_RETURN_IF_ERROR(MeasureOpenLoop(target, ServerPid(), rate, options.seconds, options.rounds,
                                       report_.cores, &report_.open));
    report_.verified += selects.verified();
    SayRate("open loop, 95:5", report_.open.achieved);
    return absl::OkStatus();
  }

  // What was inserted is there.
  absl::Status ReadBack() {
    constexpr size_t kLimit = 1'000;
    ListPicker picker(lists_.count(), false, report_.options.seed);
    const std::string limit = CqlInt(kLimit);
    for (uint64_t i = 0; i < std::min(kWireListsReadBack, lists_.count()); ++i) {
      const uint32_t list = picker.Next();
      const std::string entity_id = EntityIdOfList(list);
      const std::string_view values[] = {kWireFeatureKey, entity_id, kWireZeroBound, limit};
      CqlRows rows;
      LS_RETURN_IF_ERROR(
          clients_[0]->Execute("reading back", select_, values, {.skip_metadata = true}, &rows));
      LS_RETURN_IF_ERROR(CheckWireRows(lists_, list, rows, kLimit));
      ++report_.verified;
    }
    return absl::OkStatus();
  }

  WireReport report_;
  BenchProgress progress_;
  const BenchItems items_;
  GrowingLists lists_;
  std::unique_ptr<ThrowawayCertificate> certificate_;
  std::unique_ptr<ServerProcess> process_;
  CqlLoadTarget::Clients clients_;
  CqlLoadTarget::Clients plain_clients_;  // with TLS, to a server of its own
  std::string insert_, select_;
};

}  // namespace

int RunBenchWire(const BenchWireOptions& options) {
  const auto resolved = Resolve(options);
  absl::Status status = resolved.status();
  if (status.ok()) {
    WireBench bench(*resolved);
    status = bench.Run();
    if (status.ok()) {
      resolved->json ? PrintWireReportJson(bench.report(), stdout)
                     : PrintWireReport(bench.report(), stdout);
      return kExitSame;
    }
  }
  absl::FPrintF(stderr, "liststore bench: %s\n", std::string(status.message()));
  return kExitFailed;
}

}  // namespace liststore
