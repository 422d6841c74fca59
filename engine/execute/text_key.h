// TextKey: the partition key of a prepared statement whose key columns are texts, each bound to a
// variable.
#ifndef LISTSTORE_ENGINE_EXECUTE_TEXT_KEY_H_
#define LISTSTORE_ENGINE_EXECUTE_TEXT_KEY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "engine/cql/plan/plan.h"
#include "engine/protocol/primitives.h"

namespace liststore::execute {

// A short way for keys in their usual form: short texts, in ASCII. All others, wrong ones as well, go
// the long way (cql/plan/instantiate.h), and have their errors there. Immutable.
class TextKey {
 public:
  using Values = std::span<const protocol::Value>;

  // nullopt: another shape. `variables`: how many the plan has.
  static std::optional<TextKey> Of(const std::vector<cql::KeyAlternatives>& partition_key,
                                   size_t variables);

  // As many as the plan has variables: then the key may be made, and all else that is bound.
  bool Takes(Values values) const { return values.size() == plan_variables_; }
  // The serialised key: in `memory`, which grows to kBytesMax, or a value itself. False: not in
  // the usual form.
  bool Make(Values values, std::string& memory, std::string_view& key) const;

 private:
  // Longer keys are rare, and have limits to be checked.
  static constexpr size_t kBytesMax = 512;

  size_t plan_variables_ = 0;
  absl::InlinedVector<uint16_t, 2> variables_;  // of the key
};

// The variable that a text is bound to; nullopt: another operand, or not one of so many.
std::optional<uint16_t> TextVariable(const cql::Operand& operand, size_t variables);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_TEXT_KEY_H_
