// GET /: the page comes whole, kept and guarded as it says. What it does in a browser: tests/drivers/page.
#include "engine/faces/http/page.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "liststore/cql_server.h"
#include "tests/faces/http/http_client.h"

namespace liststore::testing {
namespace page_test {

std::unique_ptr<CqlServer> Start(CqlServerOptions options = {}) {
  options.http_port = 0;
  options.memory_limit_bytes = 64 << 20;
  auto server = CqlServer::Start(options);
  EXPECT_TRUE(server.ok()) << server.status().message();
  return server.ok() ? *std::move(server) : nullptr;
}

// What stands between `open` and `close`; empty: nothing does.
std::string Between(const std::string& text, std::string_view open, std::string_view close) {
  const size_t begin = text.find(open);
  if (begin == std::string::npos) return "";
  const size_t end = text.find(close, begin);
  return text.substr(begin + open.size(), end - begin - open.size());
}

std::string HashSource(const std::string& text) {
  std::array<unsigned char, 32> digest{};
  EXPECT_EQ(EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr), 1);
  const std::string bytes(digest.begin(), digest.end());
  return "'sha256-" + absl::Base64Escape(bytes) + "'";
}

TEST(PageTest, IsOneDocumentThatLoadsNothing) {
  const auto server = Start();
  HttpClient client(server->http_port());
  HttpReply reply = client.Ask("GET /");
  ASSERT_EQ(reply.status, 200);
  EXPECT_EQ(reply.fields["content-type"], "text/html; charset=utf-8");
  EXPECT_EQ(reply.fields["x-content-type-options"], "nosniff");
  EXPECT_EQ(reply.body, http_face::kPageHtml);
  EXPECT_TRUE(reply.body.starts_with("<!DOCTYPE html>\n"));
  EXPECT_TRUE(reply.body.ends_with("</html>\n"));
  for (const char* what : {" src=", "@import", "url(", "innerHTML", "insertAdjacentHTML",
                           "document.write", " onclick=", " style=\""}) {
    EXPECT_EQ(reply.body.find(what), std::string::npos) << what;
  }
}

// The browser runs what has these hashes: had they not been made of what is sent, it would be nothing.
TEST(PageTest, PolicyNamesItsOwnStyleAndScriptAlone) {
  const auto server = Start();
  HttpClient client(server->http_port());
  HttpReply reply = client.Ask("GET /");
  const std::string style = Between(reply.body, "<style>", "</style>");
  const std::string script = Between(reply.body, "<script type=\"module\">", "</script>");
  ASSERT_GT(style.size(), 1000u);
  ASSERT_GT(script.size(), 10'000u);
  const std::string policy = reply.fields["content-security-policy"];
  for (const std::string& part :
       {std::string("default-src 'none';"), "script-src " + HashSource(script) + ";",
        "style-src " + HashSource(style) + ";", std::string("connect-src 'self';"),
        std::string("frame-ancestors 'none';"), std::string("form-action 'none';")}) {
    EXPECT_NE(policy.find(part), std::string::npos) << part << " in " << policy;
  }
  EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
}

TEST(PageTest, HeadIsTheSameWithoutABody) {
  const auto server = Start();
  HttpClient client(server->http_port());
  HttpReply get = client.Ask("GET /");
  HttpReply head = client.Ask("HEAD /");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(head.fields, get.fields);
  EXPECT_EQ(head.fields["content-length"], std::to_string(get.body.size()));
  EXPECT_EQ(client.Ask("GET /health").status, 200);
}

TEST(PageTest, IsNotSentAgainToABrowserThatHasIt) {
  const auto server = Start();
  HttpClient client(server->http_port());
  HttpReply first = client.Ask("GET /");
  const std::string tag = first.fields["etag"];
  ASSERT_GT(tag.size(), 2u);
  EXPECT_EQ(first.fields["cache-control"], "private, no-cache");
  for (const std::string& said : {tag, "W/" + tag, "\"other\", " + tag, std::string("*")}) {
    HttpReply again = client.Ask("GET /", "", "If-None-Match: " + said + "\r\n");
    EXPECT_EQ(again.status, 304) << said;
    EXPECT_EQ(again.body, "");
    EXPECT_EQ(again.fields["etag"], tag);
    EXPECT_EQ(again.fields["content-security-policy"], first.fields["content-security-policy"]);
    EXPECT_FALSE(again.fields.contains("content-length"));
  }
  for (const std::string said : {"\"other\"", "", ",", "\""}) {
    EXPECT_EQ(client.Ask("GET /", "", "If-None-Match: " + said + "\r\n").body, first.body) << said;
  }
  // What counts is kept by nobody.
  EXPECT_EQ(client.Ask("GET /metrics").fields["cache-control"], "no-store");
}

TEST(PageTest, IsReadAlone) {
  const auto server = Start();
  HttpClient client(server->http_port());
  HttpReply reply = client.Ask("POST /", "{}");
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.fields["allow"], "GET, HEAD, OPTIONS");
  EXPECT_EQ(client.Ask("GET /index.html").status, 404);
}

// Where nobody logs in, no page of a name that is made to lead here gets it.
TEST(PageTest, OtherHostsAreRefused) {
  const auto server = Start();
  HttpClient client(server->http_port());
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n"));
  EXPECT_EQ(client.Read().status, 403);
}

TEST(PageTest, BrowsersAreAskedForANameWhereClientsLogIn) {
  CqlServerOptions options;
  options.user = "liststore";
  options.password = "secret";
  const auto server = Start(options);
  ASSERT_NE(server, nullptr);
  HttpClient client(server->http_port());
  HttpReply refused = client.Ask("GET /");
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.fields["www-authenticate"], "Basic realm=\"liststore\", charset=\"UTF-8\"");
  EXPECT_EQ(refused.body.find("<html"), std::string::npos);
  const std::string login =
      "Authorization: Basic " + absl::Base64Escape("liststore:secret") + "\r\n";
  HttpReply page = client.Ask("GET /", "", login);
  EXPECT_EQ(page.status, 200);
  // Nor does it say without a login whether a browser still has the right one.
  EXPECT_EQ(client.Ask("GET /", "", "If-None-Match: " + page.fields["etag"] + "\r\n").status, 401);
}

}  // namespace page_test
}  // namespace liststore::testing
