// Duration: a value of the CQL type of that name. Months and days have no fixed length, hence three
// numbers.
#ifndef LISTSTORE_ENGINE_MODEL_TYPES_DURATION_H_
#define LISTSTORE_ENGINE_MODEL_TYPES_DURATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace liststore {

// None of the three has another sign than the rest.
struct Duration {
  int32_t months = 0;
  int32_t days = 0;
  int64_t nanoseconds = 0;

  bool operator==(const Duration&) const = default;
};

// What the three numbers of an encoding may be, which makes not each of them a duration.
struct DurationCounts {
  int64_t months = 0;
  int64_t days = 0;
  int64_t nanoseconds = 0;

  bool have_one_sign() const;
};

// nullopt: no three numbers.
std::optional<DurationCounts> DecodeDurationCounts(std::string_view value);
// nullopt: not a valid encoding. Source: native_protocol_v5.spec, section 6.8 (three zigzag vints).
std::optional<Duration> DecodeDuration(std::string_view value);
// The shortest encoding.
std::string EncodeDuration(const Duration& duration);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TYPES_DURATION_H_
