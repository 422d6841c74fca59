#include "engine/faces/dynamodb/signature.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/faces/http/text.h"

namespace liststore::dynamodb_face {
namespace {

using dynamodb::Error;
using dynamodb::ErrorCode;
using http_face::AppendTo;
using http_face::Cat;

// Each is looked for among all fields, before it is known who asks. Clients sign some ten.
constexpr size_t kSignedNamesMax = 64;
constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string HexOf(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  unsigned int size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  LS_CHECK(done == 1 && size == digest.size(), "SHA-256 is part of OpenSSL");
  return HexOf({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string Hmac(std::string_view key, std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  unsigned int size = 0;
  const unsigned char* const made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  LS_CHECK(made != nullptr && size == digest.size(), "HMAC is part of OpenSSL");
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Runs of blanks are one.
std::string Trimmed(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const bool is_blank = c == ' ' || c == '\t';
    if (is_blank && (out.empty() || out.back() == ' ')) continue;
    out += is_blank ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// The value behind `name=` in an Authorization field; empty: there is none.
std::string_view PartOf(std::string_view field, std::string_view name) {
  size_t at = 0;
  while ((at = field.find(name, at)) != std::string_view::npos) {
    const size_t behind = at + name.size();
    const bool begins = at == 0 || field[at - 1] == ' ' || field[at - 1] == ',';
    if (begins && behind < field.size() && field[behind] == '=') {
      const std::string_view rest = field.substr(behind + 1);
      return rest.substr(0, rest.find_first_of(", "));
    }
    at = behind;
  }
  return {};
}

// a/b/c -> its parts, the first `max`.
std::vector<std::string_view> PartsOf(std::string_view text, char separator,
                                      size_t max = SIZE_MAX) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos || parts.size() == max) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<Credentials> ParseCredentials(std::string_view text, std::string* error) {
  Credentials credentials;
  size_t number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    const std::string trimmed =
        Trimmed(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
    if (trimmed.empty() || trimmed.front() == '#') continue;
    const size_t blank = trimmed.find(' ');
    if (blank == std::string::npos || trimmed.find(' ', blank + 1) != std::string::npos) {
      *error = Cat("line ", number, " is not an access key's id, a blank, and its secret");
      return std::nullopt;
    }
    if (!credentials.emplace(trimmed.substr(0, blank), trimmed.substr(blank + 1)).second) {
      *error = Cat("line ", number, " names an access key for the second time");
      return std::nullopt;
    }
  }
  if (credentials.empty()) {
    *error = "it names no access key";
    return std::nullopt;
  }
  return credentials;
}

std::string SignatureOf(const http_face::HttpRequest& request, std::string_view secret,
                        std::string_view scope, std::string_view signed_headers) {
  // What is asked for by POST alone, at one path.
  std::string canonical = Cat(request.method, "\n", request.path(), "\n", request.query(), "\n");
  for (const std::string_view name : PartsOf(signed_headers, ';')) {
    AppendTo(canonical, name, ":", Trimmed(request.fields.Find(name)), "\n");
  }
  AppendTo(canonical, "\n", signed_headers, "\n", Sha256Hex(request.body));
  std::string_view date = request.fields.Find("x-amz-date");
  if (date.empty()) date = request.fields.Find("date");
  const std::string to_sign = Cat(kAlgorithm, "\n", date, "\n", scope, "\n", Sha256Hex(canonical));
  std::string key = Cat("AWS4", secret);
  // Date, region, service, "aws4_request".
  for (const std::string_view part : PartsOf(scope, '/')) key = Hmac(key, part);
  return HexOf(Hmac(key, to_sign));
}

Error UnrecognizedClient() {
  return {ErrorCode::kUnrecognizedClient, "The security token included in the request is invalid."};
}

dynamodb::ErrorOr<std::string> CheckSignature(const http_face::HttpRequest& request,
                                              const Credentials& credentials) {
  const std::string_view field = request.authorization;
  if (field.empty()) {
    return Error{ErrorCode::kMissingAuthenticationToken,
                 "Request must contain either a valid (registered) AWS access key ID or X.509 "
                 "certificate."};
  }
  const std::string_view credential = PartOf(field, "Credential");
  const std::string_view signed_headers = PartOf(field, "SignedHeaders");
  const std::string_view signature = PartOf(field, "Signature");
  const size_t slash = credential.find('/');
  const bool is_whole = field.starts_with(kAlgorithm) && slash != std::string_view::npos &&
                        !signed_headers.empty() && !signature.empty();
  const auto parts = PartsOf(credential, '/');
  if (!is_whole || parts.size() != 5) {
    return Error{ErrorCode::kIncompleteSignature,
                 "Authorization header requires 'Credential', 'SignedHeaders' and 'Signature' "
                 "parameters of AWS4-HMAC-SHA256"};
  }
  const auto names = PartsOf(signed_headers, ';', kSignedNamesMax + 1);
  auto sorted = names;
  std::ranges::sort(sorted);
  if (names.size() > kSignedNamesMax || std::ranges::adjacent_find(sorted) != sorted.end()) {
    return Error{ErrorCode::kIncompleteSignature,
                 "SignedHeaders names more than 64 fields, or one of them twice"};
  }
  // Who changes any of them on the way is noticed.
  for (const std::string_view needed : {"host", "x-amz-target"}) {
    if (std::ranges::find(names, needed) != names.end()) continue;
    return Error{ErrorCode::kIncompleteSignature, Cat("The field ", needed, " is not signed")};
  }
  const auto secret = credentials.find(parts[0]);
  if (secret == credentials.end()) {
    return UnrecognizedClient();
  }
  const std::string expected =
      SignatureOf(request, secret->second, credential.substr(slash + 1), signed_headers);
  const bool is_same = expected.size() == signature.size() &&
                       CRYPTO_memcmp(expected.data(), signature.data(), expected.size()) == 0;
  if (!is_same) {
    return Error{ErrorCode::kInvalidSignature,
                 "The request signature we calculated does not match the signature you provided. "
                 "Check your AWS Secret Access Key and signing method. Consult the service "
                 "documentation for details."};
  }
  return secret->first;
}

}  // namespace liststore::dynamodb_face
