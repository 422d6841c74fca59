// TLS on the network's ports: what is loaded, who gets in, and that nothing a client does ends the
// server.
#include "engine/network/tls.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "tests/network/line_face.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/seed.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_authority.h"
#include "tests/support/tls_peer.h"

namespace liststore::testing {
namespace tls_test {

using network::TlsAcceptor;
using network::TlsChannel;
using State = network::TlsChannel::State;

// A server's files, and an authority for clients.
class TlsFiles {
 public:
  TlsFiles() {
    Write(authority_.SignLocalhost());
    WriteFile(folder_ / "clients.crt", clients_.certificate());
  }

  void Write(const TestCertificate& own) const {
    WriteFile(folder_ / "node.crt", own.certificate);
    WriteFile(folder_ / "node.key", own.key);
  }
  TlsOptions Options() const {
    return {.certificate_file = folder_ / "node.crt", .key_file = folder_ / "node.key"};
  }
  TlsOptions AskingClients() const {
    TlsOptions options = Options();
    options.ca_file = folder_ / "clients.crt";
    options.require_client_certificate = true;
    return options;
  }
  const TestAuthority& authority() const { return authority_; }
  const TestAuthority& clients() const { return clients_; }
  const TempFolder& folder() const { return folder_; }
  // A client that believes what the authority has signed.
  TlsPeerOptions Trusting() const { return {.ca = authority_.certificate()}; }

 private:
  const TempFolder folder_;
  const TestAuthority authority_{"servers"};
  const TestAuthority clients_{"clients"};
};

std::unique_ptr<TlsAcceptor> MakeAcceptor(const TlsOptions& options) {
  auto acceptor = TlsAcceptor::Create(options);
  EXPECT_TRUE(acceptor.ok()) << acceptor.status().message();
  return acceptor.ok() ? *std::move(acceptor) : nullptr;
}

std::string WhyNot(const TlsOptions& options) {
  const auto acceptor = TlsAcceptor::Create(options);
  if (acceptor.ok()) return "";
  EXPECT_TRUE(absl::IsInvalidArgument(acceptor.status()));
  return std::string(acceptor.status().message());
}

// Gives all that one side has to say to the other, `step` bytes at a time, until both are silent;
// returns what the client has said by then.
std::string Exchange(TlsPeer& client, TlsChannel& server, size_t step = SIZE_MAX) {
  std::string said;
  for (bool goes_on = true; goes_on;) {
    client.Shake();
    const std::string sent = client.Take();
    char text[1000];
    for (size_t at = 0; at < sent.size();) {
      const std::string part = sent.substr(at, step);
      at += part.size();
      said.append(text, server.Decrypt(part, text, sizeof(text)));
      while (server.has_more() && !server.is_over()) {
        said.append(text, server.Decrypt({}, text, sizeof(text)));
      }
    }
    OutputBuffer out;
    EXPECT_TRUE(server.Encrypt({}, out));
    client.Give(out.view());
    goes_on = !sent.empty() || !out.empty();
  }
  return said;
}

TEST(TlsChannel, RecordsMayArriveInAnyPieces) {
  const TlsFiles files;
  const auto acceptor = MakeAcceptor(files.Options());
  const std::string text(100'000, 't');
  for (const char* const version : {"1.2", "1.3"}) {
    for (const size_t step : {size_t{1}, size_t{7}, size_t{5000}, SIZE_MAX}) {
      TlsPeerOptions options = files.Trusting();
      options.max_version = version;
      TlsPeer client(options);
      const auto server = acceptor->MakeChannel();
      EXPECT_EQ(Exchange(client, *server, step), "");
      ASSERT_EQ(server->state(), State::kOpen) << client.error();
      client.Write(text);
      EXPECT_EQ(Exchange(client, *server, step), text);
      OutputBuffer out;
      ASSERT_TRUE(server->Encrypt(text, out));
      client.Give(out.view());
      EXPECT_EQ(client.Read(), text);
      client.SayEnd();
      Exchange(client, *server, step);
      EXPECT_EQ(server->state(), State::kEnded);
      out.Clear();
      ASSERT_TRUE(server->Encrypt("answered all the same", out));
      server->Finish(out);
      client.Give(out.view());
      EXPECT_EQ(client.Read(), "answered all the same");
      EXPECT_TRUE(client.has_ended());
    }
  }
}

TEST(TlsChannel, SaysNothingToWhatIsNoTls) {
  const TlsFiles files;
  const auto acceptor = MakeAcceptor(files.Options());
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\x04\0\0\0\x05\0\0\0\0", 9),
        std::string("\x15\x03\x03\0\2\2\0", 7), std::string(1, '\0')}) {
    const auto server = acceptor->MakeChannel();
    char text[100];
    EXPECT_EQ(server->Decrypt(bytes, text, sizeof(text)), 0u);
    EXPECT_EQ(server->state(), State::kFailed);
    EXPECT_FALSE(server->has_output());
    OutputBuffer out;
    EXPECT_FALSE(server->Encrypt("answer", out)) << "nothing was agreed on";
  }
}

TEST(TlsChannel, ItsKeysMayBeRenewedWhereThatIsCheap) {
  const TlsFiles files;
  const auto acceptor = MakeAcceptor(files.Options());
  for (const char* const version : {"1.2", "1.3"}) {
    TlsPeerOptions options = files.Trusting();
    options.max_version = version;
    TlsPeer client(options);
    const auto server = acceptor->MakeChannel();
    Exchange(client, *server);
    client.AskForNewKeys();
    client.Write("before");
    const std::string said = Exchange(client, *server);
    if (version == std::string("1.3")) {
      EXPECT_EQ(said, "before");
      EXPECT_EQ(client.error(), "");
    } else {
      // Another handshake is as much work as the first, which a client could ask for without end.
      EXPECT_EQ(client.error(), "no renegotiation");
    }
  }
}

// What is allocated shows in mallinfo2(), as it does not where a sanitizer allocates.
bool SeesAllocations() {
  const size_t before = mallinfo2().uordblks;
  const std::string some(100'000, 'x');
  return mallinfo2().uordblks >= before + some.size();
}

// What held_bytes() says is an estimate: never less than it is, at most three times as much.
TEST(TlsChannel, TakesAboutWhatItSays) {
  if (!SeesAllocations()) GTEST_SKIP() << "memory is a sanitizer's";
  const TlsFiles files;
  const auto acceptor = MakeAcceptor(files.AskingClients());
  constexpr size_t kCount = 64;
  for (const char* const version : {"1.2", "1.3"}) {
    std::vector<std::unique_ptr<TlsPeer>> clients;
    for (size_t i = 0; i < kCount; ++i) {
      TlsPeerOptions options = files.Trusting();
      options.max_version = version;
      options.own = files.clients().Sign("client");
      clients.push_back(std::make_unique<TlsPeer>(options));
      clients.back()->Shake();
    }
    std::vector<std::string> hellos;
    for (auto& client : clients) hellos.push_back(client->Take());
    std::vector<std::unique_ptr<TlsChannel>> servers(kCount);
    std::vector<OutputBuffer> outs(kCount);
    char text[1000];
    // All that is allocated between `before` and `after` is the servers' own.
    size_t before = mallinfo2().uordblks;
    for (size_t i = 0; i < kCount; ++i) {
      servers[i] = acceptor->MakeChannel();
      servers[i]->Decrypt(hellos[i], text, sizeof(text));
    }
    const size_t in_handshake = (mallinfo2().uordblks - before) / kCount;
    RecordProperty(std::string("handshake_bytes_") + version, static_cast<int>(in_handshake));
    EXPECT_LE(in_handshake, servers[0]->held_bytes());
    EXPECT_GE(in_handshake * 3, servers[0]->held_bytes());
    for (size_t i = 0; i < kCount; ++i) {
      Exchange(*clients[i], *servers[i]);
      ASSERT_EQ(servers[i]->state(), State::kOpen) << clients[i]->error();
      clients[i]->Write(std::string(10'000, 't'));
      Exchange(*clients[i], *servers[i]);
    }
    const size_t said = servers[0]->held_bytes();
    before = mallinfo2().uordblks;
    servers.clear();
    servers.resize(kCount);
    const size_t open = (before - mallinfo2().uordblks) / kCount;
    RecordProperty(std::string("open_bytes_") + version, static_cast<int>(open));
    EXPECT_LE(open, said);
    EXPECT_GE(open * 3, said);
  }
}

TEST(TlsAcceptor, SaysWhichFileItCannotUse) {
  const TlsFiles files;
  const TempFolder& folder = files.folder();
  const TestCertificate other = files.authority().SignLocalhost();
  WriteFile(folder / "other.key", other.key);
  WriteFile(folder / "locked.key", EncryptedKey(other.key, "secret"));
  WriteFile(folder / "text", "some text\n");
  std::string broken = other.certificate;
  broken.replace(broken.size() / 2, 3, "???");
  WriteFile(folder / "broken.crt", ReadFile(folder / "node.crt") + broken);
  const auto with = [&](auto change) {
    TlsOptions options = files.AskingClients();
    change(options);
    return WhyNot(options);
  };
  EXPECT_EQ(with([](TlsOptions&) {}), "");
  EXPECT_EQ(with([&](TlsOptions& o) { o.certificate_file = "/nowhere/node.crt"; }),
            "TLS certificate /nowhere/node.crt: No such file or directory");
  EXPECT_EQ(with([&](TlsOptions& o) { o.certificate_file = folder.path(); }),
            "TLS certificate " + folder.path() + ": Is a directory");
  EXPECT_EQ(with([&](TlsOptions& o) { o.certificate_file = folder / "text"; }),
            "TLS certificate " + folder / "text" + ": holds no certificate in PEM form");
  EXPECT_NE(with([&](TlsOptions& o) {
              o.certificate_file = folder / "broken.crt";
            }).find("broken.crt: certificate 2: "),
            std::string::npos);
  EXPECT_EQ(with([&](TlsOptions& o) { o.key_file = "/nowhere/node.key"; }),
            "TLS key /nowhere/node.key: No such file or directory");
  EXPECT_EQ(with([&](TlsOptions& o) { o.key_file = folder / "node.crt"; }),
            "TLS key " + folder / "node.crt" + ": holds no private key in PEM form");
  EXPECT_EQ(with([&](TlsOptions& o) { o.key_file = folder / "other.key"; }),
            "TLS key " + folder / "other.key" + ": is not the key of the certificate " +
                folder / "node.crt");
  EXPECT_EQ(with([&](TlsOptions& o) { o.key_file = folder / "locked.key"; }),
            "TLS key " + folder / "locked.key" +
                ": is encrypted with a passphrase; it has to be one without");
  EXPECT_EQ(with([&](TlsOptions& o) { o.ca_file = folder / "text"; }),
            "TLS CA " + folder / "text" + ": holds no certificate in PEM form");
  EXPECT_EQ(with([&](TlsOptions& o) { o.ca_file = ""; }),
            "TLS asks clients for a certificate, and no file says which CAs may have signed it");
  EXPECT_EQ(with([&](TlsOptions& o) { o.ciphers = "TLS_AES_256_GCM_SHA384:TLS_ROT13"; }),
            "TLS ciphers 'TLS_AES_256_GCM_SHA384:TLS_ROT13': OpenSSL has no 'TLS_ROT13'");
  EXPECT_EQ(with([&](TlsOptions& o) { o.ciphers = "ROT13"; }),
            "TLS ciphers 'ROT13': OpenSSL has no 'ROT13'");
}

TEST(TlsAcceptor, CertificateAndKeyMayBeInOneFile) {
  const TlsFiles files;
  WriteFile(files.folder() / "both.pem",
            ReadFile(files.folder() / "node.key") + ReadFile(files.folder() / "node.crt"));
  EXPECT_EQ(WhyNot({.certificate_file = files.folder() / "both.pem"}), "");
}

// --- Over sockets --------------------------------------------------------------------------------

// A server with two ports of TLS.
class TlsServer {
 public:
  explicit TlsServer(const TlsFiles& files, const network::ServerOptions& options = {})
      : TlsServer(files.Options(), options) {}
  explicit TlsServer(const TlsOptions& tls, const network::ServerOptions& options = {})
      : acceptor_(MakeAcceptor(tls)), faces_(options, acceptor_.get()) {}

  uint16_t port() const { return faces_.one(); }
  uint16_t other_port() const { return faces_.two(); }
  TwoFaces& faces() { return faces_; }
  TlsAcceptor& acceptor() { return *acceptor_; }
  uint64_t shaken() { return faces_.server().counters().tls_handshakes; }
  uint64_t failed() { return faces_.server().counters().tls_handshakes_failed; }
  void AwaitFailed(uint64_t count) {
    while (failed() < count) std::this_thread::yield();
    EXPECT_EQ(failed(), count);
  }

 private:
  const std::unique_ptr<TlsAcceptor> acceptor_;
  TwoFaces faces_;
};

void ExpectSays(RawTlsClient& client, const std::string& line, const std::string& answer) {
  ASSERT_TRUE(client.is_open()) << client.peer().error();
  ASSERT_TRUE(client.Send(line + "\n"));
  EXPECT_EQ(client.ReadBytes(answer.size()), answer) << client.peer().error();
}

TEST(Tls, ClientsAreServedAndVerifyTheServer) {
  const TlsFiles files;
  TlsServer server(files);
  for (const char* const host : {"localhost", ""}) {
    TlsPeerOptions options = files.Trusting();
    options.host = host;
    RawTlsClient client(server.port(), options);
    ExpectSays(client, "hello\ntls", "one:hello\none:TLSv1.3 TLS_AES_256_GCM_SHA384\n");
    EXPECT_EQ(client.peer().server_name(), "localhost");
  }
  EXPECT_EQ(server.shaken(), 2u);
  EXPECT_EQ(server.failed(), 0u);
  TlsPeerOptions options = files.Trusting();
  options.host = "elsewhere.example";
  EXPECT_EQ(RawTlsClient(server.port(), options).peer().error(), "certificate verify failed");
  options = {.ca = files.clients().certificate()};
  EXPECT_EQ(RawTlsClient(server.port(), options).peer().error(), "certificate verify failed");
  server.AwaitFailed(2);
}

TEST(Tls, WhatIsAnsweredIsWhatIsAnsweredWithout) {
  const TlsFiles files;
  TlsServer server(files, {.loops = 2});
  RawTlsClient client(server.port(), files.Trusting());
  for (const size_t bytes : {65'534u, 65'535u, 65'536u, 300'000u}) {
    const std::string line(bytes, 'q');
    ExpectSays(client, "a\n" + line + "\nb", "one:a\none:" + line + "\none:b\n");
  }
  ExpectSays(client, "bytes 20000000\nend", std::string(20'000'000, 'x') + "one:end\n");
  ExpectSays(client, "later 20 a\nb\naside 5 c\nd", "one:a\none:b\none:d\none:c\n");
  std::string lines, answers;
  for (int i = 0; i < 20'000; ++i) {
    lines += std::to_string(i) + "\n";
    answers += "one:" + std::to_string(i) + "\n";
  }
  ExpectSays(client, lines + "end", answers + "one:end\n");
}

TEST(Tls, WhatIsPushedComesAfterWhatIsAnswered) {
  const TlsFiles files;
  TlsServer server(files);
  RawTlsClient client(server.port(), files.Trusting());
  RawTlsClient other(server.other_port(), files.Trusting());
  ExpectSays(client, "a\nbytes 20000000", "one:a\n");
  for (int i = 0; i < 10; ++i) server.faces().face().Push("news\n");
  ExpectSays(other, "a", "two:a\n");
  EXPECT_EQ(client.ReadBytes(20'000'000), std::string(20'000'000, 'x'));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(client.ReadBytes(5), "news\n");
  server.faces().face().Push("more\n");
  EXPECT_EQ(client.ReadBytes(5), "more\n");
}

TEST(Tls, AClientThatDoesNotReadIsNotHeardAndLosesNothing) {
  constexpr size_t kAnswer = 100'000;
  const TlsFiles files;
  TlsServer server(files, {.limits = {.output_bytes_max = 64 << 10}});
  RawTlsClient client(server.port(), files.Trusting(), 0, nullptr, 64 << 10);
  RawTlsClient other(server.port(), files.Trusting());
  const Seen& seen = server.faces().face().seen();
  constexpr int kLines = 200;
  std::string lines;
  for (int i = 0; i < kLines; ++i) lines += "bytes " + std::to_string(kAnswer) + "\n";
  client.peer().Write(lines);
  ASSERT_TRUE(client.socket().Send(client.peer().Take()));
  ExpectSays(other, "ping", "one:ping\n");
  EXPECT_LT(seen.lines, kLines / 2u) << "the socket's buffers hold some MiB";
  EXPECT_EQ(client.ReadBytes(kLines * kAnswer), std::string(kLines * kAnswer, 'x'));
}

TEST(Tls, TheEndIsSaidByBothSides) {
  const TlsFiles files;
  TlsServer server(files);
  {
    RawTlsClient client(server.port(), files.Trusting());
    client.peer().Write("a\nbytes 3000000\nb\n");
    client.peer().SayEnd();
    ASSERT_TRUE(client.socket().Send(client.peer().Take()));
    EXPECT_EQ(client.ReadAll(), "one:a\n" + std::string(3'000'000, 'x') + "one:b\n");
    EXPECT_TRUE(client.peer().has_ended()) << "and not cut off";
  }
  {
    RawTlsClient client(server.port(), files.Trusting());
    ASSERT_TRUE(client.Send("a\nclose\nb\n"));
    EXPECT_EQ(client.ReadAll(), "one:a\n");
    EXPECT_TRUE(client.peer().has_ended());
  }
  {
    RawTlsClient client(server.port(), files.Trusting());
    ExpectSays(client, "a", "one:a\n");
    server.faces().server().Stop();
    EXPECT_EQ(client.ReadAll(), "");
    EXPECT_TRUE(client.peer().has_ended());
  }
}

TEST(Tls, AClientMayGoAtAnyMoment) {
  const TlsFiles files;
  TlsServer server(files);
  for (const char* const lines : {"", "a", "a\n", "bytes 5000000\n", "aside 3600000 x\n"}) {
    RawTlsClient closes(server.port(), files.Trusting());
    ASSERT_TRUE(closes.Send(lines));
    RawTlsClient half(server.port(), files.Trusting());
    ASSERT_TRUE(half.Send(lines));
    half.socket().ShutDownWrites();
    half.ReadAll();
    EXPECT_EQ(half.peer().error(), "");
  }
  RawTlsClient client(server.port(), files.Trusting());
  ExpectSays(client, "a", "one:a\n");
  EXPECT_EQ(server.failed(), 0u);
}

TEST(Tls, PlainBytesGetNoAnswer) {
  const TlsFiles files;
  TlsServer server(files);
  for (const std::string bytes : {"hello\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawCqlClient client(server.port());
    ASSERT_TRUE(client.Send(bytes));
    EXPECT_EQ(client.ReadAll(), "");
  }
  server.AwaitFailed(2);
  // Who connects and goes has not tried.
  RawCqlClient(server.port()).Close();
  RawTlsClient client(server.port(), files.Trusting());
  ExpectSays(client, "a", "one:a\n");
  EXPECT_EQ(server.failed(), 2u);
}

TEST(Tls, WhatMayBeAgreedOn) {
  const TlsFiles files;
  TlsOptions only_new = files.Options();
  only_new.min_version = TlsVersion::k1_3;
  TlsOptions few = files.Options();
  few.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256";
  TlsServer any(files), one_three(only_new), ciphers(few);
  const auto agreed = [&](TlsServer& server, const char* version, const char* list = "") {
    TlsPeerOptions options = files.Trusting();
    options.min_version = version;
    options.max_version = version;
    options.ciphers = list;
    RawTlsClient client(server.port(), options);
    if (!client.is_open()) return client.peer().error();
    return client.peer().protocol() + " " + client.peer().cipher();
  };
  EXPECT_EQ(agreed(any, "1.3"), "TLSv1.3 TLS_AES_256_GCM_SHA384");
  EXPECT_EQ(agreed(any, "1.2"), "TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384");
  EXPECT_EQ(agreed(any, "1.1"), "tlsv1 alert protocol version");
  EXPECT_EQ(agreed(one_three, "1.3"), "TLSv1.3 TLS_AES_256_GCM_SHA384");
  EXPECT_EQ(agreed(one_three, "1.2"), "tlsv1 alert protocol version");
  EXPECT_EQ(agreed(ciphers, "1.3"), "TLSv1.3 TLS_AES_128_GCM_SHA256");
  EXPECT_EQ(agreed(ciphers, "1.2"), "TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256");
  EXPECT_EQ(agreed(ciphers, "1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"),
            "sslv3 alert handshake failure");
  any.AwaitFailed(1);
  one_three.AwaitFailed(1);
  ciphers.AwaitFailed(1);
}

TEST(Tls, ClientsShowACertificateWhereOneIsAskedFor) {
  const TlsFiles files;
  TlsServer server(files.AskingClients());
  const auto below = files.clients().SignAuthority("a department");
  TestCertificate by_chain = below->Sign("client");
  by_chain.certificate += below->certificate();
  for (const char* const version : {"1.2", "1.3"}) {
    const auto connect = [&](const TestCertificate& own) {
      TlsPeerOptions options = files.Trusting();
      options.max_version = version;
      options.own = own;
      return std::make_unique<RawTlsClient>(server.port(), options);
    };
    auto client = connect(files.clients().Sign("client"));
    ExpectSays(*client, "a", "one:a\n");
    client = connect(by_chain);
    ExpectSays(*client, "a", "one:a\n");
    const uint64_t failed = server.failed();
    client = connect({});
    client->ReadAll();
    EXPECT_EQ(client->peer().error(), version == std::string("1.3")
                                          ? "tlsv13 alert certificate required"
                                          : "sslv3 alert handshake failure");
    client = connect(files.authority().Sign("client"));
    client->ReadAll();
    EXPECT_EQ(client->peer().error(), "tlsv1 alert unknown ca");
    server.AwaitFailed(failed + 2);
  }
}

TEST(Tls, ATicketSparesHalfOfTheHandshake) {
  const TlsFiles files;
  for (const TlsOptions& options : {files.Options(), files.AskingClients()}) {
    TlsServer server(options);
    for (const char* const version : {"1.2", "1.3"}) {
      TlsPeerOptions peer = files.Trusting();
      peer.max_version = version;
      peer.own = files.clients().Sign("client");
      RawTlsClient first(server.port(), peer);
      ExpectSays(first, "a", "one:a\n");
      EXPECT_FALSE(first.peer().has_resumed());
      RawTlsClient second(server.port(), peer, 0, &first.peer());
      ExpectSays(second, "a", "one:a\n");
      EXPECT_TRUE(second.peer().has_resumed());
    }
  }
}

TEST(Tls, FilesAreReadAgainWithoutAConnectionLost) {
  const TlsFiles files;
  TlsServer server(files);
  RawTlsClient before(server.port(), files.Trusting());
  ExpectSays(before, "a", "one:a\n");
  files.Write(files.authority().Sign("another", {"DNS:localhost"}));
  {
    RawTlsClient client(server.port(), files.Trusting());
    ExpectSays(client, "a", "one:a\n");
    EXPECT_EQ(client.peer().server_name(), "localhost") << "nobody has said so yet";
  }
  ASSERT_TRUE(server.acceptor().Reload().ok());
  RawTlsClient after(server.port(), files.Trusting(), 0, &before.peer());
  ExpectSays(after, "b", "one:b\n");
  EXPECT_EQ(after.peer().server_name(), "another");
  EXPECT_FALSE(after.peer().has_resumed()) << "tickets go with the certificate";
  ExpectSays(before, "b", "one:b\n");

  WriteFile(files.folder() / "node.key", files.authority().SignLocalhost().key);
  const absl::Status status = server.acceptor().Reload();
  EXPECT_EQ(status.message(), "TLS key " + files.folder() / "node.key" +
                                  ": is not the key of the certificate " +
                                  files.folder() / "node.crt");
  RawTlsClient client(server.port(), files.Trusting());
  ExpectSays(client, "c", "one:c\n");
  EXPECT_EQ(client.peer().server_name(), "another");
  ExpectSays(before, "c", "one:c\n");
}

TEST(Tls, OtherFilesAreTakenWithoutAConnectionLost) {
  const TlsFiles files;
  TlsServer server(files);
  RawTlsClient before(server.port(), files.Trusting());
  const TestCertificate other = files.authority().Sign("another", {"DNS:localhost"});
  WriteFile(files.folder() / "other.crt", other.certificate);
  WriteFile(files.folder() / "other.key", other.key);
  TlsOptions options = files.Options();
  options.certificate_file = files.folder() / "nowhere.crt";
  EXPECT_FALSE(server.acceptor().Reload(options).ok());
  const auto name = [&] {
    RawTlsClient client(server.port(), files.Trusting());
    ExpectSays(client, "a", "one:a\n");
    return client.peer().server_name();
  };
  EXPECT_EQ(name(), "localhost") << "nothing has changed";
  options.certificate_file = files.folder() / "other.crt";
  options.key_file = files.folder() / "other.key";
  ASSERT_TRUE(server.acceptor().Reload(options).ok());
  EXPECT_EQ(name(), "another");
  ASSERT_TRUE(server.acceptor().Reload().ok());
  EXPECT_EQ(name(), "another") << "they are those that are read again";
  ExpectSays(before, "b", "one:b\n");
}

TEST(Tls, AHandshakeThatTakesTooLongEnds) {
  const TlsFiles files;
  std::atomic<int64_t> seconds = 0;
  const auto start = std::chrono::steady_clock::now();
  TlsServer server(files, {.now = [&] { return start + std::chrono::seconds(seconds); }});
  RawTlsClient shaken(server.port(), files.Trusting());
  ExpectSays(shaken, "a", "one:a\n");
  TlsPeer peer(files.Trusting());
  peer.Shake();
  const std::string hello = peer.Take();
  RawCqlClient silent(server.port());
  RawCqlClient slow(server.port());
  ASSERT_TRUE(slow.Send(hello.substr(0, hello.size() / 2)));
  server.faces().AwaitConnections(3);
  seconds = 9;
  server.faces().server().CheckTimes();
  ExpectSays(shaken, "b", "one:b\n");
  EXPECT_EQ(server.faces().server().connection_count(), 3u);
  seconds = 11;
  server.faces().server().CheckTimes();
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_EQ(slow.ReadAll(), "");
  ExpectSays(shaken, "c", "one:c\n");
  EXPECT_EQ(server.faces().server().counters().ended_in_handshake, 2u);
}

TEST(Tls, HandshakesOfManyKeepNobodyWaiting) {
  constexpr size_t kMany = 60;  // fewer than a loop learns of at once
  const TlsFiles files;
  TlsServer server(files);
  RawTlsClient other(server.port(), files.Trusting());
  ExpectSays(other, "a", "one:a\n");
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  while (clients.size() < kMany) clients.push_back(std::make_unique<RawCqlClient>(server.port()));
  server.faces().AwaitConnections(kMany + 1);
  // All of them are ready before the other one is.
  std::promise<void> go_on;
  server.faces().face().HoldLoop([held = go_on.get_future().share()] { held.wait(); });
  TlsPeer peer(files.Trusting());
  peer.Shake();
  const std::string hello = peer.Take();
  for (const auto& client : clients) ASSERT_TRUE(client->Send(hello));
  size_t greeted = SIZE_MAX;
  server.faces().face().seen().at_line = [&] {
    greeted = static_cast<size_t>(
        std::ranges::count_if(clients, [](const auto& client) { return client->HasAnswer(); }));
  };
  ASSERT_TRUE(other.Send("b\n"));
  go_on.set_value();
  EXPECT_EQ(other.ReadBytes(6), "one:b\n");
  EXPECT_LE(greeted, 3u) << "handshakes that came before a line that was there";
  for (const auto& client : clients) EXPECT_TRUE(client->ReadSome());
  clients.clear();
  server.faces().AwaitConnections(1);
}

TEST(Tls, HandshakesOfWhoHasGoneAreNotGoneOnWith) {
  constexpr size_t kMany = 20;
  const TlsFiles files;
  TlsServer server(files);
  RawTlsClient other(server.port(), files.Trusting());
  ExpectSays(other, "a", "one:a\n");
  TlsPeer peer(files.Trusting());
  peer.Shake();
  const std::string hello = peer.Take();
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  while (clients.size() < kMany) clients.push_back(std::make_unique<RawCqlClient>(server.port()));
  server.faces().AwaitConnections(kMany + 1);
  const uint64_t failed = server.failed();
  std::promise<void> go_on;
  server.faces().face().HoldLoop([held = go_on.get_future().share()] { held.wait(); });
  for (const auto& client : clients) ASSERT_TRUE(client->Send(hello));
  clients.clear();
  go_on.set_value();
  server.faces().AwaitConnections(1);
  EXPECT_EQ(server.failed(), failed + kMany);
  ExpectSays(other, "b", "one:b\n");
  // Those that wait when the server stops are not waited for.
  while (clients.size() < kMany) clients.push_back(std::make_unique<RawCqlClient>(server.port()));
  for (const auto& client : clients) ASSERT_TRUE(client->Send(hello));
}

// Answers to writes pass when their round is closed; where it was said so, the heap refuses what closing takes, once.
class RefusedGate final : public network::AnswerGate {
 public:
  uint64_t Enter(uint32_t /*loop*/) override { return ++entered_; }
  void CloseRound(uint32_t /*loop*/) override {
    if (refuses_.exchange(false)) throw std::bad_alloc();
    passed_ = entered_;
  }
  uint64_t Passed(uint32_t /*loop*/) override { return passed_; }
  void TellOfPassing(uint32_t /*loop*/, std::function<void()> /*tell*/) override {}

  void RefuseOnce() { refuses_ = true; }
  bool has_refused() const { return !refuses_; }

 private:
  uint64_t entered_ = 0;  // both by the loop
  uint64_t passed_ = 0;
  std::atomic<bool> refuses_{false};
};

TEST(Tls, HandshakesGoOnWhenTheHeapRefusesTheEndOfARound) {
  const TlsFiles files;
  RefusedGate gate;
  TlsServer server(files, {.gate = &gate});
  RawTlsClient writer(server.port(), files.Trusting());
  ExpectSays(writer, "a", "one:a\n");
  TlsPeer peer(files.Trusting());
  peer.Shake();
  const std::string hello = peer.Take();
  RawCqlClient first(server.port());
  RawCqlClient second(server.port());
  server.faces().AwaitConnections(3);
  std::promise<void> go_on;
  server.faces().face().HoldLoop([held = go_on.get_future().share()] { held.wait(); });
  gate.RefuseOnce();
  // In one turn of the loop: a round is open when the hands are shaken.
  ASSERT_TRUE(writer.Send("write b\n"));
  ASSERT_TRUE(first.Send(hello));
  ASSERT_TRUE(second.Send(hello));
  go_on.set_value();
  EXPECT_EQ(writer.ReadBytes(6), "one:b\n");
  EXPECT_TRUE(first.ReadSome());
  EXPECT_TRUE(second.ReadSome());
  EXPECT_TRUE(gate.has_refused());
}

TEST(Tls, HandshakesAreInTheBudget) {
  const TlsFiles files;
  TlsServer server(files);
  std::vector<std::unique_ptr<RawCqlClient>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<RawCqlClient>(server.port()));
    ASSERT_TRUE(clients.back()->Send("\x16"));
  }
  const network::ClientBudget& budget = server.faces().server().budget();
  while (budget.held_bytes() < 10 * (size_t{32} << 10)) std::this_thread::yield();
  clients.clear();
  while (budget.held_bytes() > 0) std::this_thread::yield();
}

// Whatever comes, the server lives and others are answered.
TEST(Tls, NoBytesEndTheServer) {
  Random rng(TestSeed());
  const uint64_t steps = TestSteps(2000);
  const TlsFiles files;
  TlsServer server(files.AskingClients());
  TlsPeerOptions well_behaved = files.Trusting();
  well_behaved.own = files.clients().Sign("client");
  RawTlsClient other(server.port(), well_behaved);
  for (uint64_t step = 0; step < steps; ++step) {
    TlsPeerOptions options = well_behaved;
    if (rng.Below(2) == 0) options.max_version = "1.2";
    TlsPeer peer(options);
    RawCqlClient client(server.port());
    client.BearLateness();
    // A handshake goes well for some rounds, then it is cut off, changed or followed by noise.
    const uint64_t good = rng.Below(4);
    for (uint64_t round = 0; round < good; ++round) {
      const bool is_open = peer.Shake();
      if (is_open) peer.Write("a\n");
      if (!client.Send(peer.Take()) || is_open) break;
      const auto answer = client.ReadSome();
      if (!answer) break;
      peer.Give(*answer);
    }
    peer.Shake();
    std::string bytes = peer.Take();
    switch (rng.Below(5)) {
      case 0:
        bytes.resize(rng.Below(bytes.size() + 1));
        break;
      case 1:
        for (uint64_t i = rng.Below(8) + 1; i > 0 && !bytes.empty(); --i) {
          bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Below(256));
        }
        break;
      case 2:
        bytes += bytes;
        break;
      case 3:
        for (uint64_t i = rng.Below(40'000); i > 0; --i) {
          bytes += static_cast<char>(rng.Below(256));
        }
        break;
      default:
        // A record of any type and length.
        bytes += static_cast<char>(20 + rng.Below(5));
        bytes += "\x03\x03";
        bytes += static_cast<char>(rng.Below(70));
        for (uint64_t i = rng.Below(20'000); i > 0; --i) {
          bytes += static_cast<char>(rng.Below(256));
        }
    }
    client.Send(bytes);
    if (rng.Below(2) == 0) client.ShutDownWrites();
    if (step % 50 == 0) ExpectSays(other, "ping", "one:ping\n");
    if (::testing::Test::HasFailure()) break;
  }
  ExpectSays(other, "ping", "one:ping\n");
  server.faces().AwaitConnections(1);
}

}  // namespace tls_test
}  // namespace liststore::testing
