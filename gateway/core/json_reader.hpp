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
#include "gateway/core/words.hpp"

namespace sandgate {

using Json = nlohmann::json;

// Parses untrusted text. Throws Error(invalid) unless it is valid UTF-8 JSON, nested at most 64
// levels deep, without duplicate members and without NULs.
Json parse_json(std::string_view text);

// Returns the value if it is a whole number in any notation (600, 600.0, 6e2). Empty otherwise, or
// if it exceeds int64_t or, with a fraction or exponent, 2^53.
std::optional<int64_t> whole_number(const Json& value);

// Collects the problems of a document, so that a client learns all of them at once.
class Problems {
 public:
  void add(std::string path, std::string message);
  bool empty() const { return fields_.empty(); }
  const std::vector<FieldProblem>& fields() const { return fields_; }
  // Throws Error(invalid) with all problems, if any; its message is the first problem.
  void throw_if_any() const;

 private:
  std::vector<FieldProblem> fields_;
};

struct TextRule {
  size_t min = 0;
  size_t max = 1024;  // bytes
  bool controls = true;  // whether control characters other than NUL are allowed
};
// The name that people give a thing and read in tables and pages, which it must not disturb.
inline constexpr TextRule kGivenName{.min = 1, .max = 128, .controls = false};

// Reads one JSON object member by member. The readers return empty for an absent or null member.
// For an invalid member they return empty and record a problem with its JSON Pointer. finish()
// records members that were never read.
class ObjectReader {
 public:
  ObjectReader(const Json& value, Problems& problems, std::string path = "");

  bool has(std::string_view name);
  std::optional<std::string> text(std::string_view name, TextRule rule = {});
  // A text that must be one of `allowed`.
  std::optional<std::string> word(std::string_view name,
                                  std::initializer_list<std::string_view> allowed);
  // The value of a text that must be in the table.
  template <class E, size_t N>
  std::optional<E> word(std::string_view name, const Words<E, N>& words) {
    const auto text = one_of(name, words.all());
    return text ? words.find(*text) : std::nullopt;
  }
  std::optional<int64_t> integer(std::string_view name, int64_t min, int64_t max);
  std::optional<bool> boolean(std::string_view name);
  // A multiple of 0.25, returned in thousandths (0.25 is 250) to avoid binary fractions.
  std::optional<int64_t> quarter_steps(std::string_view name, int64_t min_milli, int64_t max_milli);
  std::optional<std::vector<std::string>> texts(std::string_view name, size_t max_items,
                                                TextRule rule = {});
  // Null members count as absent. A name with a NUL is a problem.
  std::optional<std::map<std::string, std::string>> text_map(std::string_view name,
                                                             size_t max_items, TextRule rule = {});
  // Returns a pointer to the member, or null if it is absent or of another type.
  const Json* object(std::string_view name);
  const Json* array(std::string_view name, size_t max_items);
  // Returns the member of any type, or null if it is absent.
  const Json* any(std::string_view name);
  // A reader of a member that object() returned.
  ObjectReader within(std::string_view name, const Json& member) const;

  std::string path_of(std::string_view name) const;
  void problem(std::string_view name, std::string message);
  void item_problem(std::string_view name, size_t index, std::string message);
  void member_problem(std::string_view name, std::string_view member, std::string message);
  void require(std::string_view name);
  void finish();

 private:
  const Json* find(std::string_view name);
  std::optional<std::string> one_of(std::string_view name,
                                    std::span<const std::string_view> allowed);

  const Json& value_;
  Problems& problems_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
};

// Escapes one JSON Pointer token (RFC 6901).
std::string pointer_token(std::string_view name);

}  // namespace sandgate
