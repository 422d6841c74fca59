#include "tests/tools/replay/history_model.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "engine/base/check.h"
#include "engine/base/random.h"

namespace liststore::testing {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kTtlSecondsMax = 630'720'000;
constexpr uint64_t kTimestampMax = 9'999'999'999'999'999'999u;

std::string Md5(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  LS_CHECK(EVP_Digest(text.data(), text.size(), digest, &length, EVP_md5(), nullptr) == 1, "MD5");
  return std::string(reinterpret_cast<const char*>(digest), length);
}

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(byte));
    hex += digits;
  }
  return hex;
}

std::string Digits19(uint64_t nanos) {
  const std::string digits = std::to_string(nanos);
  return std::string(19 - digits.size(), '0') + digits;
}

std::string ItemKey(const HistoryItem& item) {
  const std::string digest = Md5(item.value);
  unsigned char base64[32];
  EVP_EncodeBlock(base64, reinterpret_cast<const unsigned char*>(digest.data()), 16);
  return Digits19(item.timestamp_nanos) + "#" + reinterpret_cast<const char*>(base64);
}

std::string Field(const char* name, uint64_t number) {
  return std::string(",\"") + name + "\":" + std::to_string(number);
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      json += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned char>(c));
    json += escaped;
  }
  return json + "\"";
}

void HistoryModel::Begin(std::string_view op, const List& list, bool with_entity) {
  log_ += "{\"op\":" + JsonString(op) + Field("at", now_nanos_) +
          ",\"entity_type\":" + JsonString(list.entity_type) +
          ",\"feature\":" + JsonString(list.feature) + ",\"version\":" + JsonString(list.version);
  if (with_entity) log_ += ",\"entity_id\":" + JsonString(list.entity_id);
  ++lines_;
}

HistoryModel::Rows& HistoryModel::RowsOf(const List& list) {
  return lists_[{list.entity_type, list.feature, list.version, list.entity_id}];
}

void HistoryModel::CreateFeature(const List& list, uint64_t ttl_seconds) {
  ttl_seconds_[{list.entity_type, list.feature, list.version}] = ttl_seconds;
  Begin("create_feature", list, false);
  log_ += Field("ttl_s", ttl_seconds) + "}\n";
}

void HistoryModel::Add(const List& list, const std::vector<HistoryItem>& items) {
  const uint64_t ttl_seconds = ttl_seconds_.at({list.entity_type, list.feature, list.version});
  Rows& rows = RowsOf(list);
  Begin("add", list);
  log_ += ",\"items\":[";
  for (const HistoryItem& item : items) {
    if (log_.back() != '[') log_ += ',';
    log_ += "{\"ts\":" + std::to_string(item.timestamp_nanos) +
            ",\"value\":" + JsonString(item.value) + "}";
    const auto end = static_cast<unsigned __int128>(item.timestamp_nanos) +
                     static_cast<unsigned __int128>(ttl_seconds) * kSecond;
    const uint64_t left =
        end < now_nanos_ ? 0 : static_cast<uint64_t>((end - now_nanos_) / kSecond);
    if (left == 0) {
      ++skipped_expired_;
      continue;
    }
    rows[ItemKey(item)] = {item.value, now_nanos_ / kSecond + left};
    ++stored_;
  }
  log_ += "]}\n";
}

void HistoryModel::Get(const List& list, uint64_t min_timestamp_nanos, uint64_t limit) {
  Begin("get", list);
  log_ += Field("min_ts", min_timestamp_nanos) + Field("limit", limit) + "}\n";
  std::string keys;
  uint64_t items = 0;
  for (const auto& [key, row] : RowsOf(list)) {
    if (items == limit || key < Digits19(min_timestamp_nanos)) break;
    if (!Alive(row)) continue;
    if (items++ > 0) keys += "\n";
    keys += key;
  }
  const std::string md5 = Hex(Md5(keys));
  digests_ += md5;
  ++reads_;
  returned_ += items;
  expected_ +=
      "{\"line\":" + std::to_string(lines_) + Field("items", items) + ",\"md5\":\"" + md5 + "\"}\n";
}

void HistoryModel::RemoveValue(const List& list, const std::string& value) {
  Begin("remove_value", list);
  log_ += ",\"value\":" + JsonString(value) + "}\n";
  Rows& rows = RowsOf(list);
  for (auto row = rows.begin(); row != rows.end();) {
    if (row->second.value != value) {
      ++row;
      continue;
    }
    removed_live_ += Alive(row->second);
    row = rows.erase(row);
  }
}

void HistoryModel::RemoveAll(const List& list) {
  Begin("remove_all", list);
  log_ += "}\n";
  Rows& rows = RowsOf(list);
  for (const auto& [key, row] : rows) removed_live_ += Alive(row);
  rows.clear();
}

void HistoryModel::Finish() {
  uint64_t live = 0;
  for (const auto& [list, rows] : lists_) {
    for (const auto& [key, row] : rows) live += Alive(row);
  }
  expected_ += "{\"reads\":" + std::to_string(reads_) + Field("returned", returned_) +
               Field("stored", stored_) + Field("skipped_expired", skipped_expired_) +
               Field("removed_live", removed_live_) + Field("live_at_end", live) + ",\"md5\":\"" +
               Hex(Md5(digests_)) + "\"}\n";
}

namespace {

// Draws what RandomHistory puts together.
class HistoryGenerator {
 public:
  HistoryGenerator(uint64_t seed, uint64_t start_nanos) : rng_(seed), now_(start_nanos) {
    values_ = {"",
               " ",
               "two words",
               "\"quoted\" \\ back",
               "größe",
               "日本語",
               "🙂🙃",
               std::string("nul\0and\ttab\n", 12),
               std::string(300, 'x'),
               "e\u0301"};
    while (values_.size() < 24) values_.push_back("value-" + std::to_string(values_.size()));
    features_ = {{{"user", "seen", "", ""}, 3'600},
                 {{"user", "seen", "v2", ""}, 60},
                 {{"user", "bought it", "", ""}, 30 * 86'400},
                 {{"shop item", "seen", "#1|x", ""}, kTtlSecondsMax}};
  }

  HistoryModel Run(uint64_t steps) {
    model_.SetNow(now_);
    for (const auto& [list, ttl] : features_) model_.CreateFeature(list, ttl);
    for (uint64_t step = 0; step < steps; ++step) Step();
    model_.Finish();
    return std::move(model_);
  }

 private:
  void Step() {
    MoveClock();
    const size_t feature = rng_.Below(features_.size());
    HistoryModel::List list = features_[feature].first;
    static const char* const kEntities[] = {"", "17", "a b", "ä#|\"", "17 "};
    list.entity_id = kEntities[rng_.Below(std::size(kEntities))];
    const uint64_t roll = rng_.Below(100);
    if (roll < 45) {
      Add(list, features_[feature].second);
    } else if (roll < 85) {
      if (rng_.OneIn(20)) list.feature = "never created";
      model_.Get(list, MinTimestamp(), 1 + (rng_.OneIn(3) ? rng_.Below(500) : rng_.Below(5)));
    } else if (roll < 96) {
      model_.RemoveValue(list, values_[rng_.Below(values_.size())]);
    } else if (roll < 98) {
      model_.RemoveAll(list);
    } else if (!list.version.empty()) {  // a version's own TTL stays
      model_.Get(list, 0, 1000);
    } else {
      features_[feature].second = 1 + rng_.Below(rng_.OneIn(2) ? 100 : 5'000'000);
      model_.CreateFeature(list, features_[feature].second);
    }
  }

  void MoveClock() {
    const uint64_t roll = rng_.Below(100);
    if (roll < 40) return;
    uint64_t by = rng_.Below(3 * kSecond);
    if (roll < 50) by = 1;
    if (roll > 97) by = rng_.Below(5 * 86'400) * kSecond;
    if (roll == 99 && rng_.OneIn(20)) by = rng_.Below(kTtlSecondsMax / 2) * kSecond;
    now_ = std::min(now_ + by, kTimestampMax);
    model_.SetNow(now_);
  }

  void Add(const HistoryModel::List& list, uint64_t ttl_seconds) {
    std::vector<HistoryItem> items;
    uint64_t timestamp = Timestamp(ttl_seconds);
    for (uint64_t left = rng_.Below(rng_.OneIn(10) ? 40 : 6); left-- > 0;) {
      if (rng_.OneIn(2)) timestamp = Timestamp(ttl_seconds);
      items.push_back({timestamp, values_[rng_.Below(values_.size())]});
      recent_[rng_.Below(kRecent)] = timestamp;
    }
    if (items.empty()) items.push_back({timestamp, values_[0]});
    model_.Add(list, items);
  }

  // One that the store accepts: at most kTtlSecondsMax of remaining time.
  uint64_t Timestamp(uint64_t ttl_seconds) {
    const uint64_t ttl = ttl_seconds * kSecond;
    const uint64_t latest =
        std::min(now_ + (kTtlSecondsMax - ttl_seconds) * kSecond + (kSecond - 1), kTimestampMax);
    const auto before = [this](uint64_t nanos) { return now_ > nanos ? now_ - nanos : 0; };
    const uint64_t earliest = before(ttl);  // nothing is left of it
    uint64_t timestamp = before(rng_.Below(2 * ttl));
    switch (rng_.Below(12)) {
      case 0:  // around the last second
        timestamp = earliest + rng_.Below(3) * kSecond + rng_.Below(3);
        timestamp -= std::min(timestamp, uint64_t{1});
        break;
      case 1:
        timestamp = now_ + rng_.Below(100) * kSecond;
        break;
      case 2:
        timestamp = rng_.OneIn(2) ? latest : rng_.Below(3);
        break;
      case 3:
      case 4:
        timestamp = recent_[rng_.Below(kRecent)];
        break;
      default:
        break;
    }
    return std::min(timestamp, latest);
  }

  uint64_t MinTimestamp() {
    const uint64_t recent = recent_[rng_.Below(kRecent)];
    switch (rng_.Below(5)) {
      case 0:
        return recent;
      case 1:
        return std::min(recent + 1, kTimestampMax);
      case 2:
        return now_;
      default:
        return 0;
    }
  }

  static constexpr size_t kRecent = 8;

  Random rng_;
  uint64_t now_;
  HistoryModel model_;
  std::vector<std::string> values_;
  std::vector<std::pair<HistoryModel::List, uint64_t>> features_;  // with their TTLs
  uint64_t recent_[kRecent] = {};
};

}  // namespace

HistoryModel RandomHistory(uint64_t seed, uint64_t start_nanos, uint64_t steps) {
  return HistoryGenerator(seed, start_nanos).Run(steps);
}

}  // namespace liststore::testing
