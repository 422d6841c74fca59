#include "tools/serve/wait_for_stop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <new>
#include <string>
#include <string_view>

namespace liststore::testing {
namespace wait_for_stop_test {

// Signals as a signalfd says them.
class Signals {
 public:
  Signals() { EXPECT_EQ(pipe(files_.data()), 0); }
  ~Signals() {
    for (const int file : files_) close(file);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int file() const { return files_[0]; }
  void Send(int number) const {
    signalfd_siginfo info{};
    info.ssi_signo = static_cast<uint32_t>(number);
    EXPECT_EQ(write(files_[1], &info, sizeof(info)), static_cast<ssize_t>(sizeof(info)));
  }

 private:
  std::array<int, 2> files_{};
};

TEST(WaitForStop, SaysWhichSignalItWas) {
  const Signals signals;
  std::string called;
  const WaitCalls calls{.on_hangup = [&] { called += "hangup "; },
                        .on_user = [&] { called += "user "; },
                        .on_period = [] {}};
  for (const int number : {SIGHUP, SIGUSR1, SIGHUP, SIGTERM, SIGINT}) signals.Send(number);
  EXPECT_EQ(WaitForStop(signals.file(), false, calls), "SIGTERM");
  EXPECT_EQ(called, "hangup user hangup ");
  EXPECT_EQ(WaitForStop(signals.file(), false, calls), "SIGINT");
}

// A program whose heap is full goes on.
TEST(WaitForStop, WhatTheHeapRefusesIsLeftOut) {
  const Signals signals;
  int refused = 0;
  const auto refuse = [&refused] {
    ++refused;
    throw std::bad_alloc();
  };
  int rounds = 0;
  const WaitCalls calls{.on_hangup = refuse,
                        .on_user = refuse,
                        .on_period =
                            [&] {
                              if (++rounds == 3) signals.Send(SIGTERM);
                              refuse();
                            },
                        .period = std::chrono::milliseconds(1)};
  signals.Send(SIGHUP);
  signals.Send(SIGUSR1);
  EXPECT_EQ(WaitForStop(signals.file(), false, calls), "SIGTERM");
  EXPECT_GE(refused, 5);
}

}  // namespace wait_for_stop_test
}  // namespace liststore::testing
