// What `liststore bench` asks of a store: which lists, which items, prepared a batch at a time so
// that making requests is not measured.
#ifndef LISTSTORE_BENCH_MEASURE_WORKLOAD_H_
#define LISTSTORE_BENCH_MEASURE_WORKLOAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "liststore/list_item.h"

namespace liststore {

enum class BenchKind {
  kGet10,
  kGet50,
  kMultiGet16,
  kAdd1,
  kAdd10,
  kMixed,
  kRemove
};
inline constexpr size_t kBenchKinds = 7;
// As in keys of the JSON output, and as people read them.
inline constexpr std::array<const char*, kBenchKinds> kBenchKeys = {
    "get10", "get50", "multiget16", "add1", "add10", "mixed", "remove"};
inline constexpr std::array<const char*, kBenchKinds> kBenchNames = {
    "get 10", "get 50", "multi-get of 16", "add 1", "add 10", "90:10 mix", "remove by value"};

inline constexpr size_t kBenchGroup = 16;     // lists of a multi-get
inline constexpr size_t kBenchMixedAdd = 10;  // every tenth operation of the mix is an addition

constexpr bool IsRead(BenchKind kind) {
  return kind == BenchKind::kGet10 || kind == BenchKind::kGet50 || kind == BenchKind::kMultiGet16;
}
constexpr bool IsAddition(BenchKind kind, size_t index) {
  return kind == BenchKind::kAdd1 || kind == BenchKind::kAdd10 ||
         (kind == BenchKind::kMixed && index % kBenchMixedAdd == kBenchMixedAdd - 1);
}
constexpr size_t ItemsPerAddition(BenchKind kind) { return kind == BenchKind::kAdd10 ? 10 : 1; }
constexpr size_t ReadLimit(BenchKind kind) { return kind == BenchKind::kGet50 ? 50 : 10; }

// Ranks 0 to `count` - 1, rank k with a probability in proportion to 1 / (k + 1)^exponent.
// Rejection inversion (Hoermann and Derflinger, 1996): O(1), no table.
class ZipfRanks {
 public:
  ZipfRanks(uint64_t count, double exponent);
  uint64_t Next(Random& random) const;

 private:
  double Integral(double x) const;
  double IntegralInverse(double y) const;

  double count_;
  double exponent_;
  double integral_first_;
  double integral_last_;
  double accept_;
};

// Draws list numbers: uniform, or Zipf with the ranks scattered over the lists. `stride` and
// `offset` leave a part of the lists to each of several threads.
class ListPicker {
 public:
  ListPicker(uint64_t lists, bool zipf, uint64_t seed, uint64_t stride = 1, uint64_t offset = 0);
  uint32_t Next();

 private:
  uint64_t count_;
  uint64_t stride_;
  uint64_t offset_;
  Random random_;
  std::optional<ZipfRanks> zipf_;
};

// A number below `count` for each number below it, without order that a cache could use.
uint64_t Scattered(uint64_t number, uint64_t count);

// Item `number` of list `list`, the same in every store. Numbers below `loaded` are spread over the
// `days` before `start_nanos`; those that follow come at 100 us from each other.
class BenchItems {
 public:
  BenchItems(uint64_t start_nanos, uint64_t loaded, size_t value_bytes);
  uint64_t TimestampOf(uint32_t list, uint32_t number) const;
  // Writes value_bytes() bytes, different for every item.
  void WriteValue(uint32_t list, uint32_t number, char* value) const {
    WriteValue(list, number, {value, value_bytes_});
  }
  // The same with a length of its own, at least 8.
  static void WriteValue(uint32_t list, uint32_t number, std::span<char> value);
  size_t value_bytes() const { return value_bytes_; }

 private:
  uint64_t start_nanos_;
  uint64_t loaded_;
  uint64_t loaded_step_nanos_;
  size_t value_bytes_;
};

// Requests of one kind, with everything they point to. Requests are as a service has them in hand:
// keys and values lie in memory that has just been written.
class BenchBatch {
 public:
  explicit BenchBatch(const BenchItems& items) : items_of_lists_(items) {}
  BenchBatch(const BenchBatch&) = delete;
  BenchBatch& operator=(const BenchBatch&) = delete;

  void Begin(BenchKind kind);
  // The same with another number of items to each addition.
  void Begin(BenchKind kind, size_t items_per_request);
  // A request for `list`: to read it.
  void AppendRead(uint32_t list);
  // A request to add items `number` and following, as many as the kind says, or to remove one.
  void AppendItems(uint32_t list, uint32_t number);
  // Requests may be executed from here on: nothing moves any more.
  void End();

  BenchKind kind() const { return kind_; }
  size_t size() const { return lists_.size(); }
  uint32_t list(size_t i) const { return lists_[i]; }
  uint32_t number(size_t i) const { return numbers_[i]; }
  // Feature key and entity id in one.
  std::string_view list_key(size_t i) const { return list_keys_[i]; }
  const std::string_view* list_keys(size_t i) const { return &list_keys_[i]; }
  const std::string_view* entity_ids(size_t i) const { return &entity_ids_[i]; }
  std::string_view entity_id(size_t i) const { return entity_ids_[i]; }
  // The items of request i begin here; removals take the value of the first.
  const NewItem* items(size_t i) const { return &new_items_[i * items_per_request_]; }
  size_t items_per_request() const { return items_per_request_; }

 private:
  const BenchItems& items_of_lists_;
  BenchKind kind_ = BenchKind::kGet10;
  size_t items_per_request_ = 0;
  std::vector<uint32_t> lists_;
  std::vector<uint32_t> numbers_;
  std::vector<char> keys_text_;
  std::vector<char> values_text_;
  std::vector<std::string_view> list_keys_;
  std::vector<std::string_view> entity_ids_;
  std::vector<NewItem> new_items_;
};

// The feature of the lists that are measured.
inline constexpr char kBenchEntityType[] = "user";
inline constexpr char kBenchFeature[] = "reading_history";
inline constexpr char kBenchVersion[] = "v2";
inline constexpr int64_t kBenchTtlSeconds = 30 * 86'400;
inline constexpr size_t kBenchEntityIdBytes = 16;
// "user-00000000017".
void WriteEntityId(uint32_t list, char* entity_id);
std::string EntityIdOfList(uint32_t list);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_MEASURE_WORKLOAD_H_
