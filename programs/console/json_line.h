// An object as one line of JSON, put together key by key.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_JSON_LINE_H_
#define LISTSTORE_PROGRAMS_CONSOLE_JSON_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace liststore {

// One thread. Quotes, backslashes and control characters of texts, which are UTF-8, are escaped.
class JsonLine {
 public:
  void Add(std::string_view key, double value) { Put(key, absl::StrFormat("%.6g", value)); }
  void Count(std::string_view key, uint64_t value) { Put(key, absl::StrCat(value)); }
  void Text(std::string_view key, std::string_view text) { Put(key, Quoted(text)); }
  template <typename Number>
  void Numbers(std::string_view key, const std::vector<Number>& values) {
    std::string text;
    for (const Number value : values) {
      absl::StrAppendFormat(&text, "%s%.6g", text.empty() ? "" : ",", static_cast<double>(value));
    }
    Put(key, "[" + text + "]");
  }
  // What is JSON already.
  void Json(std::string_view key, const std::string& value) { Put(key, value); }
  std::string Finish() const { return text_ + "}"; }

  static std::string Quoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < ' ') {
        absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<unsigned>(c));
        continue;
      }
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return quoted + '"';
  }

 private:
  void Put(std::string_view key, const std::string& value) {
    text_ += text_.size() > 1 ? "," : "";
    text_ += Quoted(key) + ":" + value;
  }
  std::string text_ = "{";
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_JSON_LINE_H_
