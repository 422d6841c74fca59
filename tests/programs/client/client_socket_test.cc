#include "programs/client/client_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace liststore::testing {
namespace client_socket_test {

// A port of 127.0.0.1 that the kernel has chosen, and the other side of one connection to it.
class OtherSide {
 public:
  OtherSide() : listening_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listening_, any, bytes), 0);
    EXPECT_EQ(listen(listening_, 1), 0);
    EXPECT_EQ(getsockname(listening_, any, &bytes), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~OtherSide() {
    Close();
    close(listening_);
  }

  const std::string& address() const { return address_; }
  std::unique_ptr<ClientSocket> Connect() {
    auto client = ClientSocket::Connect(address_);
    EXPECT_TRUE(client.ok()) << client.status();
    accepted_ = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    EXPECT_GE(accepted_, 0);
    return client.ok() ? *std::move(client) : nullptr;
  }
  void Write(std::string_view bytes) {
    ASSERT_EQ(write(accepted_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::string Read(size_t bytes) {
    std::string text(bytes, '\0');
    EXPECT_EQ(recv(accepted_, text.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
    return text;
  }
  void Close() {
    if (accepted_ >= 0) close(accepted_);
    accepted_ = -1;
  }

 private:
  const int listening_;
  int accepted_ = -1;
  std::string address_;
};

TEST(ClientSocket, WhatIsNotTakenStaysInFrontOfWhatComes) {
  OtherSide other;
  const std::unique_ptr<ClientSocket> client = other.Connect();
  ASSERT_NE(client, nullptr);
  ASSERT_TRUE(client->Send("asked").ok());
  EXPECT_EQ(other.Read(5), "asked");
  EXPECT_EQ(client->received(), "");
  other.Write("firstse");
  ASSERT_TRUE(client->Receive().ok());
  EXPECT_EQ(client->received(), "firstse");
  client->Take(5);
  EXPECT_EQ(client->received(), "se");
  other.Write("cond");
  ASSERT_TRUE(client->Receive().ok());
  EXPECT_EQ(client->received(), "second");
}

// In steps that the buffers of the sockets hold: one thread is both sides.
TEST(ClientSocket, TheBufferGrowsWithWhatIsNotTaken) {
  OtherSide other;
  const std::unique_ptr<ClientSocket> client = other.Connect();
  ASSERT_NE(client, nullptr);
  std::string all;
  for (int step = 0; step < 64; ++step) {
    const std::string part(16 << 10, static_cast<char>('a' + step % 26));
    other.Write(part);
    all += part;
    while (client->received().size() < all.size()) ASSERT_TRUE(client->Receive().ok());
  }
  EXPECT_TRUE(client->received() == all);
}

TEST(ClientSocket, SaysThatTheOtherSideHasClosed) {
  OtherSide other;
  const std::unique_ptr<ClientSocket> client = other.Connect();
  ASSERT_NE(client, nullptr);
  other.Close();
  EXPECT_EQ(client->Receive(),
            absl::UnavailableError(other.address() + ": receiving: connection closed"));
}

TEST(ClientSocket, RefusesWhatIsNoAddress) {
  for (const char* address : {"localhost", ":9042", "127.0.0.1:", "::1:9042"}) {
    EXPECT_EQ(ClientSocket::Connect(address).status(),
              absl::InvalidArgumentError("'" + std::string(address) + "' is not HOST:PORT"));
  }
}

}  // namespace client_socket_test
}  // namespace liststore::testing
