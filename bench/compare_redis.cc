// Measures a Redis server the way `liststore bench wire` measures ours: the same lists, the same
// kinds of requests, as many connections and as many under way, one thread on a core of its own.
// bench/compare starts the server and runs this beside ours.
#include <sys/types.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/load/closed_load.h"
#include "bench/load/open_load.h"
#include "bench/load/server_process.h"
#include "bench/measure/growing_lists.h"
#include "bench/measure/median.h"
#include "bench/measure/workload.h"
#include "bench/peers/redis_client.h"
#include "bench/peers/redis_lists.h"
#include "bench/peers/redis_load_target.h"
#include "bench/wire/wire_line.h"
#include "engine/base/status_macros.h"
#include "liststore/clock.h"
#include "programs/console/command_line.h"
#include "programs/console/exit_codes.h"
#include "programs/console/json_line.h"

namespace liststore {
namespace {

constexpr size_t kLoadInFlight = 4;  // lists of a connection

constexpr char kHelp[] =
    R"(The server must be empty, listen on 127.0.0.1 and need no password. Prints one line of JSON with the keys
of `liststore bench wire --json`; used_memory_bytes is what Redis counts for the lists themselves.

Example:
  redis-server --port 7777 --save '' --appendonly no &
  compare_redis --port 7777 --server-pid $!

Exit status: 0; 2 the server cannot be used or an answer was wrong.)";

struct Options {
  uint16_t port = 0;
  pid_t server_pid = 0;  // 0: its time on its core and its memory are not known
  uint64_t lists = 1'000'000;
  uint64_t items_per_list = 20;
  uint64_t value_bytes = 24;
  uint32_t connections = 8;
  double seconds = 2.0;
  int rounds = 1;
  uint64_t seed = 1;
};

// The value of `name:` in what INFO says.
std::string InfoField(std::string_view info, std::string_view name) {
  const std::string wanted = "\n" + std::string(name) + ":";
  const size_t at = info.find(wanted);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = info.substr(at + wanted.size());
  return std::string(rest.substr(0, rest.find_first_of("\r\n")));
}

class RedisBench {
 public:
  explicit RedisBench(const Options& options)
      : options_(options),
        items_(SystemClock::Instance().NowNanos(), options.items_per_list,
               static_cast<size_t>(options.value_bytes)),
        lists_(items_, options.lists, options.items_per_list) {}

  absl::Status Run() {
    LS_RETURN_IF_ERROR(Connect());
    LS_RETURN_IF_ERROR(Load());
    for (const WireKind& kind : kWireKinds) {
      WireLine& line = lines_.emplace_back();
      line.kind = kind;
      for (int round = 0; round < options_.rounds; ++round) {
        LS_RETURN_IF_ERROR(Measure(line, static_cast<uint64_t>(round)));
      }
      absl::FPrintF(stderr, "%-20s %12.0f/s\n", kind.name, Median(line.rates));
    }
    LS_RETURN_IF_ERROR(MeasureAtRate());
    return ReadBack();
  }

  void PrintJson() const {
    JsonLine json;
    json.Text("server", "redis " + version_);
    json.Count("lists", options_.lists);
    json.Count("items_per_list", options_.items_per_list);
    json.Count("value_bytes", options_.value_bytes);
    json.Count("connections", options_.connections);
    json.Add("seconds", options_.seconds);
    json.Count("rounds", static_cast<uint64_t>(options_.rounds));
    json.Count("seed", options_.seed);
    json.Add("load_seconds", load_seconds_);
    json.Count("server_resident_bytes", resident_bytes_);
    json.Count("used_memory_bytes", used_memory_bytes_);
    for (const WireLine& line : lines_) AddWireLine(line, &json);
    AddOpenRun(open_, &json);
    json.Count("replies_verified", verified_);
    absl::FPrintF(stdout, "%s\n", json.Finish());
  }

 private:
  absl::Status Connect() {
    PinToCore(ChooseWireCores().client);
    for (uint32_t i = 0; i < options_.connections; ++i) {
      LS_ASSIGN_OR_RETURN(std::unique_ptr<RedisClient> client, RedisClient::Connect(options_.port));
      clients_.push_back(std::move(client));
    }
    LS_ASSIGN_OR_RETURN(const RedisReply* reply, Ask({"DBSIZE"}));
    if (reply->kind != RedisReply::Kind::kInteger || reply->integer != 0) {
      return absl::FailedPreconditionError(absl::StrCat("127.0.0.1:", options_.port, " holds ",
                                                        reply->integer, " keys; it must be empty"));
    }
    LS_ASSIGN_OR_RETURN(reply, Ask({"INFO", "server"}));
    version_ = InfoField(reply->text, "redis_version");
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> UsedMemory() {
    LS_ASSIGN_OR_RETURN(const RedisReply* reply, Ask({"INFO", "memory"}));
    const std::string text = InfoField(reply->text, "used_memory");
    uint64_t bytes = 0;
    std::from_chars(text.data(), text.data() + text.size(), bytes);
    return bytes;
  }

  absl::Status Load() {
    absl::FPrintF(stderr, "loading %d sorted sets of %d members\n", options_.lists,
                  options_.items_per_list);
    LS_ASSIGN_OR_RETURN(const uint64_t used_before, UsedMemory());
    RedisLoadSource source(lists_);
    RedisLoadTarget target(clients_, kLoadInFlight, {&source});
    ClosedRun run;
    LS_RETURN_IF_ERROR(ClosedLoad(target).Run(0, nullptr, &run));
    load_seconds_ = run.seconds;
    LS_ASSIGN_OR_RETURN(const uint64_t used_after, UsedMemory());
    used_memory_bytes_ = used_after - std::min(used_after, used_before);
    if (options_.server_pid > 0) resident_bytes_ = ProcessResidentBytes(options_.server_pid);
    return absl::OkStatus();
  }

  absl::Status Measure(WireLine& line, uint64_t round) {
    const uint64_t seed = options_.seed + 1'000 * round + line.kind.in_flight;
    const ListPicker picker(lists_.count(), false, seed);
    if (line.kind.is_insert) {
      RedisInsertSource source(lists_, picker);
      return MeasureSource(source, line);
    }
    RedisSelectSource source(lists_, clients_.size() * line.kind.in_flight, picker);
    LS_RETURN_IF_ERROR(MeasureSource(source, line));
    verified_ += source.verified();
    return absl::OkStatus();
  }

  absl::Status MeasureSource(RedisSource& source, WireLine& line) {
    RedisLoadTarget target(clients_, line.kind.in_flight, {&source});
    const auto server_nanos = [this] {
      return options_.server_pid > 0 ? ProcessCpuNanos(options_.server_pid) : 0;
    };
    return MeasureWireLine(target, options_.seconds, server_nanos, &line);
  }

  // As ours: lists of even numbers are read and those of odd ones added to.
  absl::Status MeasureAtRate() {
    const double rate = OpenRateFor(Median(lines_.front().rates));
    RedisSelectSource selects(lists_, clients_.size() * kOpenInFlight,
                              ListPicker(lists_.count(), false, options_.seed + 1, 2, 0));
    RedisInsertSource inserts(lists_, ListPicker(lists_.count(), false, options_.seed + 2, 2, 1));
    RedisLoadTarget target(clients_, kOpenInFlight, {&selects, &inserts});
    LS_RETURN_IF_ERROR(MeasureOpenLoop(target, options_.server_pid, rate, options_.seconds,
                                       options_.rounds, ChooseWireCores(), &open_));
    verified_ += selects.verified();
    absl::FPrintF(stderr, "%-20s %12.0f/s\n", "open loop, 95:5", open_.achieved);
    return absl::OkStatus();
  }

  // What was added is there, and nothing else.
  absl::Status ReadBack() {
    ListPicker picker(lists_.count(), false, options_.seed);
    for (uint64_t i = 0; i < std::min(kWireListsReadBack, lists_.count()); ++i) {
      const uint32_t list = picker.Next();
      LS_ASSIGN_OR_RETURN(const RedisReply* reply,
                          Ask({"ZREVRANGE", RedisKeyOfList(list), "0", "-1"}));
      LS_RETURN_IF_ERROR(CheckRedisMembers(lists_, list, *reply, SIZE_MAX));
      ++verified_;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<const RedisReply*> Ask(const std::vector<std::string>& arguments) {
    const std::vector<std::string_view> views(arguments.begin(), arguments.end());
    return clients_[0]->Ask(views);
  }

  const Options options_;
  const BenchItems items_;
  GrowingLists lists_;
  RedisLoadTarget::Clients clients_;
  std::string version_;
  double load_seconds_ = 0;
  uint64_t resident_bytes_ = 0;
  uint64_t used_memory_bytes_ = 0;
  uint64_t verified_ = 0;
  std::vector<WireLine> lines_;
  OpenRun open_;
};

int Measure(const Options& options) {
  RedisBench bench(options);
  const absl::Status status = bench.Run();
  if (!status.ok()) {
    absl::FPrintF(stderr, "compare_redis: %s\n", std::string(status.message()));
    return kExitFailed;
  }
  bench.PrintJson();
  return kExitSame;
}

int Main(int argc, char** argv) {
  Options options;
  CommandLine line("Measures a Redis server as `liststore bench wire` measures ours",
                   "compare_redis");
  const Subcommand program = line.program();
  program.Footer(kHelp);
  const auto number = [&program]<typename Number>(const char* name, Number* field, const char* text,
                                                  auto low, auto high) {
    return program.Number(name, field, text)
        .Within(static_cast<Number>(low), static_cast<Number>(high));
  };
  number("--port", &options.port, "The server's port on 127.0.0.1", 1, 65'535).Required();
  number("--server-pid", &options.server_pid, "The server, for its time on its core", 0, 1 << 30);
  number("--lists", &options.lists, "Lists on the server", 1'000, 100'000'000);
  number("--items", &options.items_per_list, "Items in each list", kWireRowsRead, 1'000);
  number("--value-bytes", &options.value_bytes, "Length of a value", 8, 65'487);
  number("--connections", &options.connections, "Connections", 1, 1'000);
  number("--seconds", &options.seconds, "Length of one measurement", 0.001, 3'600.0);
  number("--rounds", &options.rounds, "Measurements of each kind", 1, 1'000);
  number("--seed", &options.seed, "Seed of the order", 0, 1 << 30);
  program.Runs([&options] { return Measure(options); });
  return line.Run(argc, argv);
}

}  // namespace
}  // namespace liststore

int main(int argc, char** argv) { return liststore::Main(argc, argv); }
