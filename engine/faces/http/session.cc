#include "engine/faces/http/session.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <new>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "engine/base/strings.h"
#include "engine/base/utf8.h"
#include "engine/execute/client_state.h"
#include "engine/execute/peer_text.h"
#include "engine/faces/http/text.h"

namespace liststore::http_face {
namespace {

// A session that is woken looks again all the same: a connection always waits for something.
constexpr std::chrono::seconds kLookTime(1);

uint64_t NumberOf(uint32_t loop, uint64_t number) { return uint64_t{loop} << 48 | number; }

HttpAnswer Overloaded(std::string_view message) {
  HttpAnswer answer = ErrorAnswer(503, "overloaded", message);
  answer.fields.emplace_back("Retry-After", "1");
  return answer;
}

// "https://host:port" of the page that a browser sends it from.
bool IsFromElsewhere(const HttpRequest& request) {
  if (request.origin.empty()) return false;
  const size_t scheme = request.origin.find("://");
  return scheme == std::string::npos || request.origin.substr(scheme + 3) != request.host;
}

// "localhost", "127.0.0.1:80", "[::1]:80", or not said: no name that somebody else makes lead here.
bool IsOwnHost(std::string_view host) {
  if (host.empty()) return true;
  const bool is_bracketed = host.front() == '[';
  const size_t end = is_bracketed ? host.find(']') : host.find(':');
  if (is_bracketed && end == std::string_view::npos) return false;
  const std::string name(is_bracketed ? host.substr(1, end - 1) : host.substr(0, end));
  std::string_view port = end == std::string_view::npos ? std::string_view()
                                                        : host.substr(end + (is_bracketed ? 1 : 0));
  if (!port.empty()) {
    if (port.front() != ':') return false;
    port.remove_prefix(1);
    if (!std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; })) return false;
  }
  std::array<unsigned char, sizeof(in6_addr)> address{};
  if (is_bracketed) return ::inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
  return absl::EqualsIgnoreCase(name, "localhost") ||
         ::inet_pton(AF_INET, name.c_str(), address.data()) == 1;
}

// What is assigned an empty one keeps its memory.
void Free(std::string& text) { std::string().swap(text); }

size_t HeldBytesOf(const HttpRequest& request) {
  return request.method.capacity() + request.target.capacity() + request.authorization.capacity() +
         request.content_type.capacity() + request.origin.capacity() + request.host.capacity() +
         request.if_none_match.capacity() + request.body.capacity() + request.fields.held_bytes();
}

// What an answer has to know of its request.
HttpRequest OutlineOf(const HttpRequest& request) {
  HttpRequest outline;
  if (request.method == "HEAD") outline.method = request.method;
  outline.is_http_1_0 = request.is_http_1_0;
  outline.keeps_alive = request.keeps_alive;
  return outline;
}

}  // namespace

// Made by the loop, then a worker's until it has posted that it is done, then the loop's again; but
// for what is said of it.
struct HttpSession::Job {
  HttpRequest request;
  size_t request_bytes = 0;
  std::shared_ptr<const execute::RequestMemo> memo;
  // Any thread: nobody waits for it.
  std::atomic<bool> is_cancelled{false};
  // The worker's while it works.
  execute::ClientState client;
  HttpAnswer answer;
  runtime::PostMemory done_memory;
  // The loop's.
  HttpSession* owner = nullptr;  // nullptr: it has gone
  bool is_done = false;
  network::Instant due = network::kNever;  // once it is done
};

HttpSession::HttpSession(HttpLoop& loop, network::Client& client, network::ClientAddress address)
    : loop_(loop),
      client_(client),
      address_(std::move(address)),
      id_(NumberOf(loop.event_loop.number(), loop.next_id++)),
      parser_(loop.server.limits) {
  TellOfConnection(/*is_open=*/true);
}

HttpSession::~HttpSession() {
  TellOfConnection(/*is_open=*/false);
  if (job_ == nullptr) return;
  job_->owner = nullptr;
  job_->is_cancelled.store(true, std::memory_order_relaxed);
  loop_.server.pool.Drop(id_);
}

void HttpSession::TellOfConnection(bool is_open) const noexcept {
  if (!loop_.server.on_connection) return;
  try {
    const std::string address = execute::PeerText(address_.peer, address_.peer_port);
    loop_.server.on_connection({.is_open = is_open,
                                .protocol = loop_.server.protocol,
                                .client = address,
                                .user = {},
                                .driver = {}});
  } catch (const std::bad_alloc&) {
    // Connections end for that very reason: what cannot be told is left out.
  }
}

network::Session::Result HttpSession::OnBytes(std::string_view received,
                                              const network::Turn& turn) {
  Result result = Answer(received, turn);
  result.held_bytes = HeldBytes();
  result.owes_answers = job_ != nullptr || !rest_.empty();
  result.has_written = std::exchange(has_written_, false);
  return result;
}

size_t HttpSession::HeldBytes() const {
  size_t bytes = parser_.held_bytes() + rest_.capacity();
  if (job_ == nullptr) return bytes;
  // Until then it is the worker's.
  if (job_->is_done) bytes += job_->answer.body.capacity();
  return bytes + job_->request_bytes;
}

network::Session::Result HttpSession::Answer(std::string_view received, const network::Turn& turn) {
  size_t consumed = 0;
  while (true) {
    if (job_ != nullptr) {
      if (std::optional<Result> waits = AwaitJob(turn)) {
        waits->consumed = consumed;
        return *waits;
      }
    }
    if (!AppendRest(turn)) return {.consumed = consumed, .waits_for = WaitsFor::kTurn};
    if (ends_) return {.waits_for = WaitsFor::kEnd};
    // Read all the same, so that its end is seen.
    if (is_deaf_) return {.consumed = received.size()};
    // Nothing is begun behind answers that may never be taken: what it makes would wait uncounted.
    if (consumed < received.size() && (!turn.answers.empty() || (consumed > 0 && turn.IsSpent()))) {
      return {.consumed = consumed, .waits_for = WaitsFor::kTurn};
    }
    size_t taken = 0;
    const RequestParser::Outcome outcome = parser_.Next(received.substr(consumed), taken, request_);
    consumed += taken;
    switch (outcome) {
      case RequestParser::Outcome::kIncomplete:
        return WaitForMore(consumed, turn);
      case RequestParser::Outcome::kRefused:
        request_ = {};
        ends_ = true;
        Append(parser_.refusal(), turn);
        break;
      case RequestParser::Outcome::kRequest:
        begun_at_ = network::kNever;
        has_asked_ = true;
        ends_ = !request_.keeps_alive;
        Take(turn);
        // Swapped, so that the memory goes as well.
        HttpRequest outline = OutlineOf(request_);
        std::swap(request_, outline);
    }
  }
}

network::Session::Result HttpSession::WaitForMore(size_t consumed, const network::Turn& turn) {
  if (!parser_.is_begun()) return {.consumed = consumed};
  const auto now = std::chrono::steady_clock::now();
  if (begun_at_ == network::kNever) begun_at_ = now;
  const network::Instant ends_at = begun_at_ + loop_.server.request_time;
  if (now >= ends_at) {
    request_ = {};
    ends_ = true;
    Append(
        ErrorAnswer(
            408, "request_too_slow",
            Cat("The request has not come whole within ",
                std::chrono::ceil<std::chrono::seconds>(loop_.server.request_time).count(), " s")),
        turn);
    return {.waits_for = WaitsFor::kEnd};
  }
  if (parser_.TakeContinue()) turn.answers.Append(kContinue);
  return {.consumed = consumed, .wakes_at = ends_at};
}

void HttpSession::Take(const network::Turn& turn) {
  HttpContext& server = loop_.server;
  server.requests.fetch_add(1, std::memory_order_relaxed);
  if (IsFromElsewhere(request_)) {
    return Append(ErrorAnswer(403, "other_origin",
                              "A page of another origin asks; open the server's own address"),
                  turn);
  }
  const Site& site = *server.site;
  if (std::optional<HttpAnswer> answer = site.AnswerAtOnce(request_)) {
    return Append(*std::move(answer), turn);
  }
  if (server.looks_at_host && !site.TakesAnyHost(request_) && !IsOwnHost(request_.host)) {
    return Append(
        ErrorAnswer(403, "other_host",
                    "Host is a name, which a page in a browser can make lead here; ask by an IP "
                    "address or localhost, or serve with --auth or TLS"),
        turn);
  }
  if (turn.is_overloaded) {
    server.refused.fetch_add(1, std::memory_order_relaxed);
    return Append(Overloaded("Too much is held for clients, or requests wait too long to be read; "
                             "ask again later"),
                  turn);
  }
  std::shared_ptr<const execute::RequestMemo> memo;
  if (!AnswerOnLoop(turn, memo)) Begin(std::move(memo), turn);
}

void HttpSession::SetClient(const network::Turn& turn, execute::ClientState& client) const {
  client.user = "anonymous";
  client.driver_name = loop_.server.protocol;
  client.shard = loop_.event_loop.number();
  client.peer_address = address_.peer;
  client.peer_port = address_.peer_port;
  client.local_address = address_.local;
  client.read_at = turn.begun_at();
}

bool HttpSession::AnswerOnLoop(const network::Turn& turn,
                               std::shared_ptr<const execute::RequestMemo>& memo) {
  const Site& site = *loop_.server.site;
  if (!site.MayAnswerOnLoop(request_)) return false;
  if (on_loop_ == nullptr) {
    on_loop_ = std::make_unique<execute::ClientState>();
    SetClient(turn, *on_loop_);
  }
  on_loop_->read_at = turn.begun_at();
  on_loop_->place = {.units_max = execute::kLoopUnitsMax, .time_max = execute::kLoopTimeMax};
  SiteCall call{request_, *on_loop_, {}};
  std::optional<HttpAnswer> answer = site.AnswerOnLoop(call);
  memo = std::move(call.memo);
  if (!answer) return false;
  has_written_ |= answer->has_written;
  const bool is_plain = answer->delay.count() == 0 && !answer->closes && !answer->is_withheld;
  if (is_plain) {
    Append(*std::move(answer), turn);
    return true;
  }
  // As what was made elsewhere, and is there.
  auto job = std::make_shared<Job>();
  job->owner = this;
  job->is_done = true;
  job->due = std::chrono::steady_clock::now() + answer->delay;
  job->answer = *std::move(answer);
  HttpRequest outline = OutlineOf(request_);
  request_ = std::move(outline);
  job_ = std::move(job);
  return true;
}

void HttpSession::Begin(std::shared_ptr<const execute::RequestMemo> memo,
                        const network::Turn& turn) {
  HttpContext& server = loop_.server;
  auto job = std::make_shared<Job>();
  job->memo = std::move(memo);
  HttpRequest outline = OutlineOf(request_);
  job->request = std::move(request_);
  job->request_bytes = HeldBytesOf(job->request);
  request_ = std::move(outline);
  job->owner = this;
  SetClient(turn, job->client);
  job->client.place = {.begun_at = job->client.read_at,
                       .is_cancelled = &job->is_cancelled,
                       .results = &server.results};
  const auto work = [job, &server, &loop = loop_.event_loop] {
    try {
      if (!job->is_cancelled.load(std::memory_order_relaxed)) Work(*job, server);
    } catch (const std::bad_alloc&) {
      job->answer = {};
      job->answer.closes = job->answer.is_withheld = true;
    }
    loop.Post(job->done_memory, [job] {
      job->is_done = true;
      job->due = std::chrono::steady_clock::now() + job->answer.delay;
      if (job->owner != nullptr) job->owner->client_.Wake();
    });
  };
  job_ = job;  // before another thread may be done with it
  if (server.pool.Post(id_, work)) return;
  job_.reset();
  server.refused.fetch_add(1, std::memory_order_relaxed);
  Append(Overloaded(Cat("Too many requests wait for a thread: there are ", server.pool.queued_max(),
                        " at most; ask again later")),
         turn);
}

void HttpSession::Work(Job& job, HttpContext& server) {
  if (server.log_in) {
    if (std::optional<HttpAnswer> refusal = LogInFor(job, server)) {
      job.answer = *std::move(refusal);
      return;
    }
  }
  SiteCall call{job.request, job.client, std::move(job.memo)};
  job.answer = server.site->Answer(call);
}

std::optional<HttpAnswer> HttpSession::LogInFor(Job& job, const HttpContext& server) {
  const auto refuse = [](std::string_view message) {
    HttpAnswer answer = ErrorAnswer(401, "unauthorized", message);
    answer.fields.emplace_back("WWW-Authenticate", R"(Basic realm="liststore", charset="UTF-8")");
    return answer;
  };
  constexpr std::string_view kScheme = "basic ";
  const std::string& sent = job.request.authorization;
  if (!absl::StartsWithIgnoreCase(sent, ToAbsl(kScheme))) {
    return refuse("Name and password of a role are asked for: Authorization: Basic ...");
  }
  std::string credentials;
  const bool is_base64 =
      absl::Base64Unescape(ToAbsl(std::string_view(sent).substr(kScheme.size())), &credentials);
  const size_t colon = credentials.find(':');
  if (!is_base64 || colon == std::string::npos || !IsValidUtf8(credentials)) {
    return refuse("The credentials are not NAME:PASSWORD in base64");
  }
  const std::string user = credentials.substr(0, colon);
  const LoginResult result =
      server.log_in(job.client.peer_address, user, credentials.substr(colon + 1));
  if (result.wait.count() > 0) {
    HttpAnswer answer = ErrorAnswer(
        429, "too_many_logins", "Wrong passwords came from this address; wait before the next one");
    answer.fields.emplace_back(
        "Retry-After",
        std::to_string(std::chrono::ceil<std::chrono::seconds>(result.wait).count()));
    return answer;
  }
  if (result.refusal) return refuse(*result.refusal);
  job.client.user = user;
  job.client.has_logged_in = true;
  return std::nullopt;
}

std::optional<network::Session::Result> HttpSession::AwaitJob(const network::Turn& turn) {
  const auto now = std::chrono::steady_clock::now();
  if (!job_->is_done && stops_) {
    job_->owner = nullptr;
    job_->is_cancelled.store(true, std::memory_order_relaxed);
    job_.reset();
    ends_ = true;
    Append(Overloaded("The server stops, and does not wait for what takes long"), turn);
    return std::nullopt;
  }
  if (!job_->is_done || (now < job_->due && !stops_)) {
    const network::Instant look_at = now + kLookTime;
    return Result{.waits_for = WaitsFor::kTime, .wakes_at = std::min(job_->due, look_at)};
  }
  HttpAnswer answer = std::move(job_->answer);
  job_.reset();
  has_written_ |= answer.has_written;
  ends_ |= answer.closes;
  is_deaf_ = answer.is_withheld && !answer.closes;
  if (!answer.is_withheld) Append(std::move(answer), turn);
  return std::nullopt;
}

void HttpSession::Append(HttpAnswer answer, const network::Turn& turn) {
  AppendAnswerHeader(answer, request_, ends_, turn.answers);
  if (request_.method == "HEAD") return;
  rest_ = std::move(answer.body);
  rest_sent_ = 0;
  if (rest_.size() > kSliceBytes) return;  // in its turn
  turn.answers.Append(rest_);
  Free(rest_);
}

bool HttpSession::AppendRest(const network::Turn& turn) {
  if (rest_.empty()) return true;
  const size_t slice = std::min(kSliceBytes, rest_.size() - rest_sent_);
  turn.answers.Append(std::string_view(rest_).substr(rest_sent_, slice));
  rest_sent_ += slice;
  if (rest_sent_ < rest_.size()) return false;
  Free(rest_);
  return true;
}

network::Session::Result RefusingSession::OnBytes(std::string_view received,
                                                  const network::Turn& turn) {
  if (received.empty()) return {};
  const HttpAnswer answer = Overloaded(refusal_);
  AppendAnswerHeader(answer, {}, /*ends=*/true, turn.answers);
  turn.answers.Append(answer.body);
  return {.waits_for = WaitsFor::kEnd};
}

}  // namespace liststore::http_face
