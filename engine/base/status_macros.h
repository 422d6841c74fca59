// Early return on error for absl::Status and absl::StatusOr.
#ifndef LISTSTORE_ENGINE_BASE_STATUS_MACROS_H_
#define LISTSTORE_ENGINE_BASE_STATUS_MACROS_H_

#define LS_CONCAT_INNER(a, b) a##b
#define LS_CONCAT(a, b) LS_CONCAT_INNER(a, b)

// By a counter, not by line: one may stand in a lambda within another's expression.
#define LS_RETURN_IF_ERROR(expression) \
  LS_RETURN_IF_ERROR_INNER(LS_CONCAT(ls_status_, __COUNTER__), expression)
#define LS_RETURN_IF_ERROR_INNER(status, expression) \
  do {                                               \
    auto status = (expression);                      \
    if (!status.ok()) return status;                 \
  } while (false)

// LS_ASSIGN_OR_RETURN(auto x, MakeX()): declares or assigns x, or returns MakeX()'s status.
#define LS_ASSIGN_OR_RETURN(target, expression) \
  LS_ASSIGN_OR_RETURN_INNER(LS_CONCAT(ls_or_, __LINE__), target, expression)
#define LS_ASSIGN_OR_RETURN_INNER(temporary, target, expression) \
  auto temporary = (expression);                                 \
  if (!temporary.ok()) return temporary.status();                \
  target = *std::move(temporary)

#endif  // LISTSTORE_ENGINE_BASE_STATUS_MACROS_H_
