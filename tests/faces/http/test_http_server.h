// TestHttpServer: loops with HTTP, and resources of the test's.
#ifndef LISTSTORE_TESTS_FACES_HTTP_TEST_HTTP_SERVER_H_
#define LISTSTORE_TESTS_FACES_HTTP_TEST_HTTP_SERVER_H_

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/faces/http/http_face.h"
#include "engine/network/server.h"

namespace liststore::testing {

using http_face::HttpAnswer;
using http_face::HttpCall;
using http_face::HttpFace;
using http_face::HttpFaceOptions;
using http_face::Resource;

// GET /now, immediate, and GET /size/{name}, elsewhere, with as many bytes; POST /echo; GET
// /wait, which waits for the gate to be opened; GET /late/{name}, as /size/{name}, but in an hour; GET
// /lost, withheld.
class TestHttpServer {
 public:
  explicit TestHttpServer(const HttpFaceOptions& options = {},
                          const network::ServerOptions& network = {}) {
    auto server = network::Server::Create(network);
    LS_CHECK(server.ok(), "there are descriptors for loops");
    server_ = *std::move(server);
    auto face = HttpFace::Open(*server_, options, All());
    LS_CHECK(face.ok(), "a port is free");
    face_ = *std::move(face);
    LS_CHECK(server_->Start().ok(), "there are threads for loops");
  }
  ~TestHttpServer() { Stop(); }

  uint16_t port() const { return face_->port(); }
  network::Server& server() { return *server_; }
  HttpFace& face() { return *face_; }
  void OpenGate() {
    gate_ = true;
    gate_.notify_all();
  }
  // Until /wait was asked for so often.
  void AwaitWaiting(int count) {
    for (int seen = waiting_; seen < count; seen = waiting_) waiting_.wait(seen);
  }
  void Stop() {
    server_->Stop();
    OpenGate();
    face_->Stop();
  }

 private:
  std::vector<Resource> All() {
    std::vector<Resource> all;
    all.push_back({"/now", {"GET"}, "", true, [](const HttpCall&) { return Said("now"); }});
    all.push_back({"/size/{name}", {"GET"}, "", false, [](const HttpCall& call) {
                     return Said(std::string(std::strtoull(call.name.c_str(), nullptr, 10), 'x'));
                   }});
    all.push_back({"/late/{name}", {"GET"}, "", false, [](const HttpCall& call) {
                     HttpAnswer answer =
                         Said(std::string(std::strtoull(call.name.c_str(), nullptr, 10), 'x'));
                     answer.delay = std::chrono::hours(1);
                     return answer;
                   }});
    all.push_back({"/echo", {"POST"}, "", false, [](const HttpCall& call) {
                     return Said(call.client.user + ":" + call.request.body);
                   }});
    all.push_back({"/wait", {"GET"}, "", false, [this](const HttpCall&) {
                     ++waiting_;
                     waiting_.notify_all();
                     gate_.wait(false);
                     return Said("waited");
                   }});
    all.push_back({"/lost", {"GET"}, "", false, [](const HttpCall&) {
                     HttpAnswer answer;
                     answer.is_withheld = true;
                     return answer;
                   }});
    return all;
  }
  static HttpAnswer Said(std::string text) {
    HttpAnswer answer;
    answer.content_type = "text/plain";
    answer.body = std::move(text);
    return answer;
  }

  std::atomic<bool> gate_{false};
  std::atomic<int> waiting_{0};
  std::unique_ptr<HttpFace> face_;
  std::unique_ptr<network::Server> server_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_FACES_HTTP_TEST_HTTP_SERVER_H_
