// Reads while items are written and expire.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measure/workload.h"
#include "bench/peers/plain_store.h"
#include "bench/shapes/shapes.h"
#include "engine/base/random.h"
#include "engine/base/seconds.h"
#include "engine/base/status_macros.h"
#include "engine/lists/remaining_time.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

constexpr uint32_t kChurnLists = 20'000;
constexpr uint64_t kTtlNanos = static_cast<uint64_t>(kBenchTtlSeconds) * kNanosPerSecond;
// Items live from one to so many seconds: in a second a fourth of what there is goes.
constexpr uint64_t kLifeSecondsMax = 4;
constexpr size_t kChurnValueBytes = 24;
constexpr size_t kChurnLimit = 10;
// The writer is no faster than this, so that both stores hold about as much and lose as much.
constexpr uint64_t kWritesPerSecond = 100'000;
// What was written is read within this, however little the machine gives the writer.
constexpr std::chrono::seconds kPatience(120);

// What both stores are asked; one object for each thread.
class Client {
 public:
  virtual ~Client() = default;
  virtual absl::Status Add(const std::string& entity_id, const NewItem& item) = 0;
  // Appends the timestamps of the newest ten.
  virtual absl::Status Get(const std::string& entity_id, std::vector<uint64_t>* timestamps) = 0;
};

class OursClient final : public Client {
 public:
  OursClient(ListStore& store, ListFeature feature) : store_(store), feature_(feature) {}
  absl::Status Add(const std::string& entity_id, const NewItem& item) override {
    return store_.AddListItems({feature_, entity_id}, {&item, 1}).status();
  }
  absl::Status Get(const std::string& entity_id, std::vector<uint64_t>* timestamps) override {
    LS_RETURN_IF_ERROR(store_.GetListItems({feature_, entity_id}, {.limit = kChurnLimit}, &items_));
    for (const ListItemView item : items_) timestamps->push_back(item.timestamp_nanos);
    return absl::OkStatus();
  }

 private:
  ListStore& store_;
  const ListFeature feature_;
  ListItems items_;
};

class PlainClient final : public Client {
 public:
  explicit PlainClient(PlainStore& store) : store_(store) {}
  absl::Status Add(const std::string& entity_id, const NewItem& item) override {
    store_.Add(entity_id, {&item, 1});
    return absl::OkStatus();
  }
  absl::Status Get(const std::string& entity_id, std::vector<uint64_t>* timestamps) override {
    store_.Get(entity_id, 0, kChurnLimit, &items_);
    for (size_t i = 0; i < items_.size; ++i) {
      timestamps->push_back(std::stoull(items_.items[i].key.substr(0, 19)));
    }
    return absl::OkStatus();
  }

 private:
  PlainStore& store_;
  PlainItems items_;
};

// Adds items with a short life to random lists until it is stopped.
class Writer {
 public:
  explicit Writer(Client& client) : client_(client), thread_([this] { Run(); }) {}
  ~Writer() { Stop().IgnoreError(); }
  absl::Status Stop() {
    stop_.store(true, std::memory_order_release);
    if (thread_.joinable()) thread_.join();
    return status_;
  }
  uint64_t written() const { return written_; }  // after Stop

 private:
  void Run() {
    Random random(29);
    std::string value(kChurnValueBytes, '\0');
    const auto begin = Steady::now();
    while (status_.ok() && !stop_.load(std::memory_order_acquire)) {
      const double elapsed = std::chrono::duration<double>(Steady::now() - begin).count();
      if (static_cast<double>(written_) > elapsed * static_cast<double>(kWritesPerSecond)) {
        std::this_thread::yield();
        continue;
      }
      const auto list = static_cast<uint32_t>(random.Below(kChurnLists));
      BenchItems::WriteValue(list, static_cast<uint32_t>(written_), {value.data(), value.size()});
      const uint64_t life = 1 + random.Below(kLifeSecondsMax);
      const uint64_t nanos =
          SystemClock::Instance().NowNanos() - kTtlNanos + life * kNanosPerSecond;
      status_ = client_.Add(EntityIdOfList(list), {nanos, value});
      ++written_;
    }
  }

  Client& client_;
  std::atomic<bool> stop_{false};
  // The thread's own until Stop has joined it.
  absl::Status status_;
  uint64_t written_ = 0;
  std::thread thread_;  // last: it uses the others
};

struct Churn {
  Histogram reads;
  uint64_t written = 0;
  uint64_t items_read = 0;
};

// Nothing that is read may have ended before the read began, in whole seconds.
absl::Status MeasureSide(Client& reading, Client& writing, double seconds, Churn* churn) {
  Writer writer(writing);
  Random random(31);
  std::vector<uint64_t> timestamps;
  // Until lists are as full as they get.
  const auto warm = Steady::now() + std::chrono::duration<double>(seconds / 2);
  const auto end = warm + std::chrono::duration<double>(seconds);
  for (auto now = Steady::now(); now < end || churn->items_read == 0 || churn->reads.Count() == 0;
       now = Steady::now()) {
    if (now > end + kPatience) return absl::DataLossError("nothing is read of what is written");
    const std::string entity_id = EntityIdOfList(static_cast<uint32_t>(random.Below(kChurnLists)));
    const uint64_t second = SystemClock::Instance().NowNanos() / kNanosPerSecond;
    timestamps.clear();
    const auto begin = Steady::now();
    LS_RETURN_IF_ERROR(reading.Get(entity_id, &timestamps));
    const auto nanos = std::chrono::nanoseconds(Steady::now() - begin).count();
    if (begin >= warm) churn->reads.Record(static_cast<uint64_t>(nanos));
    churn->items_read += timestamps.size();
    for (const uint64_t timestamp : timestamps) {
      if ((timestamp + kTtlNanos) / kNanosPerSecond + 1 < second) {
        return absl::DataLossError(
            absl::StrCat("list ", entity_id, " gave an item that had ended before"));
      }
    }
  }
  LS_RETURN_IF_ERROR(writer.Stop());
  churn->written = writer.written();
  return absl::OkStatus();
}

void Report(const char* key, const char* name, const Churn& churn, ShapeReport* report) {
  report->Latency(absl::StrCat("churn_", key), absl::StrCat("get 10, ", name), churn.reads);
  report->Number(absl::StrCat("churn_", key, "_written"), absl::StrCat("written, ", name),
                 static_cast<double>(churn.written), "items");
}

}  // namespace

absl::Status MeasureChurn(const ShapeOptions& options, ShapeReport* report) {
  report->Begin(absl::StrCat("reads of ", kChurnLists, " lists while ", kWritesPerSecond,
                             " items a second are added, each of which expires within ",
                             kLifeSecondsMax, " s"));
  Options store_options;
  store_options.background_reclaim = true;
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<ListStore> store, ListStore::Open(store_options));
  LS_RETURN_IF_ERROR(store->CreateListFeature(kBenchEntityType, kBenchFeature, kBenchTtlSeconds));
  LS_ASSIGN_OR_RETURN(const ListFeature feature,
                      store->FindListFeature(kBenchEntityType, kBenchFeature));
  OursClient our_reader(*store, feature), our_writer(*store, feature);
  Churn ours;
  LS_RETURN_IF_ERROR(MeasureSide(our_reader, our_writer, options.seconds, &ours));
  Report("ours", "ours", ours, report);

  PlainStore plain(SystemClock::Instance(), kBenchTtlSeconds);
  PlainClient plain_reader(plain), plain_writer(plain);
  Churn theirs;
  LS_RETURN_IF_ERROR(MeasureSide(plain_reader, plain_writer, options.seconds, &theirs));
  Report("plain", "the plain structure", theirs, report);
  report->Ratios("churn", "get 10, by the plain structure", ours.reads, theirs.reads);
  return absl::OkStatus();
}

}  // namespace liststore
