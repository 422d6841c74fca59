#include "tools/serve/scylla_yaml.h"

#include <yaml.h>

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "programs/console/regular_file.h"

namespace liststore {
namespace {

// Lists in maps in lists are the deepest that ScyllaDB has. An anchor that holds itself has no end.
constexpr int kNestingMax = 8;

// A document of libyaml, which has to be freed.
class Document {
 public:
  Document(std::string_view text, std::string path) : path_(std::move(path)) {
    if (yaml_parser_initialize(&parser_) == 0) return;
    is_open_ = true;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    is_loaded_ = yaml_parser_load(&parser_, &document_) != 0;
  }
  ~Document() {
    if (is_loaded_) yaml_document_delete(&document_);
    if (is_open_) yaml_parser_delete(&parser_);
  }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  absl::StatusOr<std::vector<ScyllaYamlEntry>> Entries() {
    if (!is_open_) return absl::ResourceExhaustedError("no memory for a parser of YAML");
    if (!is_loaded_) {
      const char* const problem = parser_.problem != nullptr ? parser_.problem : "is no YAML";
      return ErrorAt(parser_.problem_mark.line, problem);
    }
    std::vector<ScyllaYamlEntry> entries;
    const yaml_node_t* const root = yaml_document_get_root_node(&document_);
    if (root == nullptr) return entries;
    if (root->type != YAML_MAPPING_NODE) {
      return ErrorAt(root->start_mark.line, "the file is not a map of names and values");
    }
    const auto& pairs = root->data.mapping.pairs;
    for (const yaml_node_pair_t* pair = pairs.start; pair < pairs.top; ++pair) {
      const yaml_node_t& key = NodeAt(pair->key);
      const yaml_node_t& value = NodeAt(pair->value);
      if (key.type != YAML_SCALAR_NODE) {
        return ErrorAt(key.start_mark.line, "a name is not a text");
      }
      if (IsNull(value)) continue;
      ScyllaYamlEntry entry{TextOf(key), {}, key.start_mark.line + 1};
      LS_RETURN_IF_ERROR(Append(value, /*depth=*/0, entry.value));
      entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  absl::Status ErrorAt(size_t line, std::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ":", line + 1, ": ", std::string(what)));
  }

  const yaml_node_t& NodeAt(int index) { return *yaml_document_get_node(&document_, index); }

  static std::string TextOf(const yaml_node_t& node) {
    return {reinterpret_cast<const char*>(node.data.scalar.value), node.data.scalar.length};
  }

  static bool IsNull(const yaml_node_t& node) {
    if (node.type != YAML_SCALAR_NODE) return false;
    if (node.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
    const std::string text = TextOf(node);
    return text.empty() || text == "~" || absl::EqualsIgnoreCase(text, "null");
  }

  absl::Status Append(const yaml_node_t& node, int depth, std::string& text) {
    if (depth > kNestingMax) return ErrorAt(node.start_mark.line, "nested too deep");
    if (node.type == YAML_SCALAR_NODE) {
      const std::string scalar = TextOf(node);
      const bool is_quoted = depth > 0 && scalar.find_first_of(",[]{}' ") != std::string::npos;
      absl::StrAppend(&text, is_quoted ? "\"" : "", scalar, is_quoted ? "\"" : "");
      return absl::OkStatus();
    }
    if (node.type == YAML_SEQUENCE_NODE) {
      text += '[';
      const auto& items = node.data.sequence.items;
      for (const yaml_node_item_t* item = items.start; item < items.top; ++item) {
        if (item != items.start) text += ',';
        LS_RETURN_IF_ERROR(Append(NodeAt(*item), depth + 1, text));
      }
      text += ']';
      return absl::OkStatus();
    }
    text += '{';
    const auto& pairs = node.data.mapping.pairs;
    for (const yaml_node_pair_t* pair = pairs.start; pair < pairs.top; ++pair) {
      if (pair != pairs.start) text += ',';
      LS_RETURN_IF_ERROR(Append(NodeAt(pair->key), depth + 1, text));
      text += ':';
      LS_RETURN_IF_ERROR(Append(NodeAt(pair->value), depth + 1, text));
    }
    text += '}';
    return absl::OkStatus();
  }

  const std::string path_;
  yaml_parser_t parser_;
  yaml_document_t document_;
  bool is_open_ = false;
  bool is_loaded_ = false;
};

}  // namespace

absl::StatusOr<std::vector<ScyllaYamlEntry>> ParseScyllaYaml(std::string_view text,
                                                             const std::string& path) {
  return Document(text, path).Entries();
}

absl::StatusOr<std::vector<ScyllaYamlEntry>> ReadScyllaYaml(const std::string& path) {
  LS_ASSIGN_OR_RETURN(const std::string text,
                      ReadRegularFile(path, std::numeric_limits<size_t>::max()));
  return ParseScyllaYaml(text, path);
}

}  // namespace liststore
