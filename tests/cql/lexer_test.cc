#include "engine/cql/syntax/lexer.h"

#include <string>

#include <gtest/gtest.h>

#include "engine/cql/syntax/keywords.h"
#include "engine/cql/syntax/quoting.h"

namespace liststore {
namespace lexer_test {

std::string_view KindName(const cql::Lexeme& token) {
  switch (token.kind) {
    case cql::TokenKind::kEnd:
      return "end";
    case cql::TokenKind::kWord:
      return token.keyword == cql::Keyword::kNone ? "word" : "keyword";
    case cql::TokenKind::kQuotedName:
      return "name";
    case cql::TokenKind::kString:
      return "string";
    case cql::TokenKind::kInteger:
      return "integer";
    case cql::TokenKind::kFloat:
      return "float";
    case cql::TokenKind::kUuid:
      return "uuid";
    case cql::TokenKind::kHex:
      return "hex";
    case cql::TokenKind::kBoolean:
      return "boolean";
    case cql::TokenKind::kDuration:
      return "duration";
    case cql::TokenKind::kSymbol:
      return "symbol";
    case cql::TokenKind::kInvalid:
      return "invalid";
  }
  return "?";
}

// "integer:1 word:a".
std::string Tokens(std::string_view text) {
  cql::Lexer lexer(text);
  std::string tokens;
  for (cql::Lexeme token = lexer.Next(); token.kind != cql::TokenKind::kEnd; token = lexer.Next()) {
    if (!tokens.empty()) tokens += ' ';
    tokens += std::string(KindName(token)) + ":" + std::string(token.text);
  }
  return tokens;
}

struct Example {
  std::string_view rule;
  std::string_view text;
  std::string_view tokens;
};

constexpr Example kExamples[] = {
    {"nothing", "", ""},
    {"white space", " \t\r\n", ""},
    {"words", "a A1_b", "word:a word:A1_b"},
    {"keywords in any case", "select Select tTl", "keyword:select keyword:Select keyword:tTl"},
    {"words that only begin like keywords", "selects inn", "word:selects word:inn"},
    {"an underscore begins no word", "_a", "invalid:_ word:a"},
    {"quoted names", R"("a" "B""c")", R"(name:"a" name:"B""c")"},
    {"a name of no characters is none", R"("")", R"(invalid:"")"},
    {"a name without an end", R"("ab c)", R"(invalid:"ab c)"},
    {"strings", "'' 'it''s'", "string:'' string:'it''s'"},
    {"strings over lines", "'a\nb'", "string:'a\nb'"},
    {"dollar strings", "$$it's $1$$", "string:$$it's $1$$"},
    {"a string without an end", "'ab", "invalid:'ab"},
    {"a dollar string without an end", "$$ab$", "invalid:$$ab$"},
    {"integers", "0 -12 12345678901234567890",
     "integer:0 integer:-12 integer:12345678901234567890"},
    {"a minus belongs to its number", "a-1", "word:a integer:-1"},
    {"or stands alone", "a - 1", "word:a symbol:- integer:1"},
    {"floats", "1.5 1. -1e3 1E+2 1.5e-7", "float:1.5 float:1. float:-1e3 float:1E+2 float:1.5e-7"},
    {"no float begins with a point", ".5", "symbol:. integer:5"},
    {"an exponent needs digits", "1e", "integer:1 word:e"},
    {"hex", "0x 0XcaFE", "hex:0x hex:0XcaFE"},
    {"uuids", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
    {"uuids that begin with digits", "123e4567-e89b-12d3-a456-426655440000",
     "uuid:123e4567-e89b-12d3-a456-426655440000"},
    {"almost a uuid", "f81d4fae-7dec", "word:f81d4fae duration:-7d word:ec"},
    {"booleans", "true FALSE trues", "boolean:true boolean:FALSE word:trues"},
    {"durations", "1h30m 2000ms 1y2mo3w4d5h6m7s8ms9us10ns -1d",
     "duration:1h30m duration:2000ms duration:1y2mo3w4d5h6m7s8ms9us10ns duration:-1d"},
    {"microseconds have two signs", "5\xc2\xb5s", "duration:5\xc2\xb5s"},
    {"units in any case", "1H2MO", "duration:1H2MO"},
    {"a duration ends at its last unit", "1h5", "duration:1h integer:5"},
    {"ISO durations", "P1Y2M3DT4H5M6S PT1H -P2W P0001-02-03T04:05:06",
     "duration:P1Y2M3DT4H5M6S duration:PT1H duration:-P2W duration:P0001-02-03T04:05:06"},
    {"words that begin like ISO durations", "P PT P1 P1Yx PARTITION",
     "word:P word:PT word:P1 word:P1Yx keyword:PARTITION"},
    {"symbols", "<= >= != += -= < > = ( ) [ ] { } , ; : . ? * / % + -",
     "symbol:<= symbol:>= symbol:!= symbol:+= symbol:-= symbol:< symbol:> symbol:= symbol:( "
     "symbol:) symbol:[ symbol:] symbol:{ symbol:} symbol:, symbol:; symbol:: symbol:. symbol:? "
     "symbol:* symbol:/ symbol:% symbol:+ symbol:-"},
    {"comments", "a -- b\nc // d\re /* f\n*/ g --h", "word:a word:c word:e word:g"},
    {"a comment without an end", "a /* b", "word:a invalid:/* b"},
    {"what nothing begins with", "# ! \xe2\x82\xac", "invalid:# invalid:! invalid:\xe2\x82\xac"},
};

TEST(LexerTest, TokensFollowTheRules) {
  for (const Example& example : kExamples) {
    EXPECT_EQ(Tokens(example.text), example.tokens) << example.rule;
  }
}

TEST(LexerTest, ZeroBytesBelongToNoToken) {
  EXPECT_EQ(Tokens(std::string_view("a\0b", 3)), std::string("word:a invalid:\0 word:b", 23));
}

TEST(LexerTest, LinesCountFromOneAndColumnsFromZero) {
  cql::Lexer lexer("a\n  'b\nc' /*\n*/ d");
  EXPECT_EQ(lexer.Next().position, (cql::SourcePosition{1, 0}));
  EXPECT_EQ(lexer.Next().position, (cql::SourcePosition{2, 2}));
  EXPECT_EQ(lexer.Next().position, (cql::SourcePosition{4, 3}));
  EXPECT_EQ(lexer.Next().position, (cql::SourcePosition{4, 4}));
  EXPECT_EQ(lexer.Next().kind, cql::TokenKind::kEnd);
}

TEST(LexerTest, CopiesGoOnFromWhereTheyWereMade) {
  cql::Lexer lexer("a b c");
  lexer.Next();
  cql::Lexer copy = lexer;
  EXPECT_EQ(copy.Next().text, "b");
  EXPECT_EQ(copy.Next().text, "c");
  EXPECT_EQ(lexer.Next().text, "b");
}

cql::Lexeme Only(std::string_view text) { return cql::Lexer(text).Next(); }

TEST(LexerTest, NamesAreFoldedOrUnquoted) {
  EXPECT_EQ(cql::NameOf(Only("AbC")), "abc");
  EXPECT_EQ(cql::NameOf(Only(R"("A""b")")), "A\"b");
  EXPECT_EQ(cql::StringOf(Only("'it''s'")), "it's");
  EXPECT_EQ(cql::StringOf(Only("''")), "");
  EXPECT_EQ(cql::StringOf(Only("$$it''s$$")), "it''s");
}

TEST(KeywordsTest, EveryKeywordIsFoundInAnyCase) {
  int found = 0;
  for (int i = 1; i <= static_cast<int>(cql::Keyword::kVECTOR); ++i) {
    const auto keyword = static_cast<cql::Keyword>(i);
    std::string lower(cql::KeywordText(keyword));
    EXPECT_EQ(cql::FindKeyword(lower), keyword) << lower;
    for (char& c : lower) c = static_cast<char>(c == '_' ? c : c | 0x20);
    EXPECT_EQ(cql::FindKeyword(lower), keyword) << lower;
    ++found;
  }
  EXPECT_GT(found, 150);
  EXPECT_EQ(cql::FindKeyword(""), cql::Keyword::kNone);
  EXPECT_EQ(cql::FindKeyword("item_key"), cql::Keyword::kNone);
  EXPECT_EQ(cql::FindKeyword("much_longer_than_any_keyword"), cql::Keyword::kNone);
}

struct Quoting {
  std::string_view name;
  std::string_view written;
};

constexpr Quoting kQuotings[] = {
    {"abc", "abc"},         {"a_1", "a_1"},
    {"Abc", "\"Abc\""},     {"1a", "\"1a\""},
    {"_a", "\"_a\""},       {"a b", "\"a b\""},
    {"a\"b", "\"a\"\"b\""}, {"select", "\"select\""},
    {"table", "\"table\""}, {"token", "\"token\""},
    {"key", "key"},         {"ttl", "ttl"},
    {"value", "value"},     {"timestamp", "timestamp"},
    {"true", "\"true\""},   {"", "\"\""},
    {"desc", "desc"},       {"\xc3\xa9", "\"\xc3\xa9\""},
};

TEST(IdentifierTest, NamesAreQuotedWhereTheyHaveToBe) {
  for (const Quoting& quoting : kQuotings) {
    EXPECT_EQ(cql::QuoteIdentifier(quoting.name), quoting.written);
    if (quoting.name.empty()) continue;
    EXPECT_EQ(cql::NameOf(Only(cql::QuoteIdentifier(quoting.name))), quoting.name);
    EXPECT_EQ(cql::NameOf(Only(cql::AlwaysQuoteIdentifier(quoting.name))), quoting.name);
  }
}

TEST(IdentifierTest, ReservedWordsAreThoseOfTheGrammar) {
  for (const std::string_view word :
       {"SELECT", "from", "Token", "INFINITY", "nan", "schema", "false"}) {
    EXPECT_TRUE(cql::IsReservedWord(word)) << word;
  }
  for (const std::string_view word :
       {"ttl", "count", "desc", "describe", "execute", "timeout", "x"}) {
    EXPECT_FALSE(cql::IsReservedWord(word)) << word;
  }
}

}  // namespace lexer_test
}  // namespace liststore
