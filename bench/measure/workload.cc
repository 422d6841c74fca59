#include "bench/measure/workload.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/check.h"

namespace liststore {
namespace {

constexpr double kZipfExponent = 0.99;
constexpr uint64_t kNanosPerDay = 86'400'000'000'000;
// Well inside of the TTL: nothing expires during a run.
constexpr uint64_t kLoadedDays = 20;
constexpr uint64_t kAddedStepNanos = 100'000;
constexpr std::string_view kFeatureKey = "user#reading_history|v2";
constexpr size_t kListKeyBytes = kFeatureKey.size() + kBenchEntityIdBytes;

// One to one on 64 bits.
uint64_t Mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t ItemSeed(uint32_t list, uint32_t number) { return (uint64_t{list} << 32) | number; }

}  // namespace

// --- Which lists --------------------------------------------------------------------------------

ZipfRanks::ZipfRanks(uint64_t count, double exponent)
    : count_(static_cast<double>(count)), exponent_(exponent) {
  LS_CHECK(count > 0 && exponent > 0 && exponent != 1, "a Zipf distribution with these exists");
  integral_first_ = Integral(1.5) - 1;
  integral_last_ = Integral(count_ + 0.5);
  accept_ = 2 - IntegralInverse(Integral(2.5) - std::pow(2.0, -exponent_));
}

// The integral of x^-exponent, up to a constant.
double ZipfRanks::Integral(double x) const {
  return (std::pow(x, 1 - exponent_) - 1) / (1 - exponent_);
}

double ZipfRanks::IntegralInverse(double y) const {
  return std::pow(std::max(0.0, 1 + y * (1 - exponent_)), 1 / (1 - exponent_));
}

uint64_t ZipfRanks::Next(Random& random) const {
  while (true) {
    const double y = integral_last_ + random.Fraction() * (integral_first_ - integral_last_);
    const double x = IntegralInverse(y);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, count_);
    if (k - x <= accept_ || y >= Integral(k + 0.5) - std::pow(k, -exponent_)) {
      return static_cast<uint64_t>(k) - 1;
    }
  }
}

uint64_t Scattered(uint64_t number, uint64_t count) {
  constexpr uint64_t kPrime = 2'654'435'761;  // above every count, so it shares no factor with it
  LS_DCHECK(number < count && count < kPrime, "a permutation of the numbers below count");
  return number * kPrime % count;
}

ListPicker::ListPicker(uint64_t lists, bool zipf, uint64_t seed, uint64_t stride, uint64_t offset)
    : count_((lists - offset + stride - 1) / stride),
      stride_(stride),
      offset_(offset),
      random_(seed) {
  LS_CHECK(offset < lists, "there is a list for every thread");
  if (zipf) zipf_.emplace(count_, kZipfExponent);
}

uint32_t ListPicker::Next() {
  const uint64_t number =
      zipf_.has_value() ? Scattered(zipf_->Next(random_), count_) : random_.Below(count_);
  return static_cast<uint32_t>(number * stride_ + offset_);
}

// --- Which items --------------------------------------------------------------------------------

BenchItems::BenchItems(uint64_t start_nanos, uint64_t loaded, size_t value_bytes)
    : start_nanos_(start_nanos),
      loaded_(loaded),
      loaded_step_nanos_(kLoadedDays * kNanosPerDay / std::max<uint64_t>(loaded, 1)),
      value_bytes_(value_bytes) {
  LS_CHECK(value_bytes >= 8, "eight bytes tell the values apart");
}

uint64_t BenchItems::TimestampOf(uint32_t list, uint32_t number) const {
  const uint64_t scatter = Mix(ItemSeed(list, number));
  if (number < loaded_) {
    return start_nanos_ - (loaded_ - number) * loaded_step_nanos_ + scatter % loaded_step_nanos_;
  }
  return start_nanos_ + (number - loaded_) * kAddedStepNanos + scatter % kAddedStepNanos;
}

void BenchItems::WriteValue(uint32_t list, uint32_t number, std::span<char> value) {
  uint64_t word = Mix(ItemSeed(list, number));
  for (size_t at = 0; at < value.size(); at += sizeof(word)) {
    std::memcpy(&value[at], &word, std::min(sizeof(word), value.size() - at));
    word = Mix(word);
  }
}

void WriteEntityId(uint32_t list, char* entity_id) {
  constexpr std::string_view kPrefix = "user-";
  std::memcpy(entity_id, kPrefix.data(), kPrefix.size());
  for (size_t at = kBenchEntityIdBytes; at-- > kPrefix.size(); list /= 10) {
    entity_id[at] = static_cast<char>('0' + list % 10);
  }
}

std::string EntityIdOfList(uint32_t list) {
  std::string entity_id(kBenchEntityIdBytes, ' ');
  WriteEntityId(list, entity_id.data());
  return entity_id;
}

// --- Batches ------------------------------------------------------------------------------------

void BenchBatch::Begin(BenchKind kind) { Begin(kind, IsRead(kind) ? 0 : ItemsPerAddition(kind)); }

void BenchBatch::Begin(BenchKind kind, size_t items_per_request) {
  kind_ = kind;
  items_per_request_ = items_per_request;
  lists_.clear();
  numbers_.clear();
}

void BenchBatch::AppendRead(uint32_t list) { AppendItems(list, 0); }

void BenchBatch::AppendItems(uint32_t list, uint32_t number) {
  lists_.push_back(list);
  numbers_.push_back(number);
}

void BenchBatch::End() {
  const size_t value_bytes = items_of_lists_.value_bytes();
  keys_text_.resize(size() * kListKeyBytes);
  values_text_.resize(size() * items_per_request_ * value_bytes);
  list_keys_.resize(size());
  entity_ids_.resize(size());
  new_items_.resize(size() * items_per_request_);
  char* value = values_text_.data();
  for (size_t i = 0; i < size(); ++i) {
    char* const key = &keys_text_[i * kListKeyBytes];
    std::memcpy(key, kFeatureKey.data(), kFeatureKey.size());
    WriteEntityId(lists_[i], key + kFeatureKey.size());
    list_keys_[i] = {key, kListKeyBytes};
    entity_ids_[i] = list_keys_[i].substr(kFeatureKey.size());
    for (size_t k = 0; k < items_per_request_; ++k, value += value_bytes) {
      const uint32_t number = numbers_[i] + static_cast<uint32_t>(k);
      items_of_lists_.WriteValue(lists_[i], number, value);
      new_items_[i * items_per_request_ + k] = {items_of_lists_.TimestampOf(lists_[i], number),
                                                {value, value_bytes}};
    }
  }
}

}  // namespace liststore
