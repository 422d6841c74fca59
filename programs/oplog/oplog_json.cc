#include "programs/oplog/oplog_json.h"

#include <array>
#include <boost/json.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"

namespace liststore {
namespace {

namespace json = boost::json;

constexpr uint64_t kAnyNumber = std::numeric_limits<uint64_t>::max();

const char* KindName(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
  }
  return "something else";
}

std::string_view View(const json::string& text) { return {text.data(), text.size()}; }

// The fields of one object. The first fault is kept and everything after it is ignored, so that a
// reader asks for all fields in a row and looks at status() once.
class Fields {
 public:
  // `prefix` stands before field names in messages ("items[3].").
  explicit Fields(const json::object& object, std::string prefix = "")
      : object_(object), prefix_(std::move(prefix)) {}

  std::string_view Text(const char* name) {
    const json::value* const value = Find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) return Fail(name, "a string", *value), std::string_view();
    return View(value->get_string());
  }

  uint64_t Number(const char* name, uint64_t min = 0, uint64_t max = kAnyNumber) {
    const json::value* const value = Find(name);
    if (value == nullptr) return 0;
    if (value->is_int64() && value->get_int64() < 0) {
      Fail(absl::StrCat("\"", prefix_, name, "\" is negative: ", value->get_int64()));
      return 0;
    }
    if (value->is_double()) {
      Fail(absl::StrFormat("\"%s%s\" is not a whole number of 64 bits: %s", prefix_, name,
                           json::serialize(*value)));
      return 0;
    }
    if (!value->is_number()) return Fail(name, "a number", *value), 0;
    const uint64_t number =
        value->is_uint64() ? value->get_uint64() : static_cast<uint64_t>(value->get_int64());
    if (number < min || number > max) {
      Fail(absl::StrFormat("\"%s%s\" is %d, outside %d to %d", prefix_, name, number, min, max));
      return 0;
    }
    return number;
  }

  // nullptr after a fault.
  const json::array* Array(const char* name) {
    const json::value* const value = Find(name);
    if (value == nullptr) return nullptr;
    if (!value->is_array()) return Fail(name, "an array", *value), nullptr;
    return &value->get_array();
  }

  const absl::Status& status() const { return status_; }

 private:
  const json::value* Find(const char* name) {
    if (!status_.ok()) return nullptr;
    const json::value* const value = object_.if_contains(name);
    if (value == nullptr) Fail(absl::StrCat("field \"", prefix_, name, "\" is missing"));
    return value;
  }
  void Fail(const char* name, const char* wanted, const json::value& found) {
    Fail(absl::StrCat("\"", prefix_, name, "\" is ", KindName(found), ", not ", wanted));
  }
  void Fail(const std::string& reason) { status_ = absl::InvalidArgumentError(reason); }

  const json::object& object_;
  const std::string prefix_;
  absl::Status status_;
};

std::string_view CopyInto(std::pmr::memory_resource* memory, std::string_view text) {
  if (text.empty()) return {};
  char* const bytes = static_cast<char*>(memory->allocate(text.size(), 1));
  std::memcpy(bytes, text.data(), text.size());
  return {bytes, text.size()};
}

absl::Status ParseItems(const json::array& array, std::pmr::memory_resource* memory,
                        Operation* operation) {
  if (array.empty()) return absl::OkStatus();
  NewItem* const items =
      static_cast<NewItem*>(memory->allocate(array.size() * sizeof(NewItem), alignof(NewItem)));
  for (size_t i = 0; i < array.size(); ++i) {
    if (!array[i].is_object()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("\"items[%d]\" is %s, not an object", i, KindName(array[i])));
    }
    // Prefixes are made for the message alone; a fault is rare enough to parse the item twice.
    Fields fields(array[i].get_object());
    const uint64_t timestamp = fields.Number("ts");
    const std::string_view value = fields.Text("value");
    if (!fields.status().ok()) {
      Fields again(array[i].get_object(), absl::StrFormat("items[%d].", i));
      again.Number("ts");
      again.Text("value");
      return again.status();
    }
    new (items + i) NewItem{timestamp, CopyInto(memory, value)};
  }
  operation->items = {items, array.size()};
  return absl::OkStatus();
}

absl::StatusOr<OperationKind> KindOf(std::string_view name) {
  for (size_t kind = 0; kind < kOperationKinds; ++kind) {
    if (kOperationNames[kind] == name) return static_cast<OperationKind>(kind);
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown operation \"", ToAbsl(name), "\""));
}

}  // namespace

class OplogJson::Impl {
 public:
  // The object of one line; it lasts until the next call.
  absl::StatusOr<const json::object*> Parse(std::string_view line) {
    // Both give their memory up before the resource takes it back.
    value_.reset();
    parser_.reset();
    memory_.release();
    parser_.reset(json::storage_ptr(&memory_));
    json::error_code error;
    parser_.write(line.data(), line.size(), error);
    if (error) return absl::InvalidArgumentError(Reason(line, error));
    value_.emplace(parser_.release());  // moved in: assigning would copy it out of the resource
    if (!value_->is_object()) {
      return absl::InvalidArgumentError(absl::StrCat("not a JSON object but ", KindName(*value_)));
    }
    return &value_->get_object();
  }

 private:
  static std::string Reason(std::string_view line, const json::error_code& error) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return "the line is empty";
    if (error == json::error::incomplete) return "the JSON text ends early";
    return absl::StrCat("not valid JSON: ", error.message());
  }

  std::array<unsigned char, 256 * 1024> buffer_;
  json::monotonic_resource memory_{buffer_.data(), buffer_.size()};
  json::parser parser_;
  std::optional<json::value> value_;
};

OplogJson::OplogJson() : impl_(std::make_unique<Impl>()) {}
OplogJson::~OplogJson() = default;
OplogJson::OplogJson(OplogJson&&) noexcept = default;
OplogJson& OplogJson::operator=(OplogJson&&) noexcept = default;

absl::Status OplogJson::ParseOperation(std::string_view line, std::pmr::memory_resource* memory,
                                       Operation* operation) {
  LS_ASSIGN_OR_RETURN(const json::object* object, impl_->Parse(line));
  Fields fields(*object);
  const std::string_view name = fields.Text("op");
  LS_RETURN_IF_ERROR(fields.status());
  *operation = Operation();
  LS_ASSIGN_OR_RETURN(operation->kind, KindOf(name));

  operation->at_nanos = fields.Number("at");
  operation->list.entity_type = CopyInto(memory, fields.Text("entity_type"));
  operation->list.feature = CopyInto(memory, fields.Text("feature"));
  operation->list.version = CopyInto(memory, fields.Text("version"));
  if (operation->kind != OperationKind::kCreateFeature) {
    operation->list.entity_id = CopyInto(memory, fields.Text("entity_id"));
  }
  switch (operation->kind) {
    case OperationKind::kCreateFeature:
      operation->ttl_seconds =
          static_cast<int64_t>(fields.Number("ttl_s", 0, std::numeric_limits<int64_t>::max()));
      break;
    case OperationKind::kAdd:
      if (const json::array* items = fields.Array("items")) {
        LS_RETURN_IF_ERROR(ParseItems(*items, memory, operation));
      }
      break;
    case OperationKind::kGet:
      operation->min_timestamp_nanos = fields.Number("min_ts");
      operation->limit = fields.Number("limit", 1);
      break;
    case OperationKind::kRemoveValue:
      operation->value = CopyInto(memory, fields.Text("value"));
      break;
    case OperationKind::kRemoveAll:
      break;
  }
  return fields.status();
}

absl::StatusOr<std::variant<ReadAnswer, ReplayTotals>> OplogJson::ParseAnswer(
    std::string_view line) {
  LS_ASSIGN_OR_RETURN(const json::object* object, impl_->Parse(line));
  Fields fields(*object);
  std::variant<ReadAnswer, ReplayTotals> answer;
  if (object->contains("line")) {
    ReadAnswer& read = answer.emplace<ReadAnswer>();
    read.line = fields.Number("line", 1);
    read.items = fields.Number("items");
    read.md5 = fields.Text("md5");
  } else {
    ReplayTotals& totals = answer.emplace<ReplayTotals>();
    totals.reads = fields.Number("reads");
    totals.returned = fields.Number("returned");
    totals.stored = fields.Number("stored");
    totals.skipped_expired = fields.Number("skipped_expired");
    totals.removed_live = fields.Number("removed_live");
    totals.live_at_end = fields.Number("live_at_end");
    totals.md5 = fields.Text("md5");
  }
  if (!fields.status().ok()) return fields.status();
  return answer;
}

}  // namespace liststore
