#include "bench/scale/scale_costs.h"

#include <string>

#include "gtest/gtest.h"

namespace liststore {
namespace scale_costs_test {

TEST(ScaleCostsTest, EachFormIsFoundByItsName) {
  for (const ScaleForm& form : ScaleForms()) EXPECT_EQ(FindScaleForm(form.name), &form);
  EXPECT_EQ(FindScaleForm("wires"), nullptr);
}

TEST(ScaleCostsTest, ACostIsSetByItsName) {
  ScaleCosts costs;
  ASSERT_TRUE(SetCost("transfer=87.5", &costs).ok());
  EXPECT_EQ(costs.transfer_ns, 87.5);
  ASSERT_TRUE(SetCost("write_lane_lines=4", &costs).ok());
  EXPECT_EQ(costs.write.lane_lines, 4);
  ASSERT_TRUE(SetCost("group=8", &costs).ok());
  EXPECT_EQ(costs.group, 8u);
  EXPECT_NE(DescribeCosts(costs).find("transfer               87.5  ns"), std::string::npos)
      << DescribeCosts(costs);
}

TEST(ScaleCostsTest, WhatIsWrongIsNamed) {
  ScaleCosts costs;
  const auto message = [&costs](const char* assignment) {
    return std::string(SetCost(assignment, &costs).message());
  };
  EXPECT_EQ(message("speed=1").substr(0, 39), "'speed' is no cost; there are read_outs");
  EXPECT_EQ(message("group=0"),
            "'group=0': group takes a whole number from 1 to 1e9, as in group=1");
  EXPECT_EQ(message("transfer"),
            "'transfer': transfer takes a number from 0 to 1e9, as in transfer=100");
  EXPECT_EQ(message("transfer=-1"),
            "'transfer=-1': transfer takes a number from 0 to 1e9, as in transfer=100");
  EXPECT_EQ(message("transfer=nan"),
            "'transfer=nan': transfer takes a number from 0 to 1e9, as in transfer=100");
  EXPECT_EQ(costs.group, 1u);
  EXPECT_EQ(costs.transfer_ns, 100);
}

}  // namespace scale_costs_test
}  // namespace liststore
