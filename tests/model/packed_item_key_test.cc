#include "engine/model/packed_item_key.h"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "engine/model/packed_item_key_runs.h"
#include "engine/model/packed_item_key_scalar.h"
#include "tests/support/seed.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace packed_item_key_test {

std::string Unpacked(const PackedItemKey& packed) {
  std::string text(kItemKeyTextBytes, '?');
  UnpackItemKey(packed.data(), text.data());
  return text;
}

std::optional<PackedItemKey> Packed(std::string_view text) {
  PackedItemKey packed;
  if (!PackItemKey(text, packed.data())) return std::nullopt;
  return packed;
}

// Any packed key; small digests and timestamps at the ends are likelier than chance has it.
PackedItemKey RandomPacked(Random& rng) {
  PackedItemKey packed;
  for (char& byte : packed)
    byte = static_cast<char>(rng.OneIn(8) ? 0xff * rng.Below(2) : rng.Next());
  uint64_t nanos = rng.Below(kItemKeyNanosMax) + 1;
  if (rng.OneIn(4)) nanos = rng.Below(3);
  if (rng.OneIn(4)) nanos = kItemKeyNanosMax - rng.Below(3);
  for (size_t i = 0; i < 8; ++i) packed[i] = static_cast<char>(nanos >> (56 - 8 * i));
  return packed;
}

int Sign(int order) { return (order > 0) - (order < 0); }

TEST(PackedItemKeyTest, IsItsLengthAndATimeOfNineteenDigits) {
  Random rng(testing::TestSeed());
  for (int i = 0; i < 1000; ++i) {
    const PackedItemKey key = RandomPacked(rng);
    EXPECT_TRUE(IsPackedItemKey({key.data(), key.size()}));
    EXPECT_FALSE(IsPackedItemKey({key.data(), key.size() - 1}));
    EXPECT_FALSE(IsPackedItemKey(std::string(key.data(), key.size()) + '\0'));
  }
  const auto at = [](uint64_t nanos) {
    std::string key(kPackedItemKeyBytes, '\xff');
    for (size_t i = 0; i < 8; ++i) key[i] = static_cast<char>(nanos >> (56 - 8 * i));
    return key;
  };
  EXPECT_TRUE(IsPackedItemKey(at(kItemKeyNanosMax)));
  EXPECT_FALSE(IsPackedItemKey(at(kItemKeyNanosMax + 1))) << "20 digits";
}

TEST(PackedItemKeyTest, EveryVectorRoundTrips) {
  const auto vectors = testing::LoadVectors("item_keys.json");
  for (const auto& example : testing::ArrayAt(vectors, "cases")) {
    const std::string_view text = testing::StringAt(example, "item_key");
    const std::optional<PackedItemKey> packed = Packed(text);
    ASSERT_TRUE(packed.has_value()) << text;
    EXPECT_EQ(Unpacked(*packed), text);
    EXPECT_EQ(PackedItemKeyNanos(packed->data()), testing::Uint64At(example, "timestamp_ns"));
  }
}

TEST(PackedItemKeyTest, VectorFormAgreesWithTheScalarForm) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(300'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const PackedItemKey packed = RandomPacked(rng);
    const std::string text = Unpacked(packed);
    char scalar_text[kItemKeyTextBytes];
    scalar::UnpackItemKey(packed.data(), scalar_text);
    ASSERT_EQ(text, std::string_view(scalar_text, kItemKeyTextBytes)) << "step " << step;

    PackedItemKey again, scalar_again;
    ASSERT_TRUE(PackItemKey(text, again.data())) << text;
    ASSERT_TRUE(scalar::PackItemKey(text, scalar_again.data())) << text;
    ASSERT_EQ(again, packed) << text;
    ASSERT_EQ(scalar_again, packed) << text;

    uint8_t digest[16];
    for (uint8_t& byte : digest) byte = static_cast<uint8_t>(rng.Next());
    const uint64_t nanos = PackedItemKeyNanos(packed.data());
    PackItemKeyFromDigest(nanos, digest, again.data());
    scalar::PackItemKeyFromDigest(nanos, digest, scalar_again.data());
    ASSERT_EQ(again, scalar_again) << "step " << step;
  }
}

struct KeyRun {
  size_t count;
  size_t packed_stride;
  size_t cell_stride;
  std::string packed;
  std::string cells;  // with what has to stay between them
};

KeyRun RandomRun(Random& rng) {
  KeyRun run = {rng.Below(20),
                kPackedItemKeyBytes + rng.Below(30),
                sizeof(uint32_t) + kItemKeyTextBytes + rng.Below(30),
                {},
                {}};
  run.packed.assign(run.count * run.packed_stride, '\x5a');
  run.cells.assign(run.count * run.cell_stride, '?');
  for (size_t i = 0; i < run.count; ++i) {
    PackedItemKey key = RandomPacked(rng);
    // Nines and zeros, where a digit that is rounded would become the next.
    if (rng.Below(4) == 0) {
      constexpr uint64_t kTenTo8 = 100'000'000;
      const auto eight = [&] {
        return rng.Below(2) == 0 ? rng.Below(200) : kTenTo8 - 1 - rng.Below(200);
      };
      StoreBigEndian64(key.data(), (rng.Below(900) * kTenTo8 + eight()) * kTenTo8 + eight());
    }
    char cell[sizeof(uint32_t) + kItemKeyTextBytes] = {0, 0, 0, kItemKeyTextBytes};
    scalar::UnpackItemKey(key.data(), cell + sizeof(uint32_t));
    run.packed.replace(i * run.packed_stride, key.size(), key.data(), key.size());
    run.cells.replace(i * run.cell_stride, sizeof(cell), cell, sizeof(cell));
  }
  return run;
}

TEST(PackedItemKeyTest, KeysOfARunAreUnpackedWhereTheyAreToGo) {
  std::string tried;
  for (const RunUnpacker& unpacker : RunUnpackers()) {
    if (!unpacker.is_supported) continue;
    tried += std::string(tried.empty() ? "" : ", ") + unpacker.name;
    Random rng(testing::TestSeed());
    for (uint64_t step = 0; step < testing::TestSteps(2'000); ++step) {
      const KeyRun run = RandomRun(rng);
      std::string cells(run.cells.size(), '?');
      unpacker.unpack(run.packed.data(), run.packed_stride, run.count, cells.data(),
                      run.cell_stride);
      ASSERT_EQ(cells, run.cells) << unpacker.name << ", step " << step;
    }
  }
  RecordProperty("tried", tried);
  const KeyRun run = [] {
    Random rng(testing::TestSeed());
    return RandomRun(rng);
  }();
  std::string cells(run.cells.size(), '?');
  UnpackItemKeys(run.packed.data(), run.packed_stride, run.count, cells.data(), run.cell_stride);
  EXPECT_EQ(cells, run.cells);
}

// Every byte at every position: accepted exactly when unpacking gives the same text back.
TEST(PackedItemKeyTest, AcceptsExactlyWhatComesBack) {
  Random rng(testing::TestSeed());
  for (int key = 0; key < 20; ++key) {
    const std::string text = Unpacked(RandomPacked(rng));
    for (size_t at = 0; at < kItemKeyTextBytes; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string mutated = text;
        mutated[at] = static_cast<char>(byte);
        PackedItemKey packed, scalar_packed;
        const bool accepted = PackItemKey(mutated, packed.data());
        ASSERT_EQ(accepted, scalar::PackItemKey(mutated, scalar_packed.data())) << mutated;
        if (accepted) {
          ASSERT_EQ(packed, scalar_packed) << mutated;
          ASSERT_EQ(Unpacked(packed), mutated);
        }
      }
    }
  }
}

struct Refused {
  std::string_view rule;
  std::string_view text;
};

constexpr Refused kRefused[] = {
    {"empty", ""},
    {"19 digits alone", "1724949845430000000"},
    {"one byte short", "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ="},
    {"one byte long", "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ==="},
    {"a letter in the first digits", "17x4949845430000000#h/BJX2HX2dk3iu9EYzSmiQ=="},
    {"a letter in the last digit", "172494984543000000a#h/BJX2HX2dk3iu9EYzSmiQ=="},
    {"a sign", "-724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ=="},
    {"another separator", "1724949845430000000$h/BJX2HX2dk3iu9EYzSmiQ=="},
    {"the other base64 alphabet", "1724949845430000000#h_BJX2HX2dk3iu9EYzSmiQ=="},
    {"padding bits that are not zero", "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiR=="},
    {"padding too early", "1724949845430000000#h/BJX2HX2dk3iu9EYzSmi==="},
    {"no padding", "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQAA"},
    {"half of the padding", "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ=A"},
};

TEST(PackedItemKeyTest, Refuses) {
  for (const Refused& refused : kRefused) {
    EXPECT_FALSE(Packed(refused.text).has_value()) << refused.rule;
    PackedItemKey packed;
    EXPECT_FALSE(scalar::PackItemKey(refused.text, packed.data())) << refused.rule;
  }
}

TEST(PackedItemKeyTest, ReachesTheLast19Digits) {
  const std::string_view last = "9999999999999999999#zzzzzzzzzzzzzzzzzzzzzw==";
  const std::optional<PackedItemKey> packed = Packed(last);
  ASSERT_TRUE(packed.has_value());
  EXPECT_EQ(PackedItemKeyNanos(packed->data()), kItemKeyNanosMax);
  EXPECT_EQ(Unpacked(*packed), last);
}

TEST(PackedItemKeyTest, OrderIsTheOrderOfTheTexts) {
  Random rng(testing::TestSeed());
  const uint64_t pairs = testing::TestSteps(2'000'000);
  for (uint64_t pair = 0; pair < pairs; ++pair) {
    const PackedItemKey a = RandomPacked(rng);
    PackedItemKey b = RandomPacked(rng);
    // Mostly keys with a common beginning, so that every position decides some pairs.
    if (!rng.OneIn(4)) std::memcpy(b.data(), a.data(), rng.Below(kPackedItemKeyBytes + 1));
    if (PackedItemKeyNanos(b.data()) > kItemKeyNanosMax) continue;
    char a_text[kItemKeyTextBytes], b_text[kItemKeyTextBytes];
    UnpackItemKey(a.data(), a_text);
    UnpackItemKey(b.data(), b_text);
    ASSERT_EQ(Sign(ComparePackedItemKeys(a.data(), b.data())),
              Sign(std::memcmp(a_text, b_text, kItemKeyTextBytes)))
        << "pair " << pair;
  }
}

struct BoundExample {
  std::string_view rule;
  std::string text;
  std::string_view first;  // the first item key at or after it; empty: not packed
};

TEST(PackItemKeyBoundTest, Table) {
  using namespace std::string_literals;
  const BoundExample kExamples[] = {
      {"19 digits", "1724949845430000000", "1724949845430000000#+++++++++++++++++++++A=="},
      {"19 digits and #", "1724949845430000000#", "1724949845430000000#+++++++++++++++++++++A=="},
      {"a key", "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ==",
       "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ=="},
      {"behind a key", "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ==\0"s,
       "1724949845430000000#h/BJX2HX2dk3iu9EYzSmig=="},
      {"behind a key, carrying within the digest",
       "0000000000000000001#+++++++++++++++++++++w==\0"s,
       "0000000000000000001#++++++++++++++++++++/A=="},
      {"behind a key, carrying between the words",
       "0000000000000000001#+++++++++++zzzzzzzzzzw==\0"s,
       "0000000000000000001#++++++++++/++++++++++A=="},
      {"behind the last key of an instant", "0000000000000000009#zzzzzzzzzzzzzzzzzzzzzw==\0"s,
       "0000000000000000010#+++++++++++++++++++++A=="},
      {"behind the last key of all", "9999999999999999999#zzzzzzzzzzzzzzzzzzzzzw==\0"s, ""},
      {"behind a key by another byte", "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ==\1"s, ""},
      {"empty", "", ""},
      {"18 digits", "172494984543000000", ""},
      {"19 characters with a letter", "172494984543000000x", ""},
      {"19 digits and another character", "1724949845430000000!", ""},
      {"a part of a digest", "1724949845430000000#h/", ""},
      {"44 characters that are no key", "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiR==", ""},
  };
  for (const BoundExample& example : kExamples) {
    const std::optional<PackedItemKey> packed = PackItemKeyBound(example.text);
    ASSERT_EQ(packed.has_value(), !example.first.empty()) << example.rule;
    if (packed) {
      EXPECT_EQ(Unpacked(*packed), example.first) << example.rule;
    }
  }
}

}  // namespace packed_item_key_test
}  // namespace liststore
