#include "engine/execute/kept_text.h"

#include <algorithm>

#include "engine/base/utf8.h"

namespace liststore::execute {
namespace {

// Where the word PASSWORD ends in `text`, in any letter case; npos: it is not there.
size_t EndOfPassword(std::string_view text) {
  constexpr std::string_view kWord = "PASSWORD";
  const auto same = [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; };
  const auto at = std::search(text.begin(), text.end(), kWord.begin(), kWord.end(), same);
  if (at == text.end()) return std::string_view::npos;
  return static_cast<size_t>(at - text.begin()) + kWord.size();
}

}  // namespace

std::string_view KeptText(std::string_view text, size_t bytes_max) {
  const std::string_view kept = text.substr(0, std::min(bytes_max, EndOfPassword(text)));
  return kept.substr(0, ValidUtf8Bytes(kept));
}

}  // namespace liststore::execute
