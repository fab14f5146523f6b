#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "gateway/core/error.hpp"

namespace sandgate {

using Json = nlohmann::json;

// Parses untrusted text: valid UTF-8, nesting at most 64, no duplicate member. Throws
// Error(invalid) otherwise.
Json parse_json(std::string_view text);

// The value when it is a whole number, however it is written (600, 600.0, 6e2); empty when it is
// none or too large.
std::optional<int64_t> whole_number(const Json& value);

// What is wrong with a document, gathered so that a caller learns of everything at once.
class Problems {
 public:
  void add(std::string path, std::string message);
  bool empty() const { return fields_.empty(); }
  const std::vector<FieldProblem>& fields() const { return fields_; }
  // Throws Error(invalid) that carries every problem; the message names the first.
  void throw_if_any() const;

 private:
  std::vector<FieldProblem> fields_;
};

struct TextRule {
  size_t min = 0;
  size_t max = 1024;  // bytes
};

// Reads one JSON object member by member. An absent or null member is empty; a wrong one is
// empty and a problem with its JSON Pointer. finish() reports members nobody asked for.
class ObjectReader {
 public:
  ObjectReader(const Json& value, Problems& problems, std::string path = "");

  bool has(std::string_view name);
  std::optional<std::string> text(std::string_view name, TextRule rule = {});
  // One of the given words.
  std::optional<std::string> word(std::string_view name,
                                  std::initializer_list<std::string_view> allowed);
  std::optional<int64_t> integer(std::string_view name, int64_t min, int64_t max);
  std::optional<bool> boolean(std::string_view name);
  // A number in steps of a quarter, as thousandths (0.25 is 250): no binary fraction leaves here.
  std::optional<int64_t> quarter_steps(std::string_view name, int64_t min_milli, int64_t max_milli);
  std::optional<std::vector<std::string>> texts(std::string_view name, size_t max_items,
                                                TextRule rule = {});
  // Members that are null are absent; a name with a NUL is a problem.
  std::optional<std::map<std::string, std::string>> text_map(std::string_view name,
                                                             size_t max_items, TextRule rule = {});
  // The member itself when it is an object or array; null when absent or wrong.
  const Json* object(std::string_view name);
  const Json* array(std::string_view name, size_t max_items);
  // The member whatever it is; null when absent.
  const Json* any(std::string_view name);

  std::string path_of(std::string_view name) const;
  void problem(std::string_view name, std::string message);
  void item_problem(std::string_view name, size_t index, std::string message);
  void require(std::string_view name);
  void finish();

 private:
  const Json* find(std::string_view name);

  const Json& value_;
  Problems& problems_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
};

// Escapes one JSON Pointer token (RFC 6901).
std::string pointer_token(std::string_view name);

}  // namespace sandgate
