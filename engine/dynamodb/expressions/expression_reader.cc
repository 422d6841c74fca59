#include "engine/dynamodb/expressions/expression_reader.h"

#include <charconv>
#include <utility>

#include "engine/dynamodb/expressions/reserved_words.h"

namespace liststore::dynamodb {
namespace {

// A call, as the errors of all of them begin.
std::string OfOperation(std::string_view what, std::string_view operation) {
  std::string message(what);
  return message.append("; operator or function: ").append(operation);
}

}  // namespace

ExpressionReader::ExpressionReader(std::string_view text, ExpressionKind kind,
                                   Placeholders& placeholders)
    : text_(text),
      kind_(kind),
      placeholders_(placeholders),
      tokens_(Tokenize(text.substr(0, kExpressionBytesMax))) {}

Error ExpressionReader::Invalidated(std::string_view message) const {
  std::string whole = "Invalid ";
  return Invalid(whole.append(NameOf(kind_)).append(": ").append(message));
}

Status ExpressionReader::CheckText() const {
  if (text_.size() > kExpressionBytesMax) {
    return Invalidated("Expression size has exceeded the maximum allowed size; expression size: " +
                       std::to_string(text_.size()));
  }
  if (text_.empty()) return Invalidated("The expression can not be empty;");
  return {};
}

Status ExpressionReader::Finish() const {
  if (failed_) return Invalidated(failure_);
  if (operators_ > kOperatorsMax) {
    return Invalidated("The expression contains too many operators; operator count: " +
                       std::to_string(operators_));
  }
  for (const std::optional<std::string>& problem : problems_) {
    if (problem.has_value()) return Invalidated(*problem);
  }
  return {};
}

Token ExpressionReader::Next() {
  const Token token = Peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool ExpressionReader::AtKeyword(std::string_view upper) const {
  return Peek().kind == TokenKind::kKeyword && IsKeyword(Peek().text, upper);
}

bool ExpressionReader::TakeSymbol(std::string_view symbol) {
  if (failed_ || !AtSymbol(symbol)) return false;
  Next();
  return true;
}

bool ExpressionReader::TakeKeyword(std::string_view upper) {
  if (failed_ || !AtKeyword(upper)) return false;
  Next();
  return true;
}

bool ExpressionReader::ExpectSymbol(std::string_view symbol) {
  if (TakeSymbol(symbol)) return true;
  FailSyntax();
  return false;
}

void ExpressionReader::FailSyntax() {
  const Token& token = Peek();
  // From the token before it to the one behind it, with what is between them.
  const size_t begin = at_ == 0 ? token.begin : tokens_[at_ - 1].begin;
  const Token& behind = Peek(1);
  const size_t end =
      behind.kind == TokenKind::kEnd ? text_.size() : behind.begin + behind.text.size();
  const std::string_view near = text_.substr(begin, end - begin);
  std::string message = "Syntax error; token: \"";
  message.append(token.text).append("\", near: \"").append(near).append("\"");
  Fail(std::move(message));
}

void ExpressionReader::Fail(std::string message) {
  if (failed_) return;
  failed_ = true;
  failure_ = std::move(message);
}

void ExpressionReader::Note(Problem problem, std::string message) {
  std::optional<std::string>& noted = problems_[static_cast<size_t>(problem)];
  if (!noted.has_value()) noted = std::move(message);
}

bool ExpressionReader::Enter() {
  if (failed_) return false;
  if (nesting_ == kExpressionNestingMax) {
    Fail("The expression has too many nesting levels; the maximum is " +
         std::to_string(kExpressionNestingMax));
    return false;
  }
  ++nesting_;
  return true;
}

std::string ExpressionReader::TakeAttributeName() {
  if (failed_ || !AtPath()) {
    FailSyntax();
    return {};
  }
  const Token token = Next();
  if (token.kind == TokenKind::kWord) {
    if (IsReservedWord(token.text)) {
      Note(Problem::kReservedWord,
           "Attribute name is a reserved keyword; reserved keyword: " + std::string(token.text));
    }
    return std::string(token.text);
  }
  if (const std::string* const name = placeholders_.UseName(token.text)) {
    // As of constants: each use is a copy, and is compared with an item's names.
    name_bytes_ += name->size();
    if (name_bytes_ <= 2 * kPlaceholderBytesMax) return *name;
    Fail("The names that the expression uses have exceeded the maximum allowed size");
    return {};
  }
  Note(Problem::kOperand,
       "An expression attribute name used in the document path is not defined; attribute name: " +
           std::string(token.text));
  return std::string(token.text);
}

Path ExpressionReader::TakePath() {
  Path path;
  path.attribute = TakeAttributeName();
  while (!failed_) {
    if (TakeSymbol(".")) {
      path.elements.emplace_back(TakeAttributeName());
    } else if (TakeSymbol("[")) {
      if (Peek().kind != TokenKind::kDigits) {
        FailSyntax();
        break;
      }
      const std::string_view digits = Next().text;
      uint32_t index = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), index);
      if (error != std::errc()) {
        Note(Problem::kOperand,
             "List index is not within the allowable range; index: [" + std::string(digits) + "]");
      }
      path.elements.emplace_back(index);
      ExpectSymbol("]");
    } else {
      break;
    }
  }
  if (path.elements.size() > kNestingMax) {
    Note(Problem::kOperand, "The document path has too many nesting levels; nesting levels: " +
                                std::to_string(path.elements.size() + 1));
  }
  return path;
}

AttributeValue ExpressionReader::TakeValue() {
  if (failed_ || !AtValue()) {
    FailSyntax();
    return {};
  }
  const Token token = Next();
  if (const AttributeValue* const value = placeholders_.UseValue(token.text)) {
    // Each use is a copy. What a request may define it may use once; 4 KB can name a value a thousand times.
    const size_t bytes = SizeInItem(*value);
    constant_bytes_ += bytes;
    placeholders_.NoteCopied(bytes);
    if (constant_bytes_ <= 2 * kPlaceholderBytesMax) return *value;
    Fail("The values that the expression uses have exceeded the maximum allowed size");
    return {};
  }
  Note(Problem::kOperand,
       "An expression attribute value used in expression is not defined; attribute value: " +
           std::string(token.text));
  return {};
}

std::string WrongOperandType(std::string_view operation, AttributeType type) {
  return OfOperation("Incorrect operand type for operator or function", operation)
      .append(", operand type: ")
      .append(NameOf(type));
}

std::string WrongOperandCount(std::string_view operation, size_t count) {
  return OfOperation("Incorrect number of operands for operator or function", operation)
      .append(", number of operands: ")
      .append(std::to_string(count));
}

std::string NeedsPath(std::string_view operation) {
  return OfOperation("Operator or function requires a document path", operation);
}

std::string ClashMessage(const PathClash& clash, const std::vector<const Path*>& paths) {
  std::string message = "Two document paths ";
  return message.append(clash.overlap ? "overlap" : "conflict")
      .append(" with each other; must remove or rewrite one of these paths; path one: ")
      .append(paths[clash.first]->ToText())
      .append(", path two: ")
      .append(paths[clash.second]->ToText());
}

}  // namespace liststore::dynamodb
