#include "tools/serve/service_manager.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>

#include "tests/support/temp_folder.h"

namespace liststore::testing {
namespace service_manager_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The end that systemd has. `name`: a path, or "@" and an abstract name.
class Listener {
 public:
  explicit Listener(std::string name) : file_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    size_t bytes = offsetof(sockaddr_un, sun_path) + name.size();
    if (name.front() == '@')
      address.sun_path[0] = '\0';
    else
      ++bytes;
    EXPECT_EQ(bind(file_, reinterpret_cast<sockaddr*>(&address), static_cast<socklen_t>(bytes)), 0);
  }
  ~Listener() { close(file_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // What was sent next; empty: nothing.
  std::string Next() const {
    std::array<char, 4096> bytes;
    const ssize_t count = recv(file_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return count < 0 ? std::string() : std::string(bytes.data(), static_cast<size_t>(count));
  }

 private:
  const int file_;
};

class ServiceManagerTest : public ::testing::Test {
 protected:
  ~ServiceManagerTest() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
  }
  static void Set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
};

TEST_F(ServiceManagerTest, WithoutASocketNothingIsSaid) {
  Set("WATCHDOG_USEC", "1000000");
  for (const char* name : {"", "relative", "/nowhere/at/all", "@nobody.listens.here"}) {
    Set("NOTIFY_SOCKET", name);
    ServiceManager manager;
    EXPECT_FALSE(manager.is_there()) << name;
    EXPECT_FALSE(manager.watchdog_period()) << name;
    manager.Ready("ready");
    manager.LookAfter(seconds(0), std::chrono::steady_clock::now());
  }
}

TEST_F(ServiceManagerTest, SaysHowItIs) {
  const TempFolder folder;
  for (const std::string& name :
       {folder / "socket", "@liststore." + std::to_string(getpid()) + ".test"}) {
    const Listener listener(name);
    Set("NOTIFY_SOCKET", name);
    ServiceManager manager;
    ASSERT_TRUE(manager.is_there()) << name;
    manager.Ready("serves");
    EXPECT_EQ(listener.Next(), "READY=1\nSTATUS=serves");
    manager.Status("serves");
    EXPECT_EQ(listener.Next(), "") << "has been said";
    manager.Status("serves others");
    EXPECT_EQ(listener.Next(), "STATUS=serves others");
    manager.Reloading();
    EXPECT_TRUE(listener.Next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    manager.Stopping("SIGTERM");
    EXPECT_EQ(listener.Next(), "STOPPING=1\nSTATUS=SIGTERM");
    EXPECT_EQ(listener.Next(), "");
  }
}

// What counts is not lost where the socket is full: it comes once there is room, in its order.
TEST_F(ServiceManagerTest, WhatDoesNotFitIsSentLater) {
  const std::string name = "@liststore." + std::to_string(getpid()) + ".full";
  const Listener listener(name);
  Set("NOTIFY_SOCKET", name);
  Set("WATCHDOG_USEC", "20000000");
  ServiceManager manager;
  // More than a socket has room for.
  for (int i = 0; i < 10'000; ++i) manager.Status(std::to_string(i));
  manager.Ready("serves");
  manager.Reloading();
  manager.Ready("serves again");
  manager.Status("2 connections");
  std::string last;
  for (std::string text; !(text = listener.Next()).empty();) last = text;
  EXPECT_TRUE(last.starts_with("STATUS=")) << last;
  manager.LookAfter(seconds(0), std::chrono::steady_clock::now());
  EXPECT_EQ(listener.Next(), "READY=1\nSTATUS=serves");
  EXPECT_TRUE(listener.Next().starts_with("RELOADING=1\n"));
  EXPECT_EQ(listener.Next(), "READY=1\nSTATUS=serves again");
  EXPECT_EQ(listener.Next(), "WATCHDOG=1");
  EXPECT_EQ(listener.Next(), "");
  manager.Status("2 connections");
  EXPECT_EQ(listener.Next(), "STATUS=2 connections") << "it was not said";
}

TEST_F(ServiceManagerTest, TheWatchdogHearsOfLoopsThatTurn) {
  const std::string name = "@liststore." + std::to_string(getpid()) + ".watchdog";
  const Listener listener(name);
  Set("NOTIFY_SOCKET", name);
  Set("WATCHDOG_USEC", "20000000");
  Set("WATCHDOG_PID", std::to_string(getpid()));
  ServiceManager manager;
  ASSERT_EQ(manager.watchdog_period(), seconds(10));
  const auto start = std::chrono::steady_clock::now();
  manager.LookAfter(seconds(1), start);
  EXPECT_EQ(listener.Next(), "WATCHDOG=1");
  manager.LookAfter(seconds(1), start + seconds(1));
  EXPECT_EQ(listener.Next(), "") << "not so soon";
  manager.LookAfter(seconds(1), start + seconds(10));
  EXPECT_EQ(listener.Next(), "WATCHDOG=1");
  manager.LookAfter(seconds(11), start + seconds(20));
  EXPECT_EQ(listener.Next(), "") << "a loop is silent";
  manager.LookAfter(milliseconds(1), start + seconds(21));
  EXPECT_EQ(listener.Next(), "WATCHDOG=1") << "and comes round";
}

TEST_F(ServiceManagerTest, AWatchdogOfAnotherProcessIsNone) {
  const std::string name = "@liststore." + std::to_string(getpid()) + ".other";
  const Listener listener(name);
  Set("NOTIFY_SOCKET", name);
  Set("WATCHDOG_PID", "");
  for (const char* micros : {"", "0", "-1", "soon"}) {
    Set("WATCHDOG_USEC", micros);
    EXPECT_FALSE(ServiceManager().watchdog_period()) << micros;
  }
  Set("WATCHDOG_USEC", "2000000");
  EXPECT_EQ(ServiceManager().watchdog_period(), seconds(1));
  Set("WATCHDOG_PID", std::to_string(getpid() + 1));
  EXPECT_FALSE(ServiceManager().watchdog_period());
}

}  // namespace service_manager_test
}  // namespace liststore::testing
