#include "engine/cql/syntax/keywords.h"

#include <array>
#include <cstddef>
#include <iterator>

#include "engine/base/check.h"

namespace liststore::cql {
namespace {

struct Word {
  std::string_view text;
  KeywordClass its_class;
};

#define LISTSTORE_RESERVED(name) {#name, KeywordClass::kReserved},
#define LISTSTORE_UNRESERVED(name) {#name, KeywordClass::kUnreserved},
#define LISTSTORE_NOT_A_FUNCTION(name) {#name, KeywordClass::kNotAFunction},
#define LISTSTORE_TYPE(name) {#name, KeywordClass::kType},
constexpr Word kWords[] = {LISTSTORE_CQL_KEYWORDS(LISTSTORE_RESERVED, LISTSTORE_UNRESERVED,
                                                  LISTSTORE_NOT_A_FUNCTION, LISTSTORE_TYPE)};
#undef LISTSTORE_RESERVED
#undef LISTSTORE_UNRESERVED
#undef LISTSTORE_NOT_A_FUNCTION
#undef LISTSTORE_TYPE

constexpr char ToUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

constexpr size_t LongestWord() {
  size_t longest = 0;
  for (const Word& word : kWords) longest = word.text.size() > longest ? word.text.size() : longest;
  return longest;
}

// Open addressing: a look-up hashes the word once and compares with one or two of the table.
constexpr size_t kSlots = 512;
static_assert(std::size(kWords) < 255, "slots hold a byte, and Keyword is one");
static_assert(std::size(kWords) * 2 < kSlots, "probes stay short");

// Of the length and four characters: enough to tell nearly all of them apart.
constexpr uint32_t HashOf(std::string_view word) {
  if (word.empty()) return 0;
  uint32_t hash = static_cast<uint32_t>(word.size());
  for (const size_t i : {size_t{0}, word.size() / 3, word.size() * 2 / 3, word.size() - 1}) {
    hash = (hash ^ static_cast<uint8_t>(ToUpper(word[i]))) * 16777619u;
  }
  return hash ^ hash >> 15;
}

constexpr std::array<uint8_t, kSlots> MakeTable() {
  std::array<uint8_t, kSlots> table{};  // 0: empty; else the keyword
  for (size_t i = 0; i < std::size(kWords); ++i) {
    size_t slot = HashOf(kWords[i].text) % kSlots;
    while (table[slot] != 0) slot = (slot + 1) % kSlots;
    table[slot] = static_cast<uint8_t>(i + 1);
  }
  return table;
}
constexpr std::array<uint8_t, kSlots> kTable = MakeTable();

bool EqualsIgnoringCase(std::string_view word, std::string_view upper) {
  if (word.size() != upper.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (ToUpper(word[i]) != upper[i]) return false;
  }
  return true;
}

const Word& WordOf(Keyword keyword) {
  LS_CHECK(keyword != Keyword::kNone, "kNone has no text");
  const size_t index = static_cast<size_t>(keyword) - 1;
  LS_CHECK(index < std::size(kWords), "a keyword is one of the enum");
  return kWords[index];
}

}  // namespace

Keyword FindKeyword(std::string_view word) {
  if (word.size() > LongestWord()) return Keyword::kNone;
  for (size_t slot = HashOf(word) % kSlots; kTable[slot] != 0; slot = (slot + 1) % kSlots) {
    if (EqualsIgnoringCase(word, kWords[kTable[slot] - 1].text)) {
      return static_cast<Keyword>(kTable[slot]);
    }
  }
  return Keyword::kNone;
}

std::string_view KeywordText(Keyword keyword) { return WordOf(keyword).text; }

KeywordClass ClassOf(Keyword keyword) { return WordOf(keyword).its_class; }

}  // namespace liststore::cql
