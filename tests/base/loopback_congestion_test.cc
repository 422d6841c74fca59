// Connections that do not leave the machine ask for Reno; others keep what the machine has.
#include "engine/base/loopback_congestion.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace liststore::testing {
namespace loopback_congestion_test {

struct Fd {
  explicit Fd(int number) : fd(number) {}
  ~Fd() {
    if (fd >= 0) close(fd);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  const int fd;
};

std::string CongestionOf(int fd) {
  char name[32] = {};
  socklen_t size = sizeof(name);
  EXPECT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size), 0) << strerror(errno);
  return name;
}

// "cubic" where a process may ask for it; a socket that has it is told from one that was changed.
bool SetOther(int fd) {
  constexpr char kOther[] = "cubic";
  return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, kOther, sizeof(kOther) - 1) == 0;
}

// A connection to a listener of `family` on its loopback address, v4 mapped into v6 on demand.
void CheckConnection(int family, const char* address) {
  SCOPED_TRACE(address);
  Fd listener(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (listener.fd < 0) GTEST_SKIP() << "no sockets of this family";
  sockaddr_storage storage = {};
  storage.ss_family = static_cast<sa_family_t>(family);
  socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  void* const at = family == AF_INET
                       ? static_cast<void*>(&reinterpret_cast<sockaddr_in&>(storage).sin_addr)
                       : static_cast<void*>(&reinterpret_cast<sockaddr_in6&>(storage).sin6_addr);
  ASSERT_EQ(inet_pton(family, address, at), 1);
  if (bind(listener.fd, reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    GTEST_SKIP() << address << ": " << strerror(errno);
  }
  ASSERT_EQ(listen(listener.fd, 1), 0);
  ASSERT_EQ(getsockname(listener.fd, reinterpret_cast<sockaddr*>(&storage), &size), 0);
  Fd client(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool had_other = SetOther(client.fd);
  ASSERT_EQ(connect(client.fd, reinterpret_cast<sockaddr*>(&storage), size), 0) << strerror(errno);
  Fd server(accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_GE(server.fd, 0);
  if (had_other) {
    EXPECT_EQ(CongestionOf(client.fd), "cubic");
  }
  for (const int fd : {client.fd, server.fd}) {
    EXPECT_TRUE(UseLoopbackCongestion(fd));
    EXPECT_EQ(CongestionOf(fd), "reno");
  }
}

TEST(LoopbackCongestion, ConnectionsOnTheMachineAskForReno) {
  CheckConnection(AF_INET, "127.0.0.1");
  CheckConnection(AF_INET, "127.9.8.7");
  CheckConnection(AF_INET6, "::1");
  CheckConnection(AF_INET6, "::ffff:127.0.0.1");
}

TEST(LoopbackCongestion, WhatIsNoConnectionOfTcpKeepsWhatItHas) {
  Fd unconnected(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::string before = CongestionOf(unconnected.fd);
  EXPECT_FALSE(UseLoopbackCongestion(unconnected.fd));
  EXPECT_EQ(CongestionOf(unconnected.fd), before);
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  Fd first(pair[0]);
  Fd second(pair[1]);
  EXPECT_FALSE(UseLoopbackCongestion(first.fd));
  EXPECT_FALSE(UseLoopbackCongestion(-1));
}

TEST(LoopbackCongestion, AListenerHandsItToWhatItAccepts) {
  Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  SetOther(listener.fd);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener.fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener.fd, 1), 0);
  EXPECT_TRUE(UseLoopbackCongestionOfAccepted(listener.fd));
  ASSERT_EQ(getsockname(listener.fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  Fd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(client.fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  Fd server(accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_EQ(CongestionOf(server.fd), "reno");
}

}  // namespace loopback_congestion_test
}  // namespace liststore::testing
