// Kinds of batches and of writes: a plan's, the wire's, and those that errors of a write name.
#ifndef LISTSTORE_ENGINE_EXECUTE_WRITE_WRITE_TYPE_H_
#define LISTSTORE_ENGINE_EXECUTE_WRITE_WRITE_TYPE_H_

#include "engine/base/check.h"
#include "engine/cql/plan/plan.h"
#include "engine/protocol/request.h"
#include "engine/protocol/response.h"

namespace liststore::execute {

inline cql::BatchStatement::Kind KindOf(protocol::BatchType type) {
  switch (type) {
    case protocol::BatchType::kLogged:
      return cql::BatchStatement::Kind::kLogged;
    case protocol::BatchType::kUnlogged:
      return cql::BatchStatement::Kind::kUnlogged;
    case protocol::BatchType::kCounter:
      return cql::BatchStatement::Kind::kCounter;
  }
  LS_UNREACHABLE("batches are of one of these types");
}

inline protocol::WriteType WriteTypeOf(cql::BatchStatement::Kind kind) {
  switch (kind) {
    case cql::BatchStatement::Kind::kLogged:
      return protocol::WriteType::kBatch;
    case cql::BatchStatement::Kind::kUnlogged:
      return protocol::WriteType::kUnloggedBatch;
    case cql::BatchStatement::Kind::kCounter:
      return protocol::WriteType::kCounter;
  }
  LS_UNREACHABLE("batches are of one of these kinds");
}
inline protocol::WriteType WriteTypeOf(protocol::BatchType type) {
  return WriteTypeOf(KindOf(type));
}
inline protocol::WriteType WriteTypeOf(const cql::BatchPlan& plan) {
  if (!plan.modifications.empty() && plan.modifications[0].is_counter) {
    return protocol::WriteType::kCounter;
  }
  return WriteTypeOf(plan.kind);
}
// kSimple for plans that do not write.
inline protocol::WriteType WriteTypeOf(const cql::Plan& plan) {
  if (plan.is_conditional()) return protocol::WriteType::kCas;
  if (const auto* batch = std::get_if<cql::BatchPlan>(&plan.body)) return WriteTypeOf(*batch);
  const auto* change = std::get_if<cql::ModificationPlan>(&plan.body);
  return change != nullptr && change->is_counter ? protocol::WriteType::kCounter
                                                 : protocol::WriteType::kSimple;
}

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_WRITE_WRITE_TYPE_H_
