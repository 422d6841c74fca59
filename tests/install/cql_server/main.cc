// A stranger's test: a store on a clock that the test moves, a CQL port on both, a client of it,
// and the end of it. Returns the number of the step that failed; standard output is compared by the
// test.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "liststore/clock.h"
#include "liststore/cql_server.h"
#include "liststore/list_store.h"
#include "liststore/server_clock.h"

namespace {

constexpr uint64_t kNow = 1'700'000'000'000'000'000;

// Enough of a driver: one request at a time, version 4.
class Client {
 public:
  explicit Client(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  // The opcode of the answer; -1: there is none.
  int Ask(char opcode, std::string_view body) {
    std::string frame = {'\x04', '\0', '\0', '\0', opcode};
    frame += Int(body.size());
    frame += body;
    if (send(socket_, frame.data(), frame.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(frame.size())) {
      return -1;
    }
    std::array<unsigned char, 9> header{};
    if (recv(socket_, header.data(), header.size(), MSG_WAITALL) != 9) return -1;
    size_t length = 0;
    for (size_t i = 5; i < 9; ++i) length = length << 8 | header[i];
    std::string answer(length, '\0');
    if (length > 0 && recv(socket_, answer.data(), length, MSG_WAITALL) < 0) return -1;
    return header[4];
  }
  int StartUp() { return Ask(1, std::string_view("\0\1\0\13CQL_VERSION\0\0053.0.0", 22)); }
  int Query(std::string_view text) {
    return Ask(7, Int(text.size()) + std::string(text) + std::string("\0\1\0", 3));
  }

 private:
  static std::string Int(size_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
  }

  const int socket_;
  bool connected_ = false;
};

size_t CountItems(liststore::ListStore& store, const liststore::ListId& list) {
  liststore::ListItems items;
  return store.GetListItems(list, liststore::GetOptions{}, &items).ok() ? items.size() : 99;
}

}  // namespace

int main() {
  constexpr int kReady = 2, kResult = 8;
  liststore::ManualClock clock(kNow);
  liststore::Options options;
  options.clock = &clock;
  options.memory_limit_bytes = 64 << 20;
  auto store = liststore::ListStore::Open(options);
  if (!store.ok() || !(*store)->CreateListFeature("user", "read", 60).ok()) return 1;
  const liststore::ListId list{"user", "read", "", "17"};
  const liststore::NewItem item[] = {{kNow, "story"}};
  if (!(*store)->AddListItems(list, item).ok()) return 2;

  liststore::CqlServerOptions server_options;
  server_options.store = store->get();
  server_options.manual_clock = &clock;
  auto server = liststore::CqlServer::Start(server_options);
  if (!server.ok()) return 3;
  const uint16_t port = (*server)->cql_port();
  {
    Client client(port);
    if (!client.connected() || client.StartUp() != kReady) return 4;
    if (client.Query("SELECT value FROM list_items") == -1) return 5;
    const size_t before = CountItems(**store, list);
    if (client.Query("UPDATE liststore.clock SET advance_seconds = 60 WHERE key = 'clock'") !=
        kResult) {
      return 6;
    }
    if (clock.NowNanos() != kNow + 60'000'000'000) return 7;
    std::printf("%zu item, then %zu", before, CountItems(**store, list));
  }
  (*server)->Stop();
  if (Client(port).connected()) return 8;

  // Without a store, on a clock of modes.
  liststore::ServerClock own_clock(kNow);
  liststore::CqlServerOptions own;
  own.memory_limit_bytes = 64 << 20;
  own.server_clock = &own_clock;
  auto second = liststore::CqlServer::Start(own);
  if (!second.ok()) return 9;
  Client client((*second)->cql_port());
  if (client.StartUp() != kReady) return 10;
  if (client.Query("UPDATE liststore.clock SET mode = 'scaled:60' WHERE key = 'clock'") !=
      kResult) {
    return 11;
  }
  std::printf("; clock %s\n", liststore::ClockSettingText(own_clock.setting()).c_str());
  return 0;
}
