// What the network counts: who may connect, and what is held for whom.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/network/admission.h"
#include "engine/network/client_budget.h"

namespace liststore::testing {
namespace limits_test {

using network::Admission;
using network::ClientAccount;
using network::ClientBudget;

const std::string kHere("\x7f\0\0\1", 4);
const std::string kThere("\x7f\0\0\2", 4);

std::string Address(char last) { return kHere.substr(0, 3) + last; }

TEST(Admission, LimitsFollowFromTheDescriptors) {
  const auto limits = [](uint64_t descriptors, size_t connections = 0, size_t per_address = 0) {
    const auto all = Admission::Resolve({connections, per_address}, descriptors, /*loops=*/2);
    return std::to_string(all.connections_max) + " " + std::to_string(all.per_address_max);
  };
  EXPECT_EQ(limits(20'000), "19864 14898");
  EXPECT_EQ(limits(100), "50 36");
  EXPECT_EQ(limits(1), "1 1");
  EXPECT_EQ(limits(20'000, 1000), "1000 750");
  EXPECT_EQ(limits(20'000, 1000, 10), "1000 10");
}

TEST(Admission, CountsByAddress) {
  Admission admission({.connections_max = 4, .per_address_max = 3});
  std::vector<Admission::Ticket> here;
  for (int i = 0; i < 3; ++i) {
    here.push_back(admission.Enter(kHere));
    EXPECT_EQ(here.back().refusal(), "");
  }
  EXPECT_EQ(admission.Enter(kHere).refusal(),
            "Too many connections: there are 3 from this address, and "
            "max_connections_per_address of the server is 3");
  const Admission::Ticket there = admission.Enter(kThere);
  EXPECT_EQ(there.refusal(), "");
  EXPECT_EQ(admission.Enter(kThere).refusal(),
            "Too many connections: there are 4, and max_connections of the server is 4");
  here.pop_back();
  EXPECT_EQ(admission.Enter(kHere).refusal(), "");
}

// Two addresses that connect as often as they can leave room for a third.
TEST(Admission, KeepsTheLastForThoseWhoHaveFew) {
  Admission admission({.connections_max = 200, .per_address_max = 150});
  std::vector<Admission::Ticket> tickets;
  size_t refused = 0;
  for (int i = 0; i < 1000; ++i) {
    Admission::Ticket ticket = admission.Enter(i % 2 == 0 ? kHere : kThere);
    ticket.refusal().empty() ? tickets.push_back(std::move(ticket)) : void(++refused);
  }
  EXPECT_EQ(tickets.size(), 175u);
  EXPECT_EQ(refused, 825u);
  EXPECT_EQ(admission.Enter(kHere).refusal(),
            "Too many connections: there are 175, and max_connections of the server is 200, of "
            "which the last 25 are for addresses with fewer than 8");
  for (const char last : {'\3', '\4', '\5'}) {
    for (int i = 0; i < 8; ++i) {
      tickets.push_back(admission.Enter(Address(last)));
      EXPECT_EQ(tickets.back().refusal(), "");
    }
    EXPECT_NE(admission.Enter(Address(last)).refusal(), "");
  }
}

TEST(Admission, TellsFewAtATime) {
  Admission admission({.connections_max = 1, .per_address_max = 1});
  const Admission::Ticket first = admission.Enter(kHere);
  std::vector<Admission::Ticket> told;
  for (int i = 0; i < 64; ++i) {
    told.push_back(admission.Enter(kHere));
    EXPECT_FALSE(told.back().is_void());
  }
  const Admission::Ticket untold = admission.Enter(kHere);
  EXPECT_TRUE(untold.is_void());
  EXPECT_NE(untold.refusal(), "");
  told.pop_back();
  EXPECT_FALSE(admission.Enter(kHere).is_void());
}

TEST(ClientBudget, HoldsTheSumOfItsAccounts) {
  ClientBudget budget(1'000'000);
  ClientAccount a(0, kHere, 1), b(1, kThere, 2);
  EXPECT_FALSE(a.IsOutdated(4 << 10)) << "small changes wait";
  EXPECT_TRUE(a.IsOutdated((4 << 10) + 1));
  budget.Set(a, 300'000);
  budget.Set(b, 100'000);
  EXPECT_EQ(budget.held_bytes(), 400'000u);
  EXPECT_FALSE(a.IsOutdated(303'000));
  EXPECT_TRUE(a.IsOutdated(280'000));
  EXPECT_TRUE(a.IsOutdated(0));
  const auto largest = budget.Largest(10);
  ASSERT_EQ(largest.size(), 2u);
  EXPECT_EQ(largest[0].bytes, 300'000u);
  EXPECT_EQ(largest[1].port, 2);
  EXPECT_EQ(budget.Largest(1).size(), 1u);
  budget.Set(a, 0);
  budget.Set(b, 0);
  EXPECT_EQ(budget.held_bytes(), 0u);
  EXPECT_TRUE(budget.Largest(10).empty());
}

TEST(ClientBudget, HoldsBackThenRefusesThenEnds) {
  constexpr size_t kMuch = 100'000, kLittle = 10'000;
  ClientBudget budget(800'000);
  ClientAccount account(3, kHere, 1);
  struct Step {
    size_t held;
    bool holds_back_small, holds_back_large, refuses_much, refuses_all, is_over;
  };
  for (const Step& step :
       {Step{400'000, false, false, false, false, false},
        Step{400'001, false, true, false, false, false},
        Step{600'000, true, true, false, false, false},
        Step{600'001, true, true, true, false, false}, Step{700'001, true, true, true, true, false},
        Step{800'001, true, true, true, true, true}}) {
    budget.Set(account, step.held);
    EXPECT_EQ(budget.HoldsBack(kMuch, 1'000), step.holds_back_small) << step.held;
    EXPECT_EQ(budget.HoldsBack(kMuch, 300'000), step.holds_back_large) << step.held;
    EXPECT_FALSE(budget.HoldsBack(kLittle, 300'000)) << step.held;
    EXPECT_EQ(budget.Refuses(kMuch), step.refuses_much) << step.held;
    EXPECT_EQ(budget.Refuses(kLittle), step.refuses_all) << step.held;
    EXPECT_EQ(budget.IsOver(), step.is_over) << step.held;
  }
  budget.Set(account, 0);
}

TEST(ClientBudget, CondemnsOneAtATime) {
  ClientBudget budget(1'000'000);
  ClientAccount a(0, kHere, 1), b(1, kThere, 2);
  EXPECT_EQ(budget.CondemnLargest(), std::nullopt);
  budget.Set(a, 500'000);
  budget.Set(b, 600'000);
  EXPECT_EQ(budget.CondemnLargest(), 1u);
  EXPECT_TRUE(b.is_condemned());
  EXPECT_EQ(budget.CondemnLargest(), std::nullopt) << "it has not gone yet";
  budget.Set(b, 0);
  EXPECT_EQ(budget.CondemnLargest(), 0u);
  budget.Set(a, 0);
}

}  // namespace limits_test
}  // namespace liststore::testing
