// Any text as a statement, a term and a type. Whatever it is, the parser ends, stays in bounds and
// says something that can be sent; what it accepts prints as CQL that it reads as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/utf8.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/syntax/statement.h"

namespace liststore {
namespace {

// Messages repeat a part of the text only.
constexpr size_t kMessageBytesMax = 1024;

void CheckError(const cql::CqlError& error, bool text_is_utf8) {
  LS_CHECK(!error.message.empty(), "a refusal says why");
  LS_CHECK(error.message.size() <= kMessageBytesMax, "messages are short");
  LS_CHECK(!text_is_utf8 || IsValidUtf8(error.message), "messages are UTF-8 where the text is");
}

// Markers in use have a name or none, but exist.
void CheckExpression(const cql::Expression& expression, size_t markers);

void CheckAll(const std::vector<cql::Expression>& expressions, size_t markers) {
  for (const cql::Expression& expression : expressions) CheckExpression(expression, markers);
}

void CheckExpression(const cql::Expression& expression, size_t markers) {
  if (const auto* marker = expression.As<cql::BindMarker>()) {
    LS_CHECK(marker->index < markers, "a marker is one of the statement's");
  } else if (const auto* list = expression.As<cql::ListLiteral>()) {
    CheckAll(list->elements, markers);
  } else if (const auto* map = expression.As<cql::MapLiteral>()) {
    LS_CHECK(map->keys_and_values.size() % 2 == 0, "keys and values come in pairs");
    CheckAll(map->keys_and_values, markers);
  } else if (const auto* user = expression.As<cql::UserTypeLiteral>()) {
    LS_CHECK(user->fields.size() == user->values.size(), "every field has a value");
  }
  LS_CHECK(!cql::ToString(expression).empty(), "every expression prints");
}

void CheckRelations(const std::vector<cql::Relation>& relations, size_t markers) {
  for (const cql::Relation& relation : relations) {
    CheckExpression(relation.value, markers);
    LS_CHECK(!cql::ToString(relation).empty(), "every relation prints");
  }
}

struct Checker {
  size_t markers;

  void operator()(const cql::SelectStatement& select) const {
    for (const cql::Selector& selector : select.selectors)
      CheckExpression(selector.expression, markers);
    CheckRelations(select.where, markers);
  }
  void operator()(const cql::InsertStatement& insert) const { CheckAll(insert.values, markers); }
  void operator()(const cql::InsertJsonStatement& insert) const {
    CheckExpression(insert.json, markers);
  }
  void operator()(const cql::UpdateStatement& update) const {
    for (const cql::Assignment& assignment : update.assignments) {
      CheckExpression(assignment.value, markers);
    }
    CheckRelations(update.where, markers);
    CheckRelations(update.conditions, markers);
  }
  void operator()(const cql::DeleteStatement& deletion) const {
    CheckRelations(deletion.where, markers);
    CheckRelations(deletion.conditions, markers);
  }
  void operator()(const cql::BatchStatement& batch) const {
    for (const cql::ModificationStatement& statement : batch.statements)
      std::visit(*this, statement);
  }
  void operator()(const cql::CreateTableStatement& create) const {
    for (const cql::ColumnSpec& column : create.columns) {
      LS_CHECK(*cql::ParseType(cql::ToString(column.type)) == column.type,
               "types print as they are read");
    }
  }
  template <typename Other>
  void operator()(const Other&) const {}
};

void CheckTerm(std::string_view text, bool text_is_utf8) {
  const cql::CqlOr<cql::Expression> term = cql::ParseTerm(text);
  if (!term.ok()) return CheckError(term.error(), text_is_utf8);
  const std::string printed = cql::ToString(*term);
  const cql::CqlOr<cql::Expression> again = cql::ParseTerm(printed);
  LS_CHECK(again.ok(), "what prints is a term");
  LS_CHECK(cql::ToString(*again) == printed, "and the same one");
}

}  // namespace
}  // namespace liststore

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace liststore;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool text_is_utf8 = IsValidUtf8(text);
  const cql::CqlOr<cql::Statement> statement = cql::ParseStatement(text);
  if (statement.ok()) {
    std::visit(Checker{statement->markers.size()}, statement->node);
  } else {
    CheckError(statement.error(), text_is_utf8);
  }
  CheckTerm(text, text_is_utf8);
  const cql::CqlOr<cql::TypeSpec> type = cql::ParseType(text);
  if (type.ok())
    LS_CHECK(*cql::ParseType(cql::ToString(*type)) == *type, "types print as they are read");
  return 0;
}
