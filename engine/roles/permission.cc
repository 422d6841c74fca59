#include "engine/roles/permission.h"

#include "engine/base/check.h"

namespace liststore::roles {

std::string_view ToString(Permission permission) {
  switch (permission) {
    case Permission::kCreate:
      return "CREATE";
    case Permission::kAlter:
      return "ALTER";
    case Permission::kDrop:
      return "DROP";
    case Permission::kSelect:
      return "SELECT";
    case Permission::kModify:
      return "MODIFY";
    case Permission::kAuthorize:
      return "AUTHORIZE";
    case Permission::kDescribe:
      return "DESCRIBE";
    case Permission::kExecute:
      return "EXECUTE";
  }
  LS_UNREACHABLE("every permission has its word");
}

}  // namespace liststore::roles
