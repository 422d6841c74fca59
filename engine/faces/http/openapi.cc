// OpenApiDocument: made of the tables that the API is made of, so that it says what there is.
#include <string>
#include <string_view>
#include <utility>

#include "engine/cql/values/json_value.h"
#include "engine/faces/http/api.h"
#include "engine/faces/http/api_tables.h"
#include "engine/faces/http/text.h"
#include "liststore/version.h"

namespace liststore::http_face {
namespace {

constexpr std::string_view kError =
    R"("default":{"description":"An error","content":{"application/json":{"schema":)"
    R"({"$ref":"#/components/schemas/Error"}}}})";

std::string_view SchemaOf(JsonType type) {
  switch (type) {
    case JsonType::kString:
      return R"("type":"string")";
    case JsonType::kInteger:
      return R"("type":"integer","format":"int64")";
    case JsonType::kNumber:
      return R"("type":"number")";
    case JsonType::kBoolean:
      return R"("type":"boolean")";
    case JsonType::kStrings:
      return R"("type":"array","items":{"type":"string"})";
  }
  return "";
}

// The schema of a row; of one that is written, what may be written.
std::string RowSchema(const ApiTable& table, bool is_written) {
  std::string schema = R"({"type":"object","additionalProperties":false,"properties":{)";
  const char* comma = "";
  for (const ApiColumn& column : table.columns) {
    if (is_written && !column.is_written) continue;
    AppendTo(schema, std::exchange(comma, ","), "\"", column.name, "\":{", SchemaOf(column.type),
             R"(,"nullable":true,"description":)", cql::QuoteJson(column.description), "}");
  }
  return schema + "}}";
}

std::string Operation(std::string_view id, std::string_view summary, std::string_view more,
                      std::string_view schema) {
  return Cat(R"({"operationId":")", id, R"(","summary":)", cql::QuoteJson(summary), ",", more,
             R"("responses":{"200":{"description":"OK","content":)",
             R"({"application/json":{"schema":)", schema, "}}},", kError, "}}");
}

std::string Body(std::string_view schema) {
  return Cat(R"("requestBody":{"required":true,"content":{"application/json":{"schema":)", schema,
             "}}},");
}

std::string ReadParameters(const ApiTable& table) {
  std::string parameters =
      Cat(R"("parameters":[{"name":"limit","in":"query","schema":{"type":"integer","minimum":1,)",
          R"("maximum":)", kPageSizeMax, "}}");
  for (const ApiColumn& column : table.columns) {
    if (column.type != JsonType::kString) continue;
    AppendTo(parameters, R"(,{"name":")", column.name,
             R"(","in":"query","description":"Rows with this value alone",)",
             R"("schema":{"type":"string"}})");
  }
  return parameters + "],";
}

void AppendTable(const ApiTable& table, std::string& paths, std::string& schemas) {
  const std::string rows =
      Cat(R"({"type":"object","required":["columns","rows"],"properties":{"columns":)",
          R"({"$ref":"#/components/schemas/Columns"},"rows":{"type":"array","items":)",
          R"({"$ref":"#/components/schemas/)", table.name, R"("}},"warnings":{"type":"array",)",
          R"("items":{"type":"string"}},"paging_state":{"type":"string"}}})");
  AppendTo(schemas, ",\"", table.name, "\":", RowSchema(table, /*is_written=*/false));
  AppendTo(paths, ",\"/api/", table.name, "\":{\"get\":",
           Operation(Cat("read_", table.name), table.summary, ReadParameters(table), rows));
  if (table.can_be_written) {
    AppendTo(
        paths, ",\"post\":",
        Operation(Cat("write_", table.name), "Writes a row, and answers with the rows behind it",
                  Body(RowSchema(table, /*is_written=*/true)), rows));
  }
  if (table.can_be_emptied) {
    AppendTo(paths,
             ",\"delete\":", Operation(Cat("empty_", table.name), "Removes all rows", "", rows));
  }
  paths += "}";
  if (!table.has_rows_by_name) return;
  AppendTo(paths, ",\"/api/", table.name, "/{name}\":{\"delete\":",
           Operation(Cat("remove_", table.name), "Removes one row",
                     R"("parameters":[{"name":"name","in":"path","required":true,)"
                     R"("schema":{"type":"string","minLength":1}}],)",
                     rows),
           "}");
}

}  // namespace

std::string OpenApiDocument() {
  constexpr std::string_view kObject = R"({"type":"object"})";
  std::string paths =
      Cat("\"/health\":{\"get\":", Operation("health", "The process lives", "", kObject),
          "},\"/ready\":{\"get\":", Operation("ready", "Requests are accepted", "", kObject), "}");
  AppendTo(paths, R"(,"/metrics":{"get":{"operationId":"metrics","summary":"For Prometheus",)",
           R"("responses":{"200":{"description":"OK","content":{"text/plain":{"schema":)",
           R"({"type":"string"}}}},)", kError, "}}}");
  AppendTo(paths, R"(,"/":{"get":{"operationId":"page","summary":"A page for people",)",
           R"("responses":{"200":{"description":"OK","content":{"text/html":{"schema":)",
           R"({"type":"string"}}}},"304":{"description":"As If-None-Match says"},)", kError, "}}}");
  AppendTo(
      paths, R"(,"/api/openapi.json":{"get":)", Operation("openapi", "This document", "", kObject),
      R"(},"/api/query":{"post":)",
      Operation(
          "query", "Runs a statement of CQL",
          Body(Cat(
              R"({"type":"object","required":["query"],"additionalProperties":false,)",
              R"("properties":{"query":{"type":"string","minLength":1},"parameters":{"oneOf":[)",
              R"({"type":"array","items":{}},{"type":"object"}],"description":"Values of the )",
              R"(bind markers, in their order or by their names"},"keyspace":)",
              R"({"type":"string"},"page_size":{"type":"integer","minimum":1,"maximum":)",
              kPageSizeMax, R"(,"default":)", kPageSizeDefault,
              R"(},"paging_state":{"type":"string","pattern":"^([0-9a-fA-F]{2})*$"},)",
              R"("consistency":{"type":"string","enum":["ANY","ONE","TWO","THREE","QUORUM",)",
              R"("ALL","LOCAL_QUORUM","EACH_QUORUM","SERIAL","LOCAL_SERIAL","LOCAL_ONE"],)",
              R"("default":"LOCAL_ONE"}}})")),
          R"({"$ref":"#/components/schemas/Result"})"),
      "}");
  std::string schemas =
      R"("Columns":{"type":"array","items":{"type":"object","required":["name","type"],)"
      R"("properties":{"name":{"type":"string"},"type":{"type":"string"}}}},)"
      R"("Result":{"type":"object","required":["columns","rows"],"properties":{"columns":)"
      R"({"$ref":"#/components/schemas/Columns"},"rows":{"type":"array","items":)"
      R"({"type":"object"}},"paging_state":{"type":"string"},"keyspace":{"type":"string"},)"
      R"("warnings":{"type":"array","items":{"type":"string"}}}},)"
      R"("Error":{"type":"object","required":["error"],"properties":{"error":{"type":"object",)"
      R"("required":["status","code","message"],"properties":{"status":{"type":"integer"},)"
      R"("code":{"type":"string"},"message":{"type":"string"},"cql_code":{"type":"integer"}}}}})";
  for (const ApiTable& table : ApiTables()) AppendTable(table, paths, schemas);
  return Cat(R"({"openapi":"3.0.3","info":{"title":"liststore","version":")", kVersion,
             R"("},"paths":{)", paths, R"(},"components":{"schemas":{)", schemas, "}}}\n");
}

}  // namespace liststore::http_face
