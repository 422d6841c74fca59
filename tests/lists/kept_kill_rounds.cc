// Rounds of writing to a store with a data directory, kill -9 and opening it again. Threads write lists of
// their own, and note before and after each call, in memory that outlives their process, which call it is. After
// each start everything is compared: nothing that returned is missing, nothing else is there, and what had
// not returned is there whole or not at all. The process is killed while it writes, takes snapshots, changes
// segments, opens the directory and closes it.
//
//   kept_kill_rounds [--rounds N] [--seed N] [--mode os|periodic|sync] [--dir DIR]
//
// Without --mode it is another one in each round, and the number of shards always is: what one has written
// the next one reads. Exit status 0: all was right.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "liststore/list_store.h"
#include "tests/support/kill_options.h"
#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace kept_kill_rounds {

constexpr size_t kThreads = 4;
constexpr uint64_t kListsOfThread = 20;
constexpr int64_t kTtlSeconds = 30 * 86'400;
constexpr size_t kVersions = 2;
constexpr std::array<std::string_view, kVersions> kVersionNames = {"", "v2"};

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "kept_kill_rounds: FAILED: %s\n", what.c_str());
  std::exit(1);
}

// What a thread knows to be there. Only it writes to its feature.
struct Model {
  bool has_feature = false;
  std::array<bool, kVersions> has_version = {};
  // By version and number of the list; items by their time, which comes once.
  std::array<std::map<uint64_t, std::map<uint64_t, std::string>>, kVersions> lists;

  bool operator==(const Model&) const = default;
};

// One call, the same each time that it is asked for.
struct Call {
  enum class Kind : uint8_t {
    kCreate,
    kCreateVersion,
    kDelete,
    kDeleteVersion,
    kAdd,
    kAddMulti,
    kPut,
    kForget,
    kRemoveValue,
    kRemoveAll,
  };
  struct Items {
    uint64_t list = 0;
    std::vector<std::pair<uint64_t, std::string>> items;
  };
  Kind kind = Kind::kAdd;
  size_t version = 0;
  std::vector<Items> lists;
  std::string value;
};

std::string FeatureOf(size_t thread) { return "f" + std::to_string(thread); }

class Calls {
 public:
  Calls(uint64_t seed, uint64_t begin_nanos) : seed_(seed), begin_nanos_(begin_nanos) {}

  Call Make(size_t thread, uint64_t index) const {
    Random random(seed_ * 1'000'003 + index * kThreads + thread);
    using Kind = Call::Kind;
    Call call;
    call.version = random.OneIn(4) ? 1 : 0;
    const uint64_t kind = random.Below(200);
    if (index == 0 || kind < 8) {
      call.kind = Kind::kCreate;
    } else if (kind < 16) {
      call.kind = Kind::kCreateVersion;
    } else if (kind == 16) {
      call.kind = Kind::kDelete;
    } else if (kind < 19) {
      call.kind = Kind::kDeleteVersion;
    } else if (kind < 30) {
      call.kind = Kind::kRemoveAll;
    } else if (kind < 35) {
      call.kind = Kind::kForget;
    } else if (kind < 55) {
      call.kind = Kind::kRemoveValue;
      call.value = CommonValue(random);
    } else if (kind < 75) {
      call.kind = Kind::kPut;
    } else if (kind < 100) {
      call.kind = Kind::kAddMulti;
    }
    uint64_t nanos = begin_nanos_ + index * 64;
    const uint64_t lists = call.kind == Kind::kAddMulti ? 1 + random.Below(4) : 1;
    for (uint64_t i = 0; i < lists; ++i) {
      Call::Items& of = call.lists.emplace_back();
      of.list = random.Below(kListsOfThread);
      const uint64_t items = random.Below(call.kind == Kind::kPut ? 6 : 3) + 1;
      for (uint64_t item = 0; item < items; ++item) {
        of.items.emplace_back(nanos++, random.OneIn(2) ? CommonValue(random)
                                                       : std::to_string(index) + Padding(random));
      }
    }
    return call;
  }

 private:
  static std::string CommonValue(Random& random) {
    return "common" + std::to_string(random.Below(8));
  }
  static std::string Padding(Random& random) {
    const uint64_t bytes = random.Below(random.OneIn(20) ? 8'000 : 40);
    return std::string(bytes, 'x');
  }

  const uint64_t seed_;
  const uint64_t begin_nanos_;
};

void Apply(const Call& call, Model& model) {
  using Kind = Call::Kind;
  const bool is_there = model.has_feature && model.has_version[call.version];
  auto& lists = model.lists[call.version];
  switch (call.kind) {
    case Kind::kCreate:
      if (!model.has_feature) model = {.has_feature = true, .has_version = {true}, .lists = {}};
      break;
    case Kind::kCreateVersion:
      if (model.has_feature) model.has_version[call.version] = true;
      break;
    case Kind::kDelete:
      model = {};
      break;
    case Kind::kDeleteVersion:
      model.has_version[call.version] = false;
      lists.clear();
      break;
    case Kind::kPut:
      if (is_there) lists.erase(call.lists[0].list);
      [[fallthrough]];
    case Kind::kAdd:
    case Kind::kAddMulti:
      if (!is_there) break;
      for (const Call::Items& of : call.lists) {
        for (const auto& [nanos, value] : of.items) lists[of.list][nanos] = value;
      }
      break;
    case Kind::kForget:
    case Kind::kRemoveAll:
      lists.erase(call.lists[0].list);
      break;
    case Kind::kRemoveValue: {
      const auto at = lists.find(call.lists[0].list);
      if (at == lists.end()) break;
      std::erase_if(at->second, [&](const auto& item) { return item.second == call.value; });
      if (at->second.empty()) lists.erase(at);
      break;
    }
  }
}

// What may be there after a call that has not returned.
std::vector<Model> Outcomes(const Model& before, const std::optional<Call>& call) {
  std::vector<Model> outcomes = {before};
  if (!call) return outcomes;
  using Kind = Call::Kind;
  // Lists go before their versions: docs/durability.md.
  for (size_t version = 0; version < kVersions; ++version) {
    const bool goes = call->kind == Kind::kDelete ||
                      (call->kind == Kind::kDeleteVersion && call->version == version);
    if (!goes || !before.has_version[version]) continue;
    Model partly = outcomes.back();
    partly.lists[version].clear();
    outcomes.push_back(std::move(partly));
  }
  Model after = before;
  Apply(*call, after);
  outcomes.push_back(std::move(after));
  return outcomes;
}

// An error says that there was no feature or version, or that there was.
void Execute(ListStore& store, size_t thread, const Call& call) {
  using Kind = Call::Kind;
  const std::string feature = FeatureOf(thread);
  const std::string_view version = kVersionNames[call.version];
  std::vector<std::string> ids;
  std::vector<std::vector<NewItem>> items;
  for (const Call::Items& of : call.lists) {
    ids.push_back(std::to_string(of.list));
    auto& new_items = items.emplace_back();
    for (const auto& [nanos, value] : of.items) new_items.push_back({nanos, value});
  }
  const ListId list{"user", feature, version, ids[0]};
  absl::Status status;
  switch (call.kind) {
    case Kind::kCreate:
      status = store.CreateListFeature("user", feature, kTtlSeconds);
      break;
    case Kind::kCreateVersion:
      status = store.CreateListFeatureVersion("user", feature, version);
      break;
    case Kind::kDelete:
      status = store.DeleteListFeature("user", feature);
      break;
    case Kind::kDeleteVersion:
      status = store.DeleteListFeatureVersion("user", feature, version);
      break;
    case Kind::kAdd:
      status = store.AddListItems(list, items[0]).status();
      break;
    case Kind::kAddMulti: {
      std::vector<ListAddition> additions;
      for (size_t i = 0; i < ids.size(); ++i) {
        additions.push_back({ListId{"user", feature, version, ids[i]}, items[i]});
      }
      status = store.AddListItemsMulti(additions).status();
      break;
    }
    case Kind::kPut:
      status = store.PutList(list, items[0]).status();
      break;
    case Kind::kForget:
      status = store.ForgetList(list).status();
      break;
    case Kind::kRemoveValue:
      status = store.RemoveListItemsWithValue(list, call.value).status();
      break;
    case Kind::kRemoveAll:
      status = store.RemoveAllListItems(list).status();
      break;
  }
  if (!status.ok() && !absl::IsNotFound(status) && !absl::IsAlreadyExists(status)) {
    Fail("a call of kind " + std::to_string(static_cast<int>(call.kind)) + ": " +
         status.ToString());
  }
}

// What both processes see.
struct Shared {
  enum Phase : int {
    kOpening,
    kCompared,
    kClosed
  };

  std::atomic<int> phase = kOpening;
  std::atomic<bool> stops = false;
  std::array<std::atomic<uint64_t>, kThreads> begun = {};     // calls of a thread
  std::array<std::atomic<uint64_t>, kThreads> returned = {};  // of these
  std::array<std::atomic<size_t>, kThreads> outcome = {};     // of those in doubt
  std::atomic<uint64_t> snapshots = 0;
};

// What a thread's feature has.
Model Find(const ListStore& store, size_t thread) {
  Model found;
  for (const ListFeatureInfo& info : store.ListFeatures()) {
    if (info.feature != FeatureOf(thread)) continue;
    found.has_feature = true;
    for (const ListFeatureVersionInfo& version : info.versions) {
      found.has_version[version.version.empty() ? 0 : 1] = true;
    }
  }
  for (size_t version = 0; version < kVersions; ++version) {
    std::vector<std::string> ids;
    const absl::Status listed = store.ForEachList("user", FeatureOf(thread), kVersionNames[version],
                                                  [&](std::string_view id) {
                                                    ids.emplace_back(id);
                                                    return true;
                                                  });
    if (!listed.ok()) Fail(listed.ToString());
    for (const std::string& id : ids) {
      ListItems items;
      const absl::Status read =
          store.GetListItems(ListId{"user", FeatureOf(thread), kVersionNames[version], id},
                             {.limit = SIZE_MAX}, &items);
      if (!read.ok()) Fail(read.ToString());
      auto& list = found.lists[version][std::strtoull(id.c_str(), nullptr, 10)];
      for (const ListItemView item : items) list[item.timestamp_nanos] = std::string(item.value);
    }
  }
  return found;
}

std::string DifferenceOf(const Model& expected, const Model& found) {
  std::string text = expected.has_feature == found.has_feature ? "" : "the feature; ";
  for (size_t version = 0; version < kVersions; ++version) {
    if (expected.has_version[version] != found.has_version[version]) text += "a version; ";
    for (uint64_t list = 0; list < kListsOfThread; ++list) {
      const auto items = [&](const Model& model) {
        const auto at = model.lists[version].find(list);
        return at == model.lists[version].end() ? std::map<uint64_t, std::string>() : at->second;
      };
      const auto wanted = items(expected);
      const auto there = items(found);
      if (wanted == there) continue;
      text += "list " + std::to_string(list) + " of version " + std::to_string(version) + ": " +
              std::to_string(wanted.size()) + " items returned, " + std::to_string(there.size()) +
              " are there; ";
    }
  }
  return text;
}

class Rounds {
 public:
  Rounds(uint64_t seed, std::string directory, std::optional<CommitLog> mode)
      : random_(seed),
        directory_(std::move(directory)),
        mode_(mode),
        calls_(seed, SystemClock::Instance().NowNanos()) {
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) Fail("there is no memory for two processes");
    shared_ = new (memory) Shared();
  }

  void Run(int rounds) {
    KillProgress progress;
    for (int round = 0; round < rounds; ++round) {
      if (random_.OneIn(3)) RunProcess(End::kWhileOpening);
      RunProcess(random_.OneIn(8)   ? End::kCloses
                 : random_.OneIn(8) ? End::kWhileClosing
                                    : End::kWhileWriting);
      progress.Done(round + 1, rounds);
    }
    RunProcess(End::kCloses);
    RunProcess(End::kCloses);
    // Those in doubt have been counted with them.
    uint64_t returned = 0 - static_cast<uint64_t>(doubts_);
    for (const auto& of_thread : shared_->returned) returned += of_thread;
    std::printf(
        "%d rounds, %llu calls returned, %llu snapshots, killed %d times while opening, %d while "
        "writing and %d while closing, %d closed; of %d calls in doubt %d are there, %d in part: "
        "nothing is missing\n",
        rounds, static_cast<unsigned long long>(returned),
        static_cast<unsigned long long>(shared_->snapshots.load()), ends_[0], ends_[1], ends_[2],
        ends_[3], doubts_, doubts_done_, doubts_in_part_);
    if (returned == 0) Fail("nothing was written");
  }

 private:
  enum class End : size_t {
    kWhileOpening,
    kWhileWriting,
    kWhileClosing,
    kCloses
  };

  void Wait(uint64_t micros) {
    std::this_thread::sleep_for(std::chrono::microseconds(random_.Below(micros)));
  }

  void RunProcess(End end) {
    ++ends_[static_cast<size_t>(end)];
    shared_->phase = Shared::kOpening;
    shared_->stops = false;
    Options options;
    options.data_dir = directory_;
    options.memory_limit_bytes = uint64_t{256} << 20;
    options.shards = static_cast<uint32_t>(1 + random_.Below(3));
    options.commit_log =
        mode_ ? *mode_ : static_cast<CommitLog>(1 + random_.Below(3));  // with a log
    options.commit_log_segment_bytes = uint64_t{2} << 20;
    options.background_reclaim = random_.OneIn(4);
    const bool takes_snapshots = random_.OneIn(2);
    const uint64_t snapshot_micros = random_.Below(60'000);
    std::fflush(stdout);
    const pid_t process = fork();
    if (process < 0) Fail("there is no other process");
    if (process == 0) {
      Serve(options, takes_snapshots ? std::optional(snapshot_micros) : std::nullopt);
      _exit(0);
    }
    if (end != End::kWhileOpening) WaitUntilCompared(process);
    Wait(end == End::kWhileOpening ? 30'000 : 120'000);
    if (end == End::kWhileClosing || end == End::kCloses) shared_->stops = true;
    if (end == End::kWhileClosing) Wait(20'000);
    if (end != End::kCloses) kill(process, SIGKILL);
    int status = 0;
    if (waitpid(process, &status, 0) != process) Fail("the process is nowhere");
    const bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!was_killed && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
      Fail("the process ended by itself, with status " + std::to_string(status));
    }
    if (end == End::kCloses && shared_->phase != Shared::kClosed) Fail("it was not closed");
    if (shared_->phase != Shared::kOpening) Take();
  }

  void WaitUntilCompared(pid_t process) {
    while (shared_->phase == Shared::kOpening) {
      siginfo_t ended = {};
      if (waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          ended.si_pid == process) {
        return;  // whoever waits for it says why
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // What the process that has ended found, and did.
  void Take() {
    for (size_t thread = 0; thread < kThreads; ++thread) {
      Known& known = known_[thread];
      const std::vector<Model> outcomes = Outcomes(known.model, known.in_doubt);
      const size_t outcome = shared_->outcome[thread];
      if (known.in_doubt) {
        ++doubts_;
        doubts_done_ += outcome + 1 == outcomes.size();
        doubts_in_part_ += outcome != 0 && outcome + 1 != outcomes.size();
      }
      known.model = outcomes[outcome];
      known.in_doubt.reset();
      const uint64_t returned = shared_->returned[thread];
      for (; known.next < returned; ++known.next) {
        Apply(calls_.Make(thread, known.next), known.model);
      }
      if (shared_->begun[thread] > returned) {
        known.in_doubt = calls_.Make(thread, known.next++);
        shared_->returned[thread] = known.next;  // as far as the numbers of calls go
      }
    }
  }

  // ---- In the other process ----

  void Serve(const Options& options, std::optional<uint64_t> snapshot_micros) {
    auto opened = ListStore::Open(options);
    if (!opened.ok()) Fail("the store does not open: " + opened.status().ToString());
    std::unique_ptr<ListStore> store = *std::move(opened);
    for (size_t thread = 0; thread < kThreads; ++thread) Compare(*store, thread);
    shared_->phase = Shared::kCompared;
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([this, &store, thread] { Write(*store, thread); });
    }
    if (snapshot_micros) {
      threads.emplace_back([this, &store, micros = *snapshot_micros] {
        std::this_thread::sleep_for(std::chrono::microseconds(micros));
        const auto taken = store->Snapshot();
        if (!taken.ok()) Fail("no snapshot: " + taken.status().ToString());
        ++shared_->snapshots;
      });
    }
    for (std::thread& thread : threads) thread.join();
    store.reset();
    shared_->phase = Shared::kClosed;
  }

  void Compare(const ListStore& store, size_t thread) {
    const Model found = Find(store, thread);
    const std::vector<Model> outcomes = Outcomes(known_[thread].model, known_[thread].in_doubt);
    const auto at = std::ranges::find(outcomes, found);
    if (at == outcomes.end()) {
      Fail("of thread " + std::to_string(thread) +
           " is not what returned: " + DifferenceOf(outcomes.front(), found) +
           " and with the call in doubt: " + DifferenceOf(outcomes.back(), found));
    }
    shared_->outcome[thread] = static_cast<size_t>(at - outcomes.begin());
  }

  void Write(ListStore& store, size_t thread) {
    for (uint64_t index = known_[thread].next; !shared_->stops; ++index) {
      const Call call = calls_.Make(thread, index);
      shared_->begun[thread] = index + 1;
      Execute(store, thread, call);
      shared_->returned[thread] = index + 1;
    }
  }

  struct Known {
    Model model;
    std::optional<Call> in_doubt;
    uint64_t next = 0;  // call
  };

  Random random_;
  const std::string directory_;
  const std::optional<CommitLog> mode_;
  const Calls calls_;
  Shared* shared_ = nullptr;
  std::array<Known, kThreads> known_;
  std::array<int, 4> ends_ = {};
  int doubts_ = 0;
  int doubts_done_ = 0;
  int doubts_in_part_ = 0;
};

std::optional<CommitLog> ModeOf(const std::string& name) {
  if (name == "os") return CommitLog::kOs;
  if (name == "periodic") return CommitLog::kPeriodic;
  if (name == "sync") return CommitLog::kSync;
  return std::nullopt;
}

int Main(int argc, char** argv) {
  const KillOptions options = ReadKillOptions(argc, argv);
  const TempFolder folder;
  // What failed stays where --dir says.
  Rounds(options.seed, options.directory.empty() ? folder / "data" : options.directory,
         ModeOf(options.mode))
      .Run(options.rounds);
  return 0;
}

}  // namespace kept_kill_rounds
}  // namespace liststore::testing

int main(int argc, char** argv) { return liststore::testing::kept_kill_rounds::Main(argc, argv); }
