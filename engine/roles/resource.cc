#include "engine/roles/resource.h"

#include "engine/base/check.h"

namespace liststore::roles {
namespace {

std::string DataText(const std::vector<std::string>& parts) {
  if (parts.empty()) return "<all keyspaces>";
  if (parts.size() == 1) return "<keyspace " + parts[0] + ">";
  return "<table " + parts[0] + "." + parts[1] + ">";
}

// Of one function the types are as they were written, each with a comma behind it, as in ScyllaDB
// where it has not looked the function up.
std::string FunctionsText(const std::vector<std::string>& parts) {
  if (parts.empty()) return "<all functions>";
  if (parts.size() == 1) return "<all functions in " + parts[0] + ">";
  std::string text = "<function " + parts[0] + "." + parts[1] + "(";
  for (size_t i = 2; i < parts.size(); ++i) text += parts[i] + ",";
  return text + ")>";
}

}  // namespace

Resource Resource::Function(std::string keyspace, std::string name,
                            const std::vector<std::string>& arguments) {
  std::vector<std::string> parts = {std::move(keyspace), std::move(name)};
  parts.insert(parts.end(), arguments.begin(), arguments.end());
  return {ResourceKind::kFunctions, std::move(parts)};
}

std::string Resource::Name() const {
  std::string name;
  switch (kind_) {
    case ResourceKind::kData:
      name = "data";
      break;
    case ResourceKind::kRole:
      name = "roles";
      break;
    case ResourceKind::kFunctions:
      name = "functions";
      break;
  }
  for (const std::string& part : parts_) name += "/" + part;
  return name;
}

std::string Resource::ToString() const {
  switch (kind_) {
    case ResourceKind::kData:
      return DataText(parts_);
    case ResourceKind::kRole:
      return parts_.empty() ? "<all roles>" : "<role " + parts_[0] + ">";
    case ResourceKind::kFunctions:
      return FunctionsText(parts_);
  }
  LS_UNREACHABLE("there is no other kind");
}

std::optional<Resource> Resource::Parent() const {
  if (parts_.empty()) return std::nullopt;
  // A function is a part of its keyspace, whatever its types are.
  const bool is_function = kind_ == ResourceKind::kFunctions && parts_.size() > 1;
  Resource parent = *this;
  parent.parts_.resize(is_function ? 1 : parts_.size() - 1);
  return parent;
}

// Source: ScyllaDB auth/resource.cc, applicable_permissions.
PermissionSet Resource::ApplicablePermissions() const {
  using enum Permission;
  switch (kind_) {
    case ResourceKind::kData:
      if (parts_.size() == 2) return {kAlter, kDrop, kSelect, kModify, kAuthorize};
      return {kCreate, kAlter, kDrop, kSelect, kModify, kAuthorize};
    case ResourceKind::kRole:
      if (!parts_.empty()) return {kAlter, kDrop, kAuthorize};
      return {kCreate, kAlter, kDrop, kAuthorize, kDescribe};
    case ResourceKind::kFunctions:
      if (parts_.size() > 1) return {kAlter, kDrop, kAuthorize, kExecute};
      return {kCreate, kAlter, kDrop, kAuthorize, kExecute};
  }
  LS_UNREACHABLE("there is no other kind");
}

}  // namespace liststore::roles
