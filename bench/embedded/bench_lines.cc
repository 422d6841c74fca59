#include "bench/embedded/bench_lines.h"

#include "bench/measure/elapsed.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"

namespace liststore {
namespace {

using Steady = std::chrono::steady_clock;

// Long enough to make the clock's 25 ns vanish, short enough to stay in the first-level cache.
constexpr size_t kBatch = 256;
// Under Zipf a list comes often: it must not run out of items within a batch.
constexpr size_t kRemovalBatch = 64;
constexpr uint32_t kLoadRounds = 4;

// What the calling thread has had of the cores.
double CoreSeconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

absl::Status WrongAnswer(BenchKind kind, uint64_t expected, uint64_t got) {
  return absl::DataLossError(absl::StrCat(kBenchNames[static_cast<size_t>(kind)], ": ", expected,
                                          " items expected of a batch, ", got, " came"));
}

// Runs `work(thread)` on that many threads, begun together; the first error.
template <typename Work>
absl::Status OnThreads(uint32_t threads, const Work& work) {
  std::vector<absl::Status> statuses(threads);
  std::latch begin(threads);
  std::vector<std::thread> running;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      begin.arrive_and_wait();
      statuses[thread] = work(thread);
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

BenchRunner::BenchRunner(BenchSubject& subject)
    : subject_(subject),
      client_(subject.target.NewClient()),
      batch_(subject.items),
      settling_(subject.items) {}

void BenchRunner::Prepare(BenchKind kind, ListPicker& picker) {
  const bool removes = kind == BenchKind::kRemove;
  const auto items = static_cast<uint32_t>(ItemsPerAddition(kind));
  const size_t size = removes ? kRemovalBatch : kBatch;
  touched_.clear();
  batch_.Begin(kind);
  while (batch_.size() < size) {
    const uint32_t list = picker.Next();
    if (removes) {
      uint32_t& removed = touched_[list];
      if (removed == subject_.items_per_list) continue;  // empty until the batch is settled
      // From anywhere in the list, another one each time.
      const uint32_t at = (list + removed++) % subject_.items_per_list;
      batch_.AppendItems(list, subject_.first[list] + at);
    } else if (IsAddition(kind, batch_.size())) {
      uint32_t& added = touched_[list];
      batch_.AppendItems(list, subject_.first[list] + subject_.items_per_list + added);
      added += items;
    } else {
      batch_.AppendRead(list);
    }
  }
  batch_.End();
}

absl::Status BenchRunner::Check(uint64_t items) {
  if (!client_->status().ok()) return client_->status();
  const BenchKind kind = batch_.kind();
  const size_t last = batch_.size() - 1;
  const uint64_t of_read = std::min<uint64_t>(ReadLimit(kind), subject_.items_per_list);
  uint64_t expected = 0;
  if (IsRead(kind)) {
    expected = batch_.size() * of_read;
  } else if (kind == BenchKind::kMixed) {
    const uint64_t additions = batch_.size() / kBenchMixedAdd;
    expected = (batch_.size() - additions) * of_read + additions;
    // Lists shorter than what is read have grown during the batch.
    if (subject_.items_per_list < ReadLimit(kind)) expected = std::max(expected, items);
  } else {
    expected = batch_.size() * batch_.items_per_request();
  }
  if (items != expected) return WrongAnswer(kind, expected, items);
  if (kind == BenchKind::kRemove) return absl::OkStatus();  // settling finds what was not removed

  const uint32_t list = batch_.list(last);
  const auto touched = touched_.find(list);
  const uint32_t added = touched == touched_.end() ? 0 : touched->second;
  const uint32_t newest = subject_.first[list] + subject_.items_per_list + added - 1;
  return CheckNewest(list, newest);
}

absl::Status BenchRunner::CheckNewest(uint32_t list, uint32_t number) {
  if (!IsRead(batch_.kind())) {
    settling_.Begin(BenchKind::kGet10);
    settling_.AppendRead(list);
    settling_.End();
    client_->Run(settling_, 0, 1);
  }
  std::string value(subject_.items.value_bytes(), '\0');
  subject_.items.WriteValue(list, number, value.data());
  const NewItem newest = client_->Newest();
  if (newest.timestamp_nanos == subject_.items.TimestampOf(list, number) && newest.value == value) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(kBenchNames[static_cast<size_t>(batch_.kind())],
                                          ": the newest item of list ", list, " is not number ",
                                          number));
}

absl::Status BenchRunner::Settle() {
  if (IsRead(batch_.kind())) return absl::OkStatus();
  const bool removed = batch_.kind() == BenchKind::kRemove;
  settling_.Begin(removed ? BenchKind::kAdd1 : BenchKind::kRemove);
  for (size_t i = 0; i < batch_.size(); ++i) {
    if (removed) {
      settling_.AppendItems(batch_.list(i), batch_.number(i));
    } else if (IsAddition(batch_.kind(), i)) {
      for (size_t k = 0; k < batch_.items_per_request(); ++k) {
        settling_.AppendItems(batch_.list(i), subject_.first[batch_.list(i)]++);
      }
    }
  }
  settling_.End();
  const uint64_t items =
      removed ? client_->Run(settling_, 0, settling_.size()) : client_->TakeOut(settling_);
  if (!client_->status().ok()) return client_->status();
  if (items != settling_.size()) return WrongAnswer(settling_.kind(), settling_.size(), items);
  return absl::OkStatus();
}

absl::StatusOr<BenchRate> BenchRunner::Throughput(BenchKind kind, ListPicker& picker,
                                                  double seconds) {
  double spent = 0;
  double on_core = 0;
  uint64_t operations = 0;
  while (spent < seconds) {
    Prepare(kind, picker);
    const double core_begin = CoreSeconds();
    const auto begin = Steady::now();
    const uint64_t items = client_->Run(batch_, 0, batch_.size());
    if (!IsRead(kind)) client_->Housekeep();
    spent += SecondsSince(begin);
    on_core += CoreSeconds() - core_begin;
    operations += batch_.size();
    absl::Status status = Check(items);
    status.Update(Settle());
    if (!status.ok()) return status;
  }
  const auto count = static_cast<double>(operations);
  return BenchRate{.by_wall = count / spent, .by_core = count / on_core};
}

absl::Status BenchRunner::Latencies(BenchKind kind, ListPicker& picker, double seconds,
                                    Histogram* latency) {
  const size_t step = kind == BenchKind::kMultiGet16 ? kBenchGroup : 1;
  double spent = 0;
  while (spent < seconds) {
    Prepare(kind, picker);
    uint64_t items = 0;
    for (size_t i = 0; i < batch_.size(); i += step) {
      const auto begin = Steady::now();
      items += client_->Run(batch_, i, i + step);
      const auto took = Steady::now() - begin;
      latency->Record(static_cast<uint64_t>(took.count()));
      spent += std::chrono::duration<double>(took).count();
    }
    absl::Status status = Check(items);
    status.Update(Settle());
    if (!status.ok()) return status;
    if (!IsRead(kind)) client_->Housekeep();
  }
  return absl::OkStatus();
}

absl::Status BenchRunner::Churn(uint64_t stride, uint64_t offset) {
  const uint64_t lists = (subject_.first.size() - offset + stride - 1) / stride;
  for (uint64_t next = 0; next < lists;) {
    touched_.clear();
    batch_.Begin(BenchKind::kAdd1);
    for (; batch_.size() < kBatch && next < lists; ++next) {
      const auto list = static_cast<uint32_t>(Scattered(next, lists) * stride + offset);
      batch_.AppendItems(list, subject_.first[list] + subject_.items_per_list);
      touched_[list] = 1;
    }
    batch_.End();
    absl::Status status = Check(client_->Run(batch_, 0, batch_.size()));
    status.Update(Settle());
    if (!status.ok()) return status;
    client_->Housekeep();
  }
  return absl::OkStatus();
}

absl::Status BenchRunner::Load(uint32_t begin, uint32_t end, uint64_t stride, uint64_t offset) {
  const uint64_t lists = (subject_.first.size() - offset + stride - 1) / stride;
  const uint32_t count = end - begin;
  for (uint64_t next = 0; count > 0 && next < lists;) {
    batch_.Begin(BenchKind::kAdd10, count);
    for (; batch_.size() < kBatch && next < lists; ++next) {
      const uint64_t list = Scattered(next, lists) * stride + offset;
      batch_.AppendItems(static_cast<uint32_t>(list), begin);
    }
    batch_.End();
    const uint64_t items = client_->Run(batch_, 0, batch_.size());
    if (!client_->status().ok()) return client_->status();
    if (items != batch_.size() * count) {
      return WrongAnswer(BenchKind::kAdd10, batch_.size() * count, items);
    }
  }
  return absl::OkStatus();
}

absl::Status LoadLists(BenchSubject& subject, uint32_t threads) {
  const uint32_t items = subject.items_per_list;
  return OnThreads(threads, [&](uint32_t thread) {
    BenchRunner runner(subject);
    for (uint32_t round = 0; round < kLoadRounds; ++round) {
      absl::Status status = runner.Load(items * round / kLoadRounds,
                                        items * (round + 1) / kLoadRounds, threads, thread);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

absl::Status ChurnLists(BenchSubject& subject, uint32_t threads) {
  return OnThreads(threads,
                   [&](uint32_t thread) { return BenchRunner(subject).Churn(threads, thread); });
}

absl::StatusOr<double> ThroughputOfThreads(BenchSubject& subject, BenchKind kind, uint32_t threads,
                                           uint64_t seed, double seconds) {
  std::vector<double> rates(threads);
  absl::Status status = OnThreads(threads, [&](uint32_t thread) {
    BenchRunner runner(subject);
    ListPicker picker(subject.first.size(), /*zipf=*/false, seed + thread, threads, thread);
    const absl::StatusOr<BenchRate> rate = runner.Throughput(kind, picker, seconds);
    if (rate.ok()) rates[thread] = rate->by_wall;
    return rate.status();
  });
  if (!status.ok()) return status;
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

}  // namespace liststore
