#include "engine/faces/http/api.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "engine/base/output_buffer.h"
#include "engine/base/strings.h"
#include "engine/base/utf8.h"
#include "engine/cql/syntax/statement_outline.h"
#include "engine/cql/values/json_value.h"
#include "engine/execute/request_view.h"
#include "engine/faces/http/answer_types.h"
#include "engine/faces/http/api_tables.h"
#include "engine/faces/http/bind_json.h"
#include "engine/faces/http/rows_json.h"
#include "engine/faces/http/text.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/primitives.h"
#include "engine/protocol/request.h"

namespace liststore::http_face {
namespace {

using cql::JsonObject;
using cql::JsonValue;
using protocol::Consistency;

// Of a name that is said again in an error.
constexpr size_t kSaidNameBytesMax = 100;

// Behind CQL's words for a text that is none.
constexpr char kDurationsAre[] = R"( to a duration; it is written as 1d, 90s or 1h30m")";

struct Statement {
  std::string text;
  int page_size = kPageSizeDefault;
  std::string paging_state = {};
  Consistency consistency = Consistency::kLocalOne;
  std::vector<protocol::Value> values = {};
};

int StatusOf(CqlErrorCode code) {
  using enum CqlErrorCode;
  switch (code) {
    case kBadCredentials:
      return 401;
    case kUnauthorized:
      return 403;
    case kAlreadyExists:
      return 409;
    case kRateLimit:
      return 429;
    case kUnavailable:
    case kOverloaded:
    case kIsBootstrapping:
    case kWriteFailure:
    case kReadFailure:
    case kTruncateError:
      return 503;
    case kWriteTimeout:
    case kReadTimeout:
      return 504;
    case kServerError:
      return 500;
    default:
      return 400;
  }
}

// In the words of CQL, with its code.
HttpAnswer CqlErrorAnswer(const execute::Outcome& outcome) {
  HttpAnswer answer;
  answer.status = StatusOf(*outcome.error);
  answer.body = Cat(R"({"error":{"status":)", answer.status, R"(,"code":")", outcome.Name(),
                    R"(","cql_code":)", static_cast<int32_t>(*outcome.error), R"(,"message":)",
                    cql::QuoteJson(outcome.message), "}}\n");
  return answer;
}

// What a handler has answered.
struct Asked {
  HttpAnswer answer;  // where there is no frame: an error, or nothing
  std::string frame;  // whole; empty: there is none
  bool is_unprepared = false;
};

// Hands over a request that has to do with this text.
Asked Ask(protocol::Request request, protocol::Opcode opcode, std::string_view text,
          execute::RequestHandler& handler, execute::ClientState& client) {
  protocol::FrameHeader header;
  header.version = protocol::ProtocolVersion::kV4;
  header.opcode = static_cast<uint8_t>(opcode);
  header.body_bytes = static_cast<uint32_t>(text.size());
  execute::RequestView view(header, request);
  OutputBuffer out;
  execute::ConnectionOrders orders = handler.Handle({&view, 1}, client, out);
  Asked asked;
  std::string_view frame = out.view();
  if (!orders.delayed.empty()) {
    frame = orders.delayed.front().frames;
    asked.answer.delay = orders.delayed.front().delay;
  }
  if (view.outcome.error) {
    asked.is_unprepared = *view.outcome.error == CqlErrorCode::kUnprepared;
    const std::chrono::nanoseconds delay = asked.answer.delay;
    asked.answer = CqlErrorAnswer(view.outcome);
    asked.answer.delay = delay;
  } else if (!view.outcome.answered || frame.size() < protocol::kFrameHeaderBytes) {
    asked.answer.is_withheld = true;
  } else {
    asked.frame = frame;
  }
  asked.answer.closes = orders.close;
  asked.answer.has_written = std::exchange(client.has_written, false);
  view.End();
  return asked;
}

protocol::QueryParameters ParametersOf(const Statement& statement) {
  protocol::QueryParameters parameters;
  parameters.page_size = statement.page_size;
  parameters.paging_state = statement.paging_state;
  parameters.consistency = statement.consistency;
  parameters.values = statement.values;
  return parameters;
}

// The answer to a QUERY or an EXECUTE, as JSON.
HttpAnswer AnswerOf(Asked asked) {
  if (asked.frame.empty()) return std::move(asked.answer);
  JsonResult result = ToJson(asked.frame, kJsonBytesMax);
  if (!result.refusal) {
    asked.answer.body = std::move(result.text);
    return std::move(asked.answer);
  }
  HttpAnswer refusal = ErrorAnswer(400, "answer_too_large", *result.refusal);
  refusal.delay = asked.answer.delay;
  refusal.closes = asked.answer.closes;
  refusal.has_written = asked.answer.has_written;
  return refusal;
}

// Carries it out as a QUERY of the client's.
HttpAnswer Run(const Statement& statement, execute::RequestHandler& handler,
               execute::ClientState& client) {
  protocol::Request request;
  request.message = protocol::Query{statement.text, ParametersOf(statement)};
  return AnswerOf(Ask(request, protocol::Opcode::kQuery, statement.text, handler, client));
}

HttpAnswer BadRequest(std::string_view message) { return ErrorAnswer(400, "bad_request", message); }

// An object of JSON; else why not.
std::variant<JsonObject, HttpAnswer> BodyOf(const HttpRequest& request) {
  const std::string type = absl::AsciiStrToLower(ToAbsl(request.content_type));
  const std::string_view media_type = std::string_view(type).substr(0, type.find(';'));
  // Pages of other origins cannot send this type without asking, and are not allowed to.
  if (absl::StripAsciiWhitespace(ToAbsl(media_type)) != "application/json") {
    return ErrorAnswer(415, "unsupported_media_type", "Content-Type has to be application/json");
  }
  if (!IsValidUtf8(request.body)) return BadRequest("The body is not UTF-8");
  cql::CqlOr<JsonValue> json = cql::ParseJson(request.body);
  if (!json.ok()) return BadRequest(json.error().message);
  if (json->As<JsonObject>() == nullptr) return BadRequest("The body is no object of JSON");
  return std::get<JsonObject>(std::move(json->node));
}

std::string CqlText(std::string_view text) {
  return Cat("'", absl::StrReplaceAll(ToAbsl(text), {{"'", "''"}}), "'");
}

std::optional<int64_t> IntegerOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Consistency> ConsistencyOf(std::string_view name) {
  const std::string upper = absl::AsciiStrToUpper(ToAbsl(name));
  for (uint16_t code = 0; code <= static_cast<uint16_t>(Consistency::kLocalOne); ++code) {
    const auto consistency = static_cast<Consistency>(code);
    if (upper == protocol::ConsistencyName(consistency)) return consistency;
  }
  return std::nullopt;
}

// A value of the column as the table writes it; else why there is none. Words are taken in any case.
std::variant<std::string, HttpAnswer> WordOf(const ApiColumn& column, const std::string& value) {
  const auto refusal = [&](std::string_view known) {
    return BadRequest(
        Cat(column.name, " '", FrontOf(value, kSaidNameBytesMax), "' is not ", known));
  };
  switch (column.words) {
    case ApiWords::kOperation: {
      const std::optional<cql::StatementOp> op = cql::ParseStatementOp(value);
      if (op) return std::string(cql::ToString(*op));
      return refusal(
          "SELECT, INSERT, UPDATE, DELETE, TRUNCATE, BATCH, PREPARE, CREATE, ALTER, DROP, USE, "
          "DESCRIBE "
          "or OTHER");
    }
    case ApiWords::kConsistency: {
      const std::optional<Consistency> consistency = ConsistencyOf(value);
      if (consistency) return std::string(protocol::ConsistencyName(*consistency));
      return refusal("one, like ONE or LOCAL_QUORUM");
    }
    case ApiWords::kLowerCase:
      return std::string(absl::AsciiStrToLower(ToAbsl(value)));
    case ApiWords::kNone:
      break;
  }
  return value;
}

// ?limit=N, and ?COLUMN=VALUE for columns of text.
std::variant<Statement, HttpAnswer> SelectOf(const ApiTable& table, std::string_view query) {
  Statement select{Cat("SELECT * FROM liststore.", table.name), kPageSizeMax};
  const auto parameters = QueryParameters(query);
  if (!parameters) return BadRequest("The query is not percent-encoded UTF-8");
  std::string where;
  std::string limit;
  for (const auto& [name, value] : *parameters) {
    if (name == "limit") {
      const std::optional<int64_t> rows = IntegerOf(value);
      if (!rows || *rows < 1 || *rows > kPageSizeMax) {
        return BadRequest(Cat("limit is a number from 1 to ", kPageSizeMax));
      }
      limit = Cat(" LIMIT ", *rows);
      continue;
    }
    const auto column = std::ranges::find(table.columns, name, &ApiColumn::name);
    const bool is_text = column != table.columns.end() && column->type == JsonType::kString;
    if (!is_text || where.find(Cat("\"", name, "\"")) != std::string::npos) {
      return BadRequest(Cat("There is no parameter ", FrontOf(name, kSaidNameBytesMax),
                            ": limit, and the table's columns of text, once each"));
    }
    std::variant<std::string, HttpAnswer> word = WordOf(*column, value);
    if (auto* refusal = std::get_if<HttpAnswer>(&word)) return std::move(*refusal);
    AppendTo(where, where.empty() ? " WHERE " : " AND ", "\"", name,
             "\" = ", CqlText(std::get<std::string>(word)));
  }
  AppendTo(select.text, where, limit, where.empty() ? "" : " ALLOW FILTERING");
  return select;
}

// Without the instruments some tables are not there.
HttpAnswer NotThere(const ApiTable& table, HttpAnswer answer) {
  const bool is_missing =
      answer.status == 400 && answer.body.find("unconfigured table") != std::string::npos;
  if (!is_missing) return answer;
  return ErrorAnswer(404, "not_found",
                     Cat("This server has no liststore.", table.name, ": --instruments is off"));
}

HttpAnswer ReadTable(const ApiTable& table, const HttpCall& call,
                     execute::RequestHandler& handler) {
  std::variant<Statement, HttpAnswer> select = SelectOf(table, call.request.query());
  if (auto* refusal = std::get_if<HttpAnswer>(&select)) return std::move(*refusal);
  return NotThere(table, Run(std::get<Statement>(select), handler, call.client));
}

// The rows of the table, once `written` says that it was changed.
HttpAnswer RowsBehind(const HttpAnswer& written, const ApiTable& table, const HttpCall& call,
                      execute::RequestHandler& handler) {
  HttpAnswer rows =
      Run({Cat("SELECT * FROM liststore.", table.name), kPageSizeMax}, handler, call.client);
  rows.has_written |= written.has_written;
  // What the write has said beside.
  const std::string_view said = written.body;
  const size_t warnings = said.find(R"(,"warnings":)");
  if (rows.status == 200 && warnings != std::string_view::npos) {
    rows.body.resize(rows.body.size() - std::string_view("}\n").size());
    rows.body += said.substr(warnings);
  }
  return rows;
}

HttpAnswer WriteTable(const ApiTable& table, const HttpCall& call,
                      execute::RequestHandler& handler) {
  std::variant<JsonObject, HttpAnswer> body = BodyOf(call.request);
  if (auto* refusal = std::get_if<HttpAnswer>(&body)) return std::move(*refusal);
  auto& row = std::get<JsonObject>(body);
  for (const cql::JsonMember& member : row) {
    if (std::ranges::find(table.columns, member.name, &ApiColumn::name) == table.columns.end()) {
      return BadRequest(Cat(FrontOf(member.name, kSaidNameBytesMax), " is no column of liststore.",
                            table.name, "; GET /api/openapi.json has all"));
    }
  }
  const bool is_named =
      std::ranges::find(row, table.key_column, &cql::JsonMember::name) != row.end();
  if (!table.key_column.empty() && !is_named) {
    row.push_back({std::string(table.key_column), JsonValue{std::string(table.key)}});
  }
  const std::string json = cql::PrintJson(JsonValue{std::move(row)});
  HttpAnswer written =
      Run({Cat("INSERT INTO liststore.", table.name, " JSON ", CqlText(json), " DEFAULT UNSET")},
          handler, call.client);
  // Values of another type than the column's: a server's error in CQL, the client's here.
  if (written.status == 500) {
    written.status = 400;
    written.body =
        absl::StrReplaceAll(written.body, {{R"("status":500)", R"("status":400)"},
                                           {R"("code":"server_error")", R"("code":"invalid")"},
                                           {R"( to a duration")", kDurationsAre}});
  }
  if (written.status != 200) return NotThere(table, std::move(written));
  return RowsBehind(written, table, call, handler);
}

HttpAnswer EmptyTable(const ApiTable& table, const HttpCall& call,
                      execute::RequestHandler& handler) {
  const HttpAnswer written = Run({Cat("TRUNCATE liststore.", table.name)}, handler, call.client);
  return written.status == 200 ? RowsBehind(written, table, call, handler)
                               : NotThere(table, written);
}

HttpAnswer RemoveRow(const ApiTable& table, const HttpCall& call,
                     execute::RequestHandler& handler) {
  const HttpAnswer written =
      Run({Cat("DELETE FROM liststore.", table.name, " WHERE name = ", CqlText(call.name))},
          handler, call.client);
  return written.status == 200 ? RowsBehind(written, table, call, handler)
                               : NotThere(table, written);
}

// What an answer owes to one that came before it.
HttpAnswer Behind(const HttpAnswer& before, HttpAnswer answer) {
  answer.delay += before.delay;
  answer.closes |= before.closes;
  answer.has_written |= before.has_written;
  return answer;
}

// Runs a statement with `parameters` for its bind markers as drivers do: a PREPARE tells their types, and an EXECUTE
// is of just what was prepared. Where that has gone in between, as with its table, both come once more.
HttpAnswer RunBound(Statement statement, const JsonValue& parameters,
                    execute::RequestHandler& handler, execute::ClientState& client) {
  HttpAnswer before;
  for (bool is_last = false;; is_last = true) {
    protocol::Request prepare;
    prepare.message = protocol::Prepare{statement.text};
    Asked asked = Ask(prepare, protocol::Opcode::kPrepare, statement.text, handler, client);
    before = Behind(before, std::move(asked.answer));
    if (asked.frame.empty()) return before;
    const PreparedAnswer prepared = ReadPrepared(asked.frame);
    std::variant<BoundJson, std::string> bound = BindJson(parameters, prepared.markers);
    if (const auto* why = std::get_if<std::string>(&bound)) {
      return Behind(before, BadRequest(*why));
    }
    statement.values.clear();
    for (const std::optional<std::string>& value : std::get<BoundJson>(bound)) {
      statement.values.push_back(value ? protocol::Value::Of(*value) : protocol::Value::Null());
    }
    protocol::Request run;
    run.message = protocol::Execute{prepared.id, std::nullopt, ParametersOf(statement)};
    asked = Ask(run, protocol::Opcode::kExecute, statement.text, handler, client);
    const bool is_over = is_last || !asked.is_unprepared;
    before = Behind(before, AnswerOf(std::move(asked)));
    if (is_over) return before;
  }
}

// Takes a member of the body of /api/query; why not; nullopt: it is taken.
std::optional<std::string> TakeMember(const cql::JsonMember& member, Statement& statement,
                                      std::string& keyspace, const JsonValue*& parameters) {
  const auto* const text = member.value.As<std::string>();
  const auto* const number = member.value.As<int64_t>();
  if (member.name == "query" || member.name == "keyspace") {
    if (text == nullptr) return member.name + " is a string";
    (member.name == "query" ? statement.text : keyspace) = *text;
  } else if (member.name == "page_size") {
    if (number == nullptr || *number < 1 || *number > kPageSizeMax) {
      return Cat("page_size is a number from 1 to ", kPageSizeMax);
    }
    statement.page_size = static_cast<int>(*number);
  } else if (member.name == "paging_state") {
    const bool is_hex =
        text != nullptr && text->size() % 2 == 0 && std::ranges::all_of(*text, [](char c) {
          return absl::ascii_isxdigit(static_cast<unsigned char>(c));
        });
    if (!is_hex) return "paging_state is what an answer has said";
    statement.paging_state = absl::HexStringToBytes(*text);
  } else if (member.name == "consistency") {
    const auto consistency = text == nullptr ? std::nullopt : ConsistencyOf(*text);
    if (!consistency) return "consistency is ONE, LOCAL_QUORUM, ...";
    statement.consistency = *consistency;
  } else if (member.name == "parameters") {
    parameters = &member.value;
  } else {
    return Cat("There is no ", FrontOf(member.name, kSaidNameBytesMax),
               ": query, parameters, keyspace, page_size, paging_state and consistency");
  }
  return std::nullopt;
}

HttpAnswer RunQuery(const HttpCall& call, execute::RequestHandler& handler) {
  std::variant<JsonObject, HttpAnswer> body = BodyOf(call.request);
  if (auto* refusal = std::get_if<HttpAnswer>(&body)) return std::move(*refusal);
  Statement statement;
  const JsonValue* parameters = nullptr;
  for (const cql::JsonMember& member : std::get<JsonObject>(body)) {
    if (const auto why = TakeMember(member, statement, call.client.keyspace, parameters))
      return BadRequest(*why);
  }
  if (statement.text.empty()) return BadRequest("query, a statement of CQL, is missing");
  if (parameters == nullptr) return Run(statement, handler, call.client);
  return RunBound(std::move(statement), *parameters, handler, call.client);
}

}  // namespace

std::vector<Resource> ApiResources(execute::RequestHandler& handler) {
  std::vector<Resource> resources;
  for (const ApiTable& table : ApiTables()) {
    const std::string path = Cat("/api/", table.name);
    const auto add = [&](std::string method, std::string at, auto answer) {
      resources.push_back({.path = std::move(at),
                           .methods = {std::move(method)},
                           .summary = std::string(table.summary),
                           .answer = [&handler, &table, answer](const HttpCall& call) {
                             return answer(table, call, handler);
                           }});
    };
    add("GET", path, ReadTable);
    if (table.can_be_written) add("POST", path, WriteTable);
    if (table.can_be_emptied) add("DELETE", path, EmptyTable);
    if (table.has_rows_by_name) add("DELETE", path + "/{name}", RemoveRow);
  }
  resources.push_back(
      {.path = "/api/query",
       .methods = {"POST"},
       .summary = "Any statement of CQL, as {\"query\": \"SELECT ...\"}",
       .answer = [&handler](const HttpCall& call) { return RunQuery(call, handler); }});
  resources.push_back({.path = "/api/openapi.json",
                       .methods = {"GET"},
                       .summary = "This API, described by OpenAPI 3",
                       .answer = [](const HttpCall&) {
                         HttpAnswer answer;
                         answer.body = OpenApiDocument();
                         return answer;
                       }});
  return resources;
}

}  // namespace liststore::http_face
