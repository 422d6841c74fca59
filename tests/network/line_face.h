// Two faces for tests of the network, whose requests are lines.
#ifndef LISTSTORE_TESTS_NETWORK_LINE_FACE_H_
#define LISTSTORE_TESTS_NETWORK_LINE_FACE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/network/server.h"
#include "engine/network/session.h"
#include "engine/network/tls.h"

namespace liststore::testing {

using network::Client;
using network::ClientAddress;
using network::kNever;
using network::LoopChoice;
using network::Session;
using network::SessionFactory;
using network::SessionLimits;
using network::Turn;

inline constexpr const char* kAnHour = "3600000";

// What the sessions of a face have seen.
struct Seen {
  std::atomic<size_t> calls{0};
  std::atomic<size_t> lines{0};
  std::atomic<size_t> answer_bytes_max{0};
  std::function<void()> at_line;  // by the loop, when a line was dealt with; set before one is sent
};

// A request is a line, and so is its answer: what the line says after the face's name, but for
//   bytes N      N times 'x', no end of the line
//   loop         the number of the loop
//   peer         "4 4": lengths of the addresses
//   tls          protocol and cipher suite, or "none"
//   later MS T   T, MS milliseconds later; lines after it wait
//   aside MS T   the same; lines after it do not wait
//   write T      T, as an answer that speaks of a write
//   spin         no answer: it works forever
//   close        the connection ends
class LineSession final : public Session {
 public:
  LineSession(std::string name, uint32_t loop, Client& client, ClientAddress address,
              std::set<LineSession*>& all, Seen& seen)
      : name_(std::move(name)),
        loop_(loop),
        client_(client),
        address_(std::move(address)),
        all_(all),
        seen_(seen) {
    all_.insert(this);
  }
  ~LineSession() override { all_.erase(this); }

  Result OnBytes(std::string_view received, const Turn& turn) override {
    ++seen_.calls;
    Result result;
    AnswerAside(turn);
    while (result.waits_for == WaitsFor::kBytes) {
      const size_t end = received.find('\n');
      if (end == std::string_view::npos) break;
      if (turn.IsSpent() && result.consumed > 0) {
        result.waits_for = WaitsFor::kTurn;
        break;
      }
      result.waits_for = Answer(received.substr(0, end), turn);
      if (result.waits_for == WaitsFor::kTime) break;
      if (spins_) return {.consumed = result.consumed, .waits_for = WaitsFor::kTurn};
      received.remove_prefix(end + 1);
      result.consumed += end + 1;
      if (seen_.at_line) seen_.at_line();
      ++seen_.lines;
    }
    seen_.answer_bytes_max = std::max(seen_.answer_bytes_max.load(), turn.answers.size());
    result.has_written = std::exchange(has_written_, false);
    if (!aside_.empty()) result.wakes_at = aside_.begin()->first;
    if (result.waits_for == WaitsFor::kTime) result.wakes_at = std::min(result.wakes_at, later_at_);
    return result;
  }
  void OnStop() override { stops_ = true; }
  void Push(std::string_view bytes) { client_.Push(bytes); }

 private:
  bool IsDue(network::Instant at) const { return stops_ || at <= std::chrono::steady_clock::now(); }

  void AnswerAside(const Turn& turn) {
    while (!aside_.empty() && IsDue(aside_.begin()->first)) {
      Say(aside_.begin()->second, turn);
      aside_.erase(aside_.begin());
    }
  }

  void Say(std::string_view text, const Turn& turn) {
    turn.answers.Append(name_ + ":" + std::string(text) + "\n");
  }

  WaitsFor Answer(std::string_view line, const Turn& turn) {
    const std::string text(line);
    char* rest = nullptr;
    if (text.starts_with("bytes ")) {
      turn.answers.Append(std::string(std::strtoul(text.c_str() + 6, nullptr, 10), 'x'));
    } else if (text == "loop") {
      Say(std::to_string(loop_), turn);
    } else if (text == "peer") {
      Say(std::to_string(address_.peer.size()) + " " + std::to_string(address_.local.size()), turn);
    } else if (text == "tls") {
      const auto tls = client_.tls();
      Say(tls ? tls->protocol + " " + tls->cipher_suite : "none", turn);
    } else if (text.starts_with("later ")) {
      const std::chrono::milliseconds delay(std::strtol(text.c_str() + 6, &rest, 10));
      if (later_at_ == kNever) later_at_ = std::chrono::steady_clock::now() + delay;
      if (!IsDue(later_at_)) return WaitsFor::kTime;
      later_at_ = kNever;
      Say(rest + 1, turn);
    } else if (text.starts_with("aside ")) {
      const std::chrono::milliseconds delay(std::strtol(text.c_str() + 6, &rest, 10));
      aside_.emplace(std::chrono::steady_clock::now() + delay, rest + 1);
    } else if (text.starts_with("write ")) {
      has_written_ = true;
      Say(text.substr(6), turn);
    } else if (text == "spin") {
      spins_ = true;
    } else if (text == "close") {
      return WaitsFor::kEnd;
    } else {
      Say(text, turn);
    }
    return WaitsFor::kBytes;
  }

  const std::string name_;
  const uint32_t loop_;
  Client& client_;
  const ClientAddress address_;
  std::set<LineSession*>& all_;
  Seen& seen_;
  std::multimap<network::Instant, std::string> aside_;
  network::Instant later_at_ = kNever;  // of the line that is waited for
  bool has_written_ = false;
  bool spins_ = false;
  bool stops_ = false;
};

class LineFactory final : public SessionFactory {
 public:
  LineFactory(std::string name, runtime::EventLoop& loop) : name_(std::move(name)), loop_(loop) {}

  std::unique_ptr<Session> Make(Client& client, ClientAddress address) override {
    EXPECT_TRUE(loop_.IsCurrent());
    return std::make_unique<LineSession>(name_, loop_.number(), client, std::move(address),
                                         sessions_, seen_);
  }
  void Push(const std::string& bytes) {
    loop_.Post([this, bytes] {
      for (LineSession* session : sessions_) session->Push(bytes);
    });
  }
  // Runs `work` on the loop's thread: what arrives meanwhile waits for it.
  void HoldLoop(std::function<void()> work) { loop_.Post(std::move(work)); }
  Seen& seen() { return seen_; }

 private:
  const std::string name_;
  runtime::EventLoop& loop_;
  std::set<LineSession*> sessions_;
  Seen seen_;
};

// Two faces, "one" and "two", on the same loops.
class TwoFaces {
 public:
  // With `tls`, which outlives them, both are ports of TLS.
  explicit TwoFaces(const network::ServerOptions& options = {},
                    const network::TlsAcceptor* tls = nullptr)
      : tls_(tls) {
    auto server = network::Server::Create(options);
    LS_CHECK(server.ok(), "there are descriptors for loops");
    server_ = *std::move(server);
    one_ = Open("one", LoopChoice::kNextInTurn);
    two_ = Open("two", LoopChoice::kByPeerPort);
    LS_CHECK(server_->Start().ok(), "there are threads for loops");
  }

  uint16_t one() const { return one_; }
  uint16_t two() const { return two_; }
  // Of face "one" on the first loop.
  LineFactory& face() { return *factories_[0]; }
  network::Server& server() { return *server_; }
  void AwaitConnections(size_t count) const {
    while (server_->connection_count() != count) std::this_thread::yield();
  }

 private:
  uint16_t Open(const std::string& name, LoopChoice choice) {
    std::vector<SessionFactory*> face;
    for (uint32_t loop = 0; loop < server_->loop_count(); ++loop) {
      factories_.push_back(std::make_unique<LineFactory>(name, server_->loop(loop)));
      face.push_back(factories_.back().get());
    }
    const auto port = server_->Listen("127.0.0.1", 0, face, choice, tls_);
    LS_CHECK(port.ok(), "a port is free");
    return *port;
  }

  const network::TlsAcceptor* const tls_;
  std::vector<std::unique_ptr<LineFactory>> factories_;
  std::unique_ptr<network::Server> server_;
  uint16_t one_ = 0;
  uint16_t two_ = 0;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_NETWORK_LINE_FACE_H_
