// JSON texts (RFC 8259) of requests -> trees, and the pieces of which answers are written. Numbers keep the
// digits they came with.
#ifndef LISTSTORE_ENGINE_DYNAMODB_VALUES_JSON_H_
#define LISTSTORE_ENGINE_DYNAMODB_VALUES_JSON_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dynamodb/values/error.h"

namespace liststore::dynamodb {

// Objects and arrays within one another: 32 levels of an attribute take two each, and a request a few more.
inline constexpr int kJsonNestingMax = 96;
// Values and names of one text; 12 bytes of a document for each.
inline constexpr size_t kJsonValuesMax = size_t{4} << 20;

class JsonDocument;
struct JsonMember;

// A value in a document; a view, of two words. `missing` is what Find answers where there is none.
class Json {
 public:
  enum class Kind : uint8_t {
    kMissing,
    kNull,
    kFalse,
    kTrue,
    kNumber,
    kString,
    kArray,
    kObject
  };

  Json() = default;

  Kind kind() const;
  // Not there, or null: Amazon's services take both for absent.
  bool is_absent() const { return kind() <= Kind::kNull; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_number() const { return kind() == Kind::kNumber; }
  bool is_bool() const { return kind() == Kind::kTrue || kind() == Kind::kFalse; }
  bool is_array() const { return kind() == Kind::kArray; }
  bool is_object() const { return kind() == Kind::kObject; }

  // Of a string what it says, valid UTF-8, without escapes; of a number as it is written; else empty. Valid
  // as long as the document.
  std::string_view text() const;
  bool is_true() const { return kind() == Kind::kTrue; }
  // A number that is whole (1e2 too) and fits.
  std::optional<int64_t> ToInt64() const;

  // Elements or members; 0 of all others. O(1).
  size_t size() const;
  // The last member of that name. O(members).
  Json Find(std::string_view name) const;

  // for (const JsonMember member : object): members in the order of the text, repeated names too. Of an
  // array: elements, whose names are empty.
  class Iterator {
   public:
    JsonMember operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    friend class Json;
    Iterator(const JsonDocument* document, uint32_t at, bool named)
        : document_(document), at_(at), named_(named) {}
    const JsonDocument* document_;
    uint32_t at_;
    bool named_;
  };
  Iterator begin() const;
  Iterator end() const;

 private:
  friend class JsonDocument;
  Json(const JsonDocument* document, uint32_t at) : document_(document), at_(at) {}

  const JsonDocument* document_ = nullptr;
  uint32_t at_ = 0;
};

struct JsonMember {
  std::string_view name;
  Json value;
};

// Owns a text and its tree: 12 bytes for each value and name. Strings are unescaped in place. Movable as
// long as no view of it is out.
class JsonDocument {
 public:
  // An error of kSerialization: no JSON, no UTF-8, more than `values_max` values or names, or more than
  // kJsonNestingMax within one another. At most 2^32 - 1 bytes. O(bytes).
  static ErrorOr<JsonDocument> Parse(std::string text, size_t values_max = kJsonValuesMax);

  Json root() const { return Json(this, 0); }
  // What it holds, for budgets.
  size_t held_bytes() const { return text_.capacity() + nodes_.capacity() * sizeof(Node); }

 private:
  friend class Json;
  friend class Json::Iterator;
  friend class JsonParser;
  // In the order of the text, a name before its value.
  struct Node {
    uint32_t begin;      // of the text
    uint32_t length;     // of arrays and objects: how many elements or members
    uint32_t next : 29;  // what comes behind it and all that is in it
    uint32_t kind : 3;
  };
  static_assert(sizeof(Node) == 12);

  std::string text_;
  std::vector<Node> nodes_;
};

// Of kSerialization: why `json` is not what the request has there, "String", "Boolean", "Integer", "List" or
// "Map": "NUMBER_VALUE cannot be converted to String".
Error NotOfKind(Json json, std::string_view wanted);

// `text`, which is valid UTF-8, as a JSON string in quotes. Eight bytes a step where nothing is to be
// escaped.
void AppendJsonString(std::string_view text, std::string& out);
// Base64 (RFC 4648, with padding) in quotes.
void AppendJsonBase64(std::string_view bytes, std::string& out);

void AppendBase64(std::string_view bytes, std::string& out);
// nullopt: not base64 with padding, or bits behind the end.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_VALUES_JSON_H_
