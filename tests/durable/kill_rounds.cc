// Rounds of writing, kill -9 and starting again, with the program as its users run it. Writers of several
// connections keep a ledger of what was acknowledged; after each start everything is compared: nothing that
// was acknowledged is missing, nothing else is there, batches are there whole or not at all, views go with
// their tables. The server is killed while it writes, takes snapshots, changes segments, and starts.
//
// The data are marked, and go back to the mark, while others write; a reset that nobody answered any more was done
// everywhere or nowhere.
//
//   kill_rounds [--rounds N] [--seed N] [--dir DIR] [--mode os|periodic|sync]
//
// The number of shards and, without --mode, the mode of the commit log are others in each round: what one has written the
// next one reads. Exit status 0: all was right.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/cql/values/encode_value.h"
#include "tests/conformance/cql_session.h"
#include "tests/durable/kill_ledger.h"
#include "tests/support/kill_options.h"
#include "tests/support/raw_cql_client.h"
#include "tests/tools/program.h"

namespace liststore::testing {
namespace kill_rounds {

constexpr int kWriters = 4;
constexpr int kPartitionsOfWriter = 40;
constexpr int kRowsOfPartition = 12;
constexpr int kWindowMax = 24;
constexpr uint8_t kQueryOpcode = 0x07, kBatchOpcode = 0x0d;
constexpr uint8_t kErrorOpcode = 0x00;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "kill_rounds: FAILED: %s\n", what.c_str());
  std::exit(1);
}

// A request, and what it does if it is carried out.
struct Request {
  std::string text;
  KillChange change;
  bool counts = false;  // adds one to the writer's counter
  // A BATCH message of these, instead of the text.
  std::vector<std::string> statements = {};
};

std::string BatchBody(const std::vector<std::string>& statements) {
  std::string body(1, '\0');  // logged
  const auto put = [&body](uint64_t number, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      body.push_back(static_cast<char>(number >> shift));
    }
  };
  put(statements.size(), 2);
  for (const std::string& statement : statements) {
    put(0, 1);  // a text
    put(statement.size(), 4);
    body += statement;
    put(0, 2);  // no values
  }
  put(1, 2);  // ONE
  put(0, 1);  // no flags
  return body;
}

// Who writes by a ledger pauses while the data are marked or go back: what was answered before is before it.
class Quiet {
 public:
  std::shared_lock<std::shared_mutex> Write() {
    while (is_wanted_) std::this_thread::yield();
    return std::shared_lock(mutex_);
  }
  std::unique_lock<std::shared_mutex> Stop() {
    is_wanted_ = true;
    std::unique_lock lock(mutex_);
    is_wanted_ = false;
    return lock;
  }

 private:
  std::atomic<bool> is_wanted_ = false;
  std::shared_mutex mutex_;
};

// One connection's work. A thread.
class Writer {
 public:
  Writer(int number, uint64_t seed) : number_(number), random_(seed) {}

  void Connect(uint16_t port) {
    client_.emplace(port);
    client_->SetTimeout(60);
    if (!client_->StartUp()) Fail("a server that is ready starts up");
  }
  // Until the server is gone.
  void Work(Quiet& quiet) {
    for (bool goes_on = true; goes_on;) {
      const auto lock = quiet.Write();
      goes_on = WriteWindow();
    }
    client_.reset();
  }
  void Mark() { marked_ = known_; }
  void GoBack() { known_ = marked_; }
  // Of what was sent nobody knows what became of it: the server is gone.
  bool is_in_doubt() const { return known_.ledger.is_in_doubt() || known_.counts_in_doubt > 0; }

  std::string Compare(const KillRows& rows, int64_t counter) {
    const int64_t counted = known_.counted;
    if (counter < counted || counter > counted + known_.counts_in_doubt) {
      return "the counter is " + std::to_string(counter) + ", acknowledged were " +
             std::to_string(counted) + " and " + std::to_string(known_.counts_in_doubt) +
             " in doubt";
    }
    known_.counted = counter;
    known_.counts_in_doubt = 0;
    return known_.ledger.Compare(rows);
  }
  int number() const { return number_; }
  size_t acknowledged() const { return acknowledged_; }
  size_t refused() const { return refused_; }

 private:
  // False: the connection has ended.
  bool WriteWindow() {
    std::set<KillKey> taken;
    std::vector<Request> window(1 + random_.Below(kWindowMax));
    std::string frames;
    for (size_t i = 0; i < window.size(); ++i) {
      window[i] = Make(taken);
      frames += RawFrame{.stream = static_cast<int16_t>(i),
                         .opcode = window[i].statements.empty() ? kQueryOpcode : kBatchOpcode,
                         .body = window[i].statements.empty() ? QueryBody(window[i].text)
                                                              : BatchBody(window[i].statements)}
                    .Bytes();
    }
    std::vector<bool> answered(window.size(), false);
    size_t left = window.size();
    // What was sent may be carried out, and what is answered is, whatever ends then.
    static_cast<void>(client_->Send(frames));
    while (left > 0) {
      const std::optional<RawFrame> answer = client_->Read();
      if (!answer) break;
      const auto stream = static_cast<size_t>(answer->stream);
      answered[stream] = true;
      --left;
      if (answer->opcode == kErrorOpcode) {
        ++refused_;
        const std::string error = ErrorMessageOf(*answer);
        if (refused_ == 1) std::fprintf(stderr, "refused: %s\n", error.c_str());
        continue;
      }
      ++acknowledged_;
      known_.ledger.Note(window[stream].change);
      if (window[stream].counts) ++known_.counted;
    }
    for (size_t i = 0; i < window.size(); ++i) {
      if (answered[i]) continue;
      if (!window[i].change.empty()) known_.ledger.NoteInDoubt(window[i].change);
      if (window[i].counts) ++known_.counts_in_doubt;
    }
    return left == 0;
  }

  KillKey NewKey(std::set<KillKey>& taken) {
    while (true) {
      const KillKey key(number_ * 1000 + static_cast<int>(random_.Below(kPartitionsOfWriter)),
                        static_cast<int>(random_.Below(kRowsOfPartition)));
      if (taken.insert(key).second) return key;
    }
  }
  std::string NewValue() {
    return std::to_string(++sequence_) +
           std::string(random_.Below(random_.OneIn(8) ? 4000 : 60), 'x');
  }
  static std::string Insert(const KillKey& key, const std::string& value) {
    return "INSERT INTO kills.t (p, c, v) VALUES (" + std::to_string(key.first) + ", " +
           std::to_string(key.second) + ", '" + value + "')";
  }

  Request Make(std::set<KillKey>& taken) {
    const uint64_t kind = random_.Below(20);
    if (kind == 0) {
      return {"UPDATE kills.counts SET n = n + 1 WHERE p = " + std::to_string(number_), {}, true};
    }
    if (kind == 1) {
      return {"INSERT INTO kills.base (p, g) VALUES (" +
                  std::to_string(number_ * 100 + static_cast<int>(random_.Below(20))) + ", " +
                  std::to_string(random_.Below(5)) + ")",
              {}};
    }
    const KillKey key = NewKey(taken);
    const std::string value = NewValue();
    if (kind < 5) {
      return {"DELETE FROM kills.t WHERE p = " + std::to_string(key.first) +
                  " AND c = " + std::to_string(key.second),
              {{key, std::nullopt}}};
    }
    if (kind < 9) {
      // Over several partitions, and shards.
      Request batch{"BEGIN BATCH " + Insert(key, value), {{key, value}}};
      batch.statements.push_back(Insert(key, value));
      for (uint64_t i = 1 + random_.Below(3); i > 0; --i) {
        const KillKey more = NewKey(taken);
        const std::string other = NewValue();
        batch.text += "; " + Insert(more, other);
        batch.statements.push_back(Insert(more, other));
        batch.change.push_back({more, other});
      }
      batch.text += "; APPLY BATCH";
      if (random_.Below(2) == 0) batch.statements.clear();
      return batch;
    }
    if (kind == 9) return {Insert(key, value) + " USING TTL 1000000", {{key, value}}};
    if (kind == 10) {
      const KillKey once(key.first, kRowsOfPartition + sequence_);
      return {Insert(once, value) + " IF NOT EXISTS", {{once, value}}};
    }
    return {Insert(key, value), {{key, value}}};
  }

  const int number_;
  Random random_;
  std::optional<RawCqlClient> client_;
  struct Known {
    KillLedger ledger;
    int64_t counted = 0;
    int64_t counts_in_doubt = 0;
  };
  Known known_;
  Known marked_;
  int sequence_ = 0;
  size_t acknowledged_ = 0;
  size_t refused_ = 0;
};

// Makes, changes, fills, truncates and drops tables, one statement after the other.
class SchemaWriter {
 public:
  explicit SchemaWriter(uint64_t seed) : random_(seed) {}

  void Connect(uint16_t port) {
    client_.emplace(port);
    client_->SetTimeout(60);
    if (!client_->StartUp()) Fail("a server that is ready starts up");
  }
  void Work(Quiet& quiet) {
    for (bool goes_on = true; goes_on;) {
      const auto lock = quiet.Write();
      goes_on = Step();
    }
    client_.reset();
  }
  void Mark() { marked_ = tables_; }
  void GoBack() { tables_ = marked_; }
  bool is_in_doubt() const { return in_doubt_.has_value(); }

  // By the names of tables: the number of columns, and of rows.
  struct Table {
    int columns = 0;
    int rows = 0;
    bool operator==(const Table&) const = default;
  };
  using Tables = std::map<std::string, Table>;

  std::string Compare(const Tables& there) {
    if (in_doubt_ && there == *in_doubt_) tables_ = *in_doubt_;
    in_doubt_.reset();
    if (there == tables_) return "";
    std::string text = "tables are";
    for (const auto& [name, table] : there) text += " " + Text(name, table);
    text += ", acknowledged were";
    for (const auto& [name, table] : tables_) text += " " + Text(name, table);
    return text;
  }
  size_t acknowledged() const { return acknowledged_; }

 private:
  static std::string Text(const std::string& name, const Table& table) {
    return name + "(" + std::to_string(table.columns) + " columns, " + std::to_string(table.rows) +
           " rows)";
  }

  bool Step() {
    Tables next = tables_;
    std::string text;
    const std::string name = "s" + std::to_string(random_.Below(4));
    const auto at = next.find(name);
    const uint64_t kind = random_.Below(8);
    if (at == next.end()) {
      text = "CREATE TABLE kills." + name + " (p int PRIMARY KEY, v int)";
      next[name] = {2, 0};
    } else if (kind == 0) {
      text = "DROP TABLE kills." + name;
      next.erase(at);
    } else if (kind == 1) {
      text = "ALTER TABLE kills." + name + " ADD c" + std::to_string(++added_) + " int";
      ++at->second.columns;
    } else if (kind == 2) {
      text = "TRUNCATE kills." + name;
      at->second.rows = 0;
    } else {
      text =
          "INSERT INTO kills." + name + " (p, v) VALUES (" + std::to_string(++inserted_) + ", 1)";
      ++at->second.rows;
    }
    in_doubt_ = next;
    const std::optional<RawFrame> answer = client_->Query(text);
    if (!answer) return false;
    if (answer->opcode == kErrorOpcode) {
      std::fprintf(stderr, "refused: %s: %s\n", text.c_str(), ErrorMessageOf(*answer).c_str());
    } else {
      tables_ = next;
      ++acknowledged_;
    }
    in_doubt_.reset();
    return true;
  }

  Random random_;
  std::optional<RawCqlClient> client_;
  Tables tables_;
  Tables marked_;
  std::optional<Tables> in_doubt_;
  int added_ = 0;
  int inserted_ = 0;
  size_t acknowledged_ = 0;
};

// Writes without a ledger, and so through marks and resets too: a table and its view.
class NoiseWriter {
 public:
  explicit NoiseWriter(uint64_t seed) : random_(seed) {}

  void Work(uint16_t port) {
    RawCqlClient client(port);
    client.SetTimeout(60);
    if (!client.StartUp()) return;
    while (client.Query("INSERT INTO kills.base (p, g) VALUES (" +
                        std::to_string(1000 + random_.Below(50)) + ", " +
                        std::to_string(random_.Below(5)) + ")")) {
    }
  }

 private:
  Random random_;
};

// Marks the data and goes back.
class Marker {
 public:
  explicit Marker(uint64_t seed) : random_(seed) {}

  // What is acknowledged is told; until the server is gone.
  template <typename Mark, typename GoBack, typename IsInDoubt>
  void Work(uint16_t port, Quiet& quiet, Mark&& mark, GoBack&& go_back, IsInDoubt&& is_in_doubt) {
    RawCqlClient client(port);
    client.SetTimeout(60);
    if (!client.StartUp()) return;
    bool has_mark = false;  // marks end with the server
    while (true) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_.Below(15'000)));
      const uint64_t kind = random_.Below(8);
      const std::string action = !has_mark || kind == 0 ? "mark" : kind == 1 ? "forget" : "reset";
      const auto lock = quiet.Stop();
      // Who is in doubt knows that the server is gone.
      const bool is_gone = is_in_doubt();
      const std::optional<RawFrame> answer =
          client.Query("UPDATE liststore.data SET action = '" + action + "' WHERE key = 'data'");
      if (!answer) {
        is_in_doubt_ = action == "reset" && !is_gone;
        return;
      }
      if (answer->opcode == kErrorOpcode) {
        Fail(action + " is refused: " + ErrorMessageOf(*answer));
      }
      has_mark = action != "forget";
      if (action == "mark") mark();
      if (action == "reset") go_back();
      if (action == "reset") ++resets_;
    }
  }
  // A reset was asked for, and not answered.
  bool TakeDoubt() { return std::exchange(is_in_doubt_, false); }
  size_t resets() const { return resets_; }

 private:
  Random random_;
  bool is_in_doubt_ = false;
  size_t resets_ = 0;
};

class Rounds {
 public:
  // `mode`: of the commit log; empty: another one each time.
  Rounds(uint64_t seed, std::string directory, std::string mode)
      : random_(seed),
        mode_(std::move(mode)),
        directory_(std::move(directory)),
        schema_writer_(seed + 99),
        noise_(seed + 199),
        marker_(seed + 299) {
    for (int i = 0; i < kWriters; ++i) {
      writers_.push_back(std::make_unique<Writer>(i, seed * 31 + static_cast<uint64_t>(i)));
    }
  }

  void Run(int rounds) {
    KillProgress progress;
    for (int round = 0; round < rounds; ++round) {
      if (round > 0 && random_.OneIn(3)) KillWhileStarting();
      Start();
      if (round == 0) MakeTables();
      Verify(round);
      WriteUntilKilled();
      progress.Done(round + 1, rounds);
    }
    Start();
    Verify(rounds);
    Stop();
    Start();
    Verify(rounds);
    Stop();
    Check();
    size_t acknowledged = schema_writer_.acknowledged();
    size_t refused = 0;
    for (const auto& writer : writers_) {
      acknowledged += writer->acknowledged();
      refused += writer->refused();
    }
    std::printf(
        "%d rounds, %zu acknowledged writes, %zu changes of the schema and %zu snapshots asked "
        "for, %d kills while starting, %zu resets and %zu more in doubt, of which %zu were done: "
        "nothing "
        "is missing\n",
        rounds, acknowledged, schema_writer_.acknowledged(), snapshots_, starts_killed_,
        marker_.resets(), resets_in_doubt_, resets_found_);
    if (refused > 0) Fail(std::to_string(refused) + " writes were refused");
    if (acknowledged == 0) Fail("nothing was written");
  }

 private:
  static constexpr const char* kModes[] = {"os", "periodic", "sync"};

  std::vector<std::string> Arguments() {
    return {"serve",
            "--cql-port=0",
            "--shard-aware-port=0",
            "--memory-limit=512M",
            "--data-dir=" + directory_,
            "--commit-log=" + (mode_.empty() ? std::string(kModes[random_.Below(3)]) : mode_),
            "--commit-log-segment=2M",
            "--shards=" + std::to_string(1 + random_.Below(3))};
  }

  void KillWhileStarting() {
    RunningProgram starting(Arguments());
    std::this_thread::sleep_for(std::chrono::microseconds(random_.Below(60'000)));
    starting.Signal(SIGKILL);
    starting.Wait();
    ++starts_killed_;
  }

  void Start() {
    server_ = std::make_unique<RunningProgram>(Arguments());
    const std::string ready = server_->ReadLine();
    const size_t at = ready.find("\"cql_port\":");
    if (at == std::string::npos) {
      Fail("the server does not start: " + server_->Wait().err);
    }
    port_ = static_cast<uint16_t>(std::atoi(ready.c_str() + at + 11));
  }

  void Stop() {
    server_->Signal(SIGTERM);
    const ProgramResult ended = server_->Wait();
    server_.reset();
    if (ended.exit_status != 0) Fail("the server does not stop well: " + ended.err);
  }

  void MakeTables() {
    CqlSession session(port_);
    for (const std::string text :
         {"CREATE KEYSPACE kills WITH replication = {'class': 'NetworkTopologyStrategy', "
          "'replication_factor': 1}",
          "CREATE TABLE kills.t (p int, c int, v text, PRIMARY KEY (p, c))",
          "CREATE TABLE kills.counts (p int PRIMARY KEY, n counter)",
          "CREATE TABLE kills.base (p int PRIMARY KEY, g int)",
          "CREATE MATERIALIZED VIEW kills.by_g AS SELECT * FROM kills.base WHERE g IS NOT NULL "
          "AND p IS NOT NULL PRIMARY KEY (g, p)"}) {
      Must(session, text);
    }
  }

  static CqlAnswer Must(CqlSession& session, const std::string& text,
                        const CqlParameters& parameters = {}) {
    CqlAnswer answer = session.Run({.text = text, .parameters = {}}, parameters);
    if (!answer.error.empty()) Fail(text + ": " + answer.error);
    return answer;
  }
  static std::vector<ResultRow> All(CqlSession& session, const std::string& text) {
    std::vector<ResultRow> rows;
    CqlParameters parameters;
    parameters.page_size = 500;
    while (true) {
      CqlAnswer page = Must(session, text, parameters);
      std::ranges::move(page.rows, std::back_inserter(rows));
      if (page.paging_state.empty()) return rows;
      parameters.paging_state = page.paging_state;
    }
  }
  static int Int(const std::optional<std::string>& cell) {
    return cell ? static_cast<int>(cql::DecodeInteger(*cell)) : -1;
  }

  void Verify(int round) {
    CqlSession session(port_);
    std::vector<KillRows> rows(kWriters);
    for (const ResultRow& row : All(session, "SELECT p, c, v FROM kills.t")) {
      rows[static_cast<size_t>(Int(row[0])) / 1000][{Int(row[0]), Int(row[1])}] =
          row[2].value_or("");
    }
    std::vector<int64_t> counters(kWriters, 0);
    for (const ResultRow& row : All(session, "SELECT p, n FROM kills.counts")) {
      counters[static_cast<size_t>(Int(row[0]))] = cql::DecodeInteger(*row[1]);
    }
    const auto expect_none = [&](const std::string& wrong) {
      if (wrong.empty()) return;
      server_->Signal(SIGTERM);
      Fail("round " + std::to_string(round) + ": " + wrong +
           "\nthe server said: " + server_->Wait().err);
    };
    const SchemaWriter::Tables tables = TablesOf(session);
    const auto compare = [&] {
      for (size_t i = 0; i < writers_.size(); ++i) {
        const std::string wrong = writers_[i]->Compare(rows[i], counters[i]);
        if (!wrong.empty()) return "writer " + std::to_string(i) + ": " + wrong;
      }
      return schema_writer_.Compare(tables);
    };
    std::string wrong = compare();
    if (marker_.TakeDoubt()) {
      ++resets_in_doubt_;
      if (!wrong.empty()) {
        ++resets_found_;
        GoBack();
        const std::string then = compare();
        wrong = then.empty() ? "" : "neither before a reset: " + wrong + ", nor behind: " + then;
      }
    }
    expect_none(wrong);
    const auto pairs = [&](const std::string& table) {
      std::set<std::pair<int, int>> of;
      for (const ResultRow& row : All(session, "SELECT p, g FROM kills." + table)) {
        of.emplace(Int(row[0]), Int(row[1]));
      }
      return of;
    };
    if (pairs("base") != pairs("by_g")) expect_none("the view is not as its table");
  }

  static SchemaWriter::Tables TablesOf(CqlSession& session) {
    SchemaWriter::Tables tables;
    for (const ResultRow& row :
         All(session,
             "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'kills'")) {
      if (row[0]->size() != 2) continue;  // not its own
      SchemaWriter::Table& table = tables[*row[0]];
      const std::string where = " WHERE keyspace_name = 'kills' AND table_name = '" + *row[0] + "'";
      table.columns = static_cast<int>(
          All(session, "SELECT column_name FROM system_schema.columns" + where).size());
      table.rows = static_cast<int>(All(session, "SELECT p FROM kills." + *row[0]).size());
    }
    return tables;
  }

  void WriteUntilKilled() {
    for (const auto& writer : writers_) writer->Connect(port_);
    schema_writer_.Connect(port_);
    std::vector<std::thread> threads;
    Quiet quiet;
    for (const auto& writer : writers_) {
      threads.emplace_back([&writer, &quiet] { writer->Work(quiet); });
    }
    threads.emplace_back([&] { schema_writer_.Work(quiet); });
    threads.emplace_back([this] { noise_.Work(port_); });
    if (!random_.OneIn(4)) {
      threads.emplace_back([&] {
        marker_.Work(
            port_, quiet, [this] { Mark(); }, [this] { GoBack(); }, [this] { return IsInDoubt(); });
      });
    }
    const auto wait = [&](uint64_t micros) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_.Below(micros)));
    };
    wait(120'000);
    if (random_.OneIn(2)) {
      server_->Signal(SIGUSR1);
      ++snapshots_;
      wait(40'000);
    }
    server_->Signal(SIGKILL);
    for (std::thread& thread : threads) thread.join();
    server_->Wait();
    server_.reset();
  }

  void Mark() {
    for (const auto& writer : writers_) writer->Mark();
    schema_writer_.Mark();
  }
  void GoBack() {
    for (const auto& writer : writers_) writer->GoBack();
    schema_writer_.GoBack();
  }
  bool IsInDoubt() const {
    return schema_writer_.is_in_doubt() ||
           std::ranges::any_of(writers_, [](const auto& writer) { return writer->is_in_doubt(); });
  }

  void Check() {
    const ProgramResult checked = RunProgram({"check", directory_});
    if (checked.exit_status != 0) Fail("check: " + checked.out + checked.err);
  }

  Random random_;
  const std::string mode_;
  const std::string directory_;
  std::vector<std::unique_ptr<Writer>> writers_;
  SchemaWriter schema_writer_;
  NoiseWriter noise_;
  Marker marker_;
  std::unique_ptr<RunningProgram> server_;
  uint16_t port_ = 0;
  size_t snapshots_ = 0;
  int starts_killed_ = 0;
  size_t resets_in_doubt_ = 0;
  size_t resets_found_ = 0;
};

int Main(int argc, char** argv) {
  const KillOptions options = ReadKillOptions(argc, argv);
  signal(SIGPIPE, SIG_IGN);
  const ScratchFiles files;
  // What failed stays where --dir says.
  Rounds(options.seed, options.directory.empty() ? files.Path("data") : options.directory,
         options.mode)
      .Run(options.rounds);
  return 0;
}

}  // namespace kill_rounds
}  // namespace liststore::testing

int main(int argc, char** argv) { return liststore::testing::kill_rounds::Main(argc, argv); }
