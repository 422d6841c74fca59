// Texts and the values that they are.
#include "engine/settings/setting.h"

#include <gtest/gtest.h>

namespace liststore {
namespace setting_test {

using T = settings::SettingType;

TEST(Setting, TextsBecomeNormalValues) {
  struct Row {
    T type;
    const char* text;
    const char* value;  // nullptr: it is none
  };
  const Row rows[] = {
      {T::kBoolean, "true", "true"},
      {T::kBoolean, "0", "false"},
      {T::kBoolean, "yes", nullptr},  // ScyllaDB db/config.cc, config_from_string<bool>
      {T::kSwitch, "on", "on"},
      {T::kSwitch, "true", nullptr},
      {T::kUint16, "65535", "65535"},
      {T::kUint16, "65536", nullptr},
      {T::kUint32, "+7", "7"},
      {T::kUint32, "-1", nullptr},
      {T::kUint32, "7 ", nullptr},
      {T::kUint32, "", nullptr},
      {T::kInt32, "-1", "-1"},
      {T::kInt32, "2147483648", nullptr},
      {T::kUint64, "18446744073709551615", "18446744073709551615"},
      {T::kInt64, "9223372036854775808", nullptr},
      {T::kFloat, "0.50", "0.5"},
      {T::kFloat, "1.0", "1"},
      {T::kFloat, "inf", nullptr},
      {T::kFloat, "half", nullptr},
      {T::kBytes, "64K", "65536"},
      {T::kBytes, "1GiB", "1073741824"},
      {T::kBytes, "1T", nullptr},
      {T::kMode, "warn", "warn"},
      {T::kMode, "1", "true"},
      {T::kMode, "maybe", nullptr},
      {T::kStrategies, "SimpleStrategy, LocalStrategy", "[SimpleStrategy,LocalStrategy]"},
      {T::kStrategies, "[\"SimpleStrategy\"]", "[SimpleStrategy]"},
      {T::kStrategies, "", "[]"},
      {T::kStrategies, "[Simple]", nullptr},
      {T::kFeatures, "['udf','tablets']", "[udf,tablets]"},
      {T::kFeatures, "[of-a-later-version]", "[of-a-later-version]"},
      {T::kTexts, "[a, 'b c']", "[a,\"b c\"]"},
      {T::kMap, "{a: 1, b=2}", "{a:1,b=2}"},
      {T::kText, " as it is ", " as it is "},
  };
  for (const Row& row : rows) {
    const std::optional<std::string> value = settings::NormalValue(row.type, row.text);
    EXPECT_EQ(value.has_value(), row.value != nullptr) << row.text;
    if (!value || row.value == nullptr) continue;
    EXPECT_EQ(*value, row.value) << row.text;
    EXPECT_EQ(settings::NormalValue(row.type, *value), value) << "a value is one: " << *value;
  }
}

TEST(Setting, ValuesAreTakenApart) {
  EXPECT_TRUE(settings::IsTrue("true"));
  EXPECT_FALSE(settings::IsTrue("warn"));
  EXPECT_EQ(settings::ToInteger("-12"), -12);
  EXPECT_EQ(settings::ElementsOf("[]"), std::vector<std::string>());
  EXPECT_EQ(settings::ElementsOf("[a,{b:1,c:2}]"), (std::vector<std::string>{"a", "{b:1,c:2}"}));
  const std::vector<std::pair<std::string, std::string>> entries = {{"a", "1"}, {"b", "x=y"}};
  EXPECT_EQ(settings::EntriesOf("{a:1,b:x=y}"), entries);
}

}  // namespace setting_test
}  // namespace liststore
