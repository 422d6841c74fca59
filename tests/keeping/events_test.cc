#include "engine/keeping/events.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/roles/permission.h"
#include "engine/roles/resource.h"
#include "engine/roles/role_state.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace events_test {

using keeping::EventState;
using roles::Permission;
using roles::Resource;
using roles::ResourceKind;
using roles::RoleState;

Resource AnyResource(Random& random) {
  switch (random.Below(7)) {
    case 0:
      return Resource(ResourceKind::kData);
    case 1:
      return Resource::Keyspace("k");
    case 2:
      return Resource::Table("k", "t");
    case 3:
      return Resource::Role("a");
    case 4:
      return Resource(ResourceKind::kFunctions);
    case 5:
      return Resource::FunctionsIn("k");
    default:
      return Resource::Function("k", "f", {"int", "frozen<list<text>>"});
  }
}

void ChangeSomething(Random& random, RoleState& state) {
  const std::string names[] = {"a", "b", "c", "d"};
  const std::string& name = names[random.Below(4)];
  const std::string& other = names[random.Below(4)];
  if (state.Find(name) == nullptr) {
    state.Put(name, random.OneIn(2), random.OneIn(4),
              random.OneIn(2) ? std::optional<std::string>("hash" + name) : std::nullopt);
    return;
  }
  switch (random.Below(5)) {
    case 0:
      return state.Drop(name);
    case 1:
      if (state.Find(other) != nullptr) static_cast<void>(state.GrantRole(other, name));
      return;
    case 2:
      if (state.Find(other) != nullptr) static_cast<void>(state.RevokeRole(other, name));
      return;
    case 3:
      return state.Revoke(name, AnyResource(random), {Permission::kSelect, Permission::kModify});
    default:
      return state.Grant(name, AnyResource(random), {static_cast<Permission>(random.Below(8))});
  }
}

TEST(RoleEvents, MakeTheRolesThatThereWere) {
  Random random(TestSeed());
  RoleState now;
  EventState replayed;
  for (uint64_t step = 0; step < TestSteps(2000); ++step) {
    RoleState next = now;
    ChangeSomething(random, next);
    std::string event;
    keeping::AppendRoleEvent(now, next, event);
    ASSERT_TRUE(keeping::ApplyEvent(event, replayed)) << step;
    ASSERT_EQ(replayed.roles, next) << step;
    replayed.roles.Verify();
    now = next;
  }
}

// A snapshot has the roles of later than the events that come behind it.
TEST(RoleEvents, MayComeTwice) {
  Random random(TestSeed());
  for (uint64_t round = 0; round < TestSteps(100); ++round) {
    RoleState now;
    std::vector<std::string> events;
    for (int i = 0; i < 30; ++i) {
      RoleState next = now;
      ChangeSomething(random, next);
      keeping::AppendRoleEvent(now, next, events.emplace_back());
      now = next;
    }
    EventState again;
    again.roles = now;
    for (size_t i = random.Below(events.size()); i < events.size(); ++i) {
      ASSERT_TRUE(keeping::ApplyEvent(events[i], again));
    }
    again.roles.Verify();
    ASSERT_EQ(again.roles, now) << round;
  }
}

TEST(Events, OfTheClockAreTheLastOne) {
  EventState state;
  const durable::ClockState manual{{ServerClock::Mode::kManual, ServerClock::kFactorOne}, 17};
  const durable::ClockState scaled{{ServerClock::Mode::kScaled, 2'500'000}, 18};
  for (const durable::ClockState& clock : {manual, scaled}) {
    std::string event;
    durable::AppendClockEvent(clock, event);
    ASSERT_TRUE(keeping::ApplyEvent(event, state));
    EXPECT_EQ(state.clock, clock);
  }
}

TEST(Events, WhatNobodyWroteIsRefused) {
  RoleState after;
  after.Put("a", true, true, "hash");
  after.Grant("a", Resource::Table("k", "t"), {Permission::kSelect});
  std::string event;
  keeping::AppendRoleEvent(RoleState(), after, event);
  for (size_t bytes = 0; bytes < event.size(); ++bytes) {
    EventState state;
    EXPECT_FALSE(keeping::ApplyEvent(event.substr(0, bytes), state)) << bytes;
  }
  for (size_t at = 0; at < event.size(); ++at) {
    for (const char other : {'\0', '\x7f', '\xff'}) {
      std::string damaged = event;
      damaged[at] = other;
      EventState state;
      static_cast<void>(keeping::ApplyEvent(damaged, state));
    }
  }
}

}  // namespace events_test
}  // namespace liststore::testing
