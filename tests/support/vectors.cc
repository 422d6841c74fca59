#include "tests/support/vectors.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <boost/json/parse.hpp>

namespace liststore::testing {
namespace {

namespace json = boost::json;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "test vectors: %s\n", what.c_str());
  std::abort();
}

json::string_view Json(std::string_view text) { return {text.data(), text.size()}; }

unsigned Nibble(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  Fail(std::string("not a hexadecimal digit: ") + c);
}

}  // namespace

json::value LoadVectors(std::string_view name) {
  const std::string path = std::string(LISTSTORE_TEST_DATA_DIR) + "/" + std::string(name);
  std::ifstream file(path, std::ios::binary);
  if (!file) Fail("cannot open " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return json::parse(text.str());
}

const json::value& ValueAt(const json::value& object, std::string_view key) {
  const json::value* found = object.as_object().if_contains(Json(key));
  if (found == nullptr) Fail("no member " + std::string(key));
  return *found;
}

std::string_view StringAt(const json::value& object, std::string_view key) {
  const json::string& text = ValueAt(object, key).as_string();
  return {text.data(), text.size()};
}

const json::array& ArrayAt(const json::value& object, std::string_view key) {
  return ValueAt(object, key).as_array();
}

int64_t Int64At(const json::value& object, std::string_view key) {
  return std::strtoll(std::string(StringAt(object, key)).c_str(), nullptr, 10);
}

uint64_t Uint64At(const json::value& object, std::string_view key) {
  return std::strtoull(std::string(StringAt(object, key)).c_str(), nullptr, 10);
}

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(Nibble(hex[i]) << 4 | Nibble(hex[i + 1])));
  }
  return bytes;
}

std::string ToHex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) {
    hex.push_back("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
    hex.push_back("0123456789abcdef"[static_cast<unsigned char>(c) & 15]);
  }
  return hex;
}

}  // namespace liststore::testing
