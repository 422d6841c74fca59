// Tags, limits, and what is asked of a server rather than of a table.
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/faces/dynamodb/operation.h"

namespace liststore::dynamodb_face {
namespace {

constexpr size_t kTagsMax = 50;
constexpr size_t kTagKeyBytesMax = 128;
constexpr size_t kTagValueBytesMax = 256;

ErrorOr<std::shared_ptr<const TableShape>> TableOfResource(OperationCall& call) {
  const Json arn = call.request.Find("ResourceArn");
  if (!arn.is_string()) {
    return dynamodb::Invalid(
        "The parameter 'ResourceArn' is required but was not present in the request");
  }
  const std::string_view name = TableOfArn(arn.text());
  std::shared_ptr<const TableShape> shape = call.server.shapes.Find(*call.server.schema(), name);
  if (!arn.text().starts_with("arn:") || name.empty()) {
    return dynamodb::Invalid(Cat("Invalid TableArn: Invalid ResourceArn provided as input ",
                                 http_face::FrontOf(arn.text(), 256)));
  }
  if (shape != nullptr) return shape;
  return Error{ErrorCode::kResourceNotFound,
               Cat("Requested resource not found: ResourcArn: ",
                   http_face::FrontOf(arn.text(), 512), " not found")};
}

}  // namespace

Status AddTags(Json tags, std::map<std::string, std::string>& all) {
  for (const JsonMember member : tags) {
    const Json key = member.value.Find("Key");
    const Json value = member.value.Find("Value");
    if (!key.is_string() || !value.is_string() || key.text().empty() ||
        key.text().size() > kTagKeyBytesMax || value.text().size() > kTagValueBytesMax) {
      return dynamodb::Invalid(
          "A tag has a Key of 1 to 128 characters, and a Value of at most 256");
    }
    all[std::string(key.text())] = value.text();
  }
  if (all.size() > kTagsMax) return dynamodb::Invalid("One or more tags exceed the limit of 50");
  return {};
}

ErrorOr<std::string> ListTagsOfResource(OperationCall& call) {
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<const TableShape> shape, TableOfResource(call));
  std::string tags;
  for (const auto& [key, value] : shape->notes.tags) {
    tags += tags.empty() ? "{\"Key\":" : ",{\"Key\":";
    dynamodb::AppendJsonString(key, tags);
    tags += ",\"Value\":";
    dynamodb::AppendJsonString(value, tags);
    tags += '}';
  }
  return Cat("{\"Tags\":[", tags, "]}");
}

ErrorOr<std::string> TagResource(OperationCall& call) {
  const MutexLock lock(call.server.schema_mutex);
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<const TableShape> shape, TableOfResource(call));
  LS_RETURN_IF_ERROR(call.server.updating.CheckNot(shape->name));
  TableNotes notes = shape->notes;
  if (!call.request.Find("Tags").is_array()) {
    return dynamodb::Invalid("The parameter 'Tags' is required but was not present in the request");
  }
  LS_RETURN_IF_ERROR(AddTags(call.request.Find("Tags"), notes.tags));
  LS_RETURN_IF_ERROR(WriteNotes(call, *shape, notes));
  return std::string("{}");
}

ErrorOr<std::string> UntagResource(OperationCall& call) {
  const MutexLock lock(call.server.schema_mutex);
  LS_ASSIGN_OR_RETURN(const std::shared_ptr<const TableShape> shape, TableOfResource(call));
  LS_RETURN_IF_ERROR(call.server.updating.CheckNot(shape->name));
  TableNotes notes = shape->notes;
  for (const JsonMember member : call.request.Find("TagKeys")) {
    notes.tags.erase(std::string(member.value.text()));
  }
  LS_RETURN_IF_ERROR(WriteNotes(call, *shape, notes));
  return std::string("{}");
}

// Source: DynamoDB's developer guide, "Quotas", initial quotas: nothing is limited by them here.
ErrorOr<std::string> DescribeLimits(OperationCall&) {
  return std::string(R"({"AccountMaxReadCapacityUnits":80000,"AccountMaxWriteCapacityUnits":80000,)"
                     R"("TableMaxReadCapacityUnits":40000,"TableMaxWriteCapacityUnits":40000})");
}

ErrorOr<std::string> DescribeEndpoints(OperationCall& call) {
  std::string host;
  dynamodb::AppendJsonString(call.host.empty() ? "localhost" : call.host, host);
  return Cat(R"({"Endpoints":[{"Address":)", host, R"(,"CachePeriodInMinutes":1440}]})");
}

ErrorOr<std::string> DescribeContinuousBackups(OperationCall& call) {
  ErrorOr<std::shared_ptr<const TableShape>> shape = TableOf(call);
  if (!shape.ok() && shape.error().code == ErrorCode::kResourceNotFound) {
    return Error{ErrorCode::kTableNotFound, shape.error().message};
  }
  if (!shape.ok()) return shape.error();
  return std::string(
      R"({"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"DISABLED",)"
      R"("PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}})");
}

}  // namespace liststore::dynamodb_face
