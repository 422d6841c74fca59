// DynamoDB's values and expressions: what each request pays beside reading and writing rows.
#include <string>
#include <string_view>
#include <utility>

#include "benchmark/benchmark.h"

#include "engine/base/check.h"
#include "engine/dynamodb/expressions/condition.h"
#include "engine/dynamodb/expressions/projection.h"
#include "engine/dynamodb/expressions/update.h"
#include "engine/dynamodb/values/item_bytes.h"
#include "engine/dynamodb/values/item_json.h"

namespace liststore::dynamodb {
namespace {

// About 1 KB of JSON: a feature store's item, 26 features of 8 bytes in a map.
std::string FeaturesJson() {
  std::string json = R"({"entity_id":{"S":"1c2e07235588d781baea24f146ff4a77"},)"
                     R"("event_ts":{"S":"2022-07-07 09:00:00+00:00"},"values":{"M":{)";
  for (int i = 0; i < 26; ++i) {
    if (i > 0) json += ',';
    json += R"("feature_number_)" + std::to_string(10 + i) + R"(":{"B":"NfVpbT8AAAA="})";
  }
  return json + "}}}";
}

// 1 KB: an item of a list, a number and texts.
std::string TextsJson() {
  std::string json = R"({"pk":{"S":"user#1000042"},"sk":{"N":"1724949845000000"})";
  for (int i = 0; i < 8; ++i) {
    json += ",\"text" + std::to_string(i) + R"(":{"S":")" + std::string(96, 'x') + "\"}";
  }
  return json + "}";
}

Item ItemOf(std::string_view json) {
  const auto document = JsonDocument::Parse(std::string(json));
  LS_CHECK(document.ok(), "the text is JSON");
  ErrorOr<Item> item = ItemFromJson(document->root());
  LS_CHECK(item.ok(), "the JSON is an item");
  return *std::move(item);
}

void JsonOfBytes(benchmark::State& state, const std::string& json) {
  const std::string bytes = ItemBytes(ItemOf(json));
  std::string out;
  for (auto _ : state) {
    out.clear();
    const bool written = AppendItemJsonOfBytes(bytes, out);
    LS_CHECK(written, "the bytes are an item");
    benchmark::DoNotOptimize(out);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(out.size()));
}
BENCHMARK_CAPTURE(JsonOfBytes, features, FeaturesJson());
BENCHMARK_CAPTURE(JsonOfBytes, texts, TextsJson());

void BytesOfJson(benchmark::State& state, const std::string& json) {
  for (auto _ : state) {
    const Item item = ItemOf(json);
    benchmark::DoNotOptimize(ItemBytes(item));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(json.size()));
}
BENCHMARK_CAPTURE(BytesOfJson, features, FeaturesJson());
BENCHMARK_CAPTURE(BytesOfJson, texts, TextsJson());

void ProjectTwoFeatures(benchmark::State& state) {
  const std::string bytes = ItemBytes(ItemOf(FeaturesJson()));
  for (auto _ : state) {
    Placeholders placeholders;
    placeholders.AddName("#v", "values");
    const auto projection = ParseProjection(
        "entity_id, event_ts, #v.feature_number_12, #v.feature_number_20", placeholders);
    LS_CHECK(projection.ok(), "the text is a projection");
    const Item part = Project(*projection, ItemView(bytes).Select(AttributesOf(*projection)));
    benchmark::DoNotOptimize(ToJson(part));
  }
}
BENCHMARK(ProjectTwoFeatures);

void JudgeCondition(benchmark::State& state) {
  const Item item = ItemOf(TextsJson());
  for (auto _ : state) {
    Placeholders placeholders;
    placeholders.AddValue(":ts", AttributeValue::OfNumber(Number::Of(1'724'949'846)));
    const auto condition = ParseCondition("attribute_not_exists(pk) OR sk > :ts",
                                          ExpressionKind::kCondition, placeholders);
    LS_CHECK(condition.ok(), "the text is a condition");
    Effort effort;
    benchmark::DoNotOptimize(*Evaluate(*condition, item, effort));
  }
}
BENCHMARK(JudgeCondition);

void ApplyUpdate(benchmark::State& state) {
  const Item item = ItemOf(TextsJson());
  for (auto _ : state) {
    Placeholders placeholders;
    placeholders.AddValue(":one", AttributeValue::OfNumber(Number::Of(1)));
    const auto update =
        ParseUpdate("SET seen = if_not_exists(seen, :one) + :one REMOVE text3", placeholders);
    LS_CHECK(update.ok(), "the text is an update");
    benchmark::DoNotOptimize(Apply(*update, item));
  }
}
BENCHMARK(ApplyUpdate);

}  // namespace
}  // namespace liststore::dynamodb
