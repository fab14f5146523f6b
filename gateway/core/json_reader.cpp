#include "gateway/core/json_reader.hpp"

#include <algorithm>
#include <cmath>

#include "gateway/core/bounded_json.hpp"
#include "gateway/core/utf8.hpp"

namespace sandgate {
namespace {

bool fits(const std::string& text, TextRule rule) {
  if (text.size() < rule.min || text.size() > rule.max) return false;
  return rule.controls ? text.find('\0') == std::string::npos : !has_controls(text);
}

std::string rule_message(TextRule rule) {
  const std::string most = std::to_string(rule.max);
  const std::string size = rule.min == rule.max ? most : std::to_string(rule.min) + " to " + most;
  return "must have " + size + " bytes and no " + (rule.controls ? "NUL" : "control characters");
}

}  // namespace

Json parse_json(std::string_view text) { return parse_bounded_json(text, SIZE_MAX); }

std::string pointer_token(std::string_view name) {
  std::string token;
  for (char c : name) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else
      token.push_back(c);
  }
  return token;
}

std::optional<int64_t> whole_number(const Json& value) {
  constexpr double kExact = int64_t{1} << 53;  // a double represents each smaller integer
  if (value.is_number_float()) {
    const double number = value.get<double>();
    const bool whole = std::trunc(number) == number && std::abs(number) <= kExact;
    return whole ? std::optional(static_cast<int64_t>(number)) : std::nullopt;
  }
  const bool too_large =
      value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (!value.is_number_integer() || too_large) return std::nullopt;
  return value.get<int64_t>();
}

void Problems::add(std::string path, std::string message) {
  fields_.push_back({std::move(path), std::move(message)});
}

void Problems::throw_if_any() const {
  if (fields_.empty()) return;
  Error error = Error::invalid(fields_.front().path, fields_.front().message);
  error.fields = fields_;
  throw error;
}

ObjectReader::ObjectReader(const Json& value, Problems& problems, std::string path)
    : value_(value), problems_(problems), path_(std::move(path)) {
  if (!value_.is_object()) problems_.add(path_, "must be an object");
}

const Json* ObjectReader::find(std::string_view name) {
  known_.emplace(name);
  if (!value_.is_object()) return nullptr;
  const auto found = value_.find(name);
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

bool ObjectReader::has(std::string_view name) { return find(name) != nullptr; }
const Json* ObjectReader::any(std::string_view name) { return find(name); }

std::optional<std::string> ObjectReader::text(std::string_view name, TextRule rule) {
  const Json* member = find(name);
  if (!member) return std::nullopt;
  if (!member->is_string()) return problem(name, "must be a string"), std::nullopt;
  const auto& value = member->get_ref<const std::string&>();
  if (!fits(value, rule)) return problem(name, rule_message(rule)), std::nullopt;
  return value;
}

std::optional<std::string> ObjectReader::word(std::string_view name,
                                              std::initializer_list<std::string_view> allowed) {
  return one_of(name, std::span(allowed.begin(), allowed.size()));
}

std::optional<std::string> ObjectReader::one_of(std::string_view name,
                                                std::span<const std::string_view> allowed) {
  const auto value = text(name);
  if (!value || std::find(allowed.begin(), allowed.end(), *value) != allowed.end()) return value;
  std::string list;
  for (const auto& option : allowed) list.append(list.empty() ? "" : ", ").append(option);
  problem(name, "must be one of: " + list);
  return std::nullopt;
}

std::optional<int64_t> ObjectReader::integer(std::string_view name, int64_t min, int64_t max) {
  const Json* member = find(name);
  if (!member) return std::nullopt;
  const std::string range =
      "must be an integer from " + std::to_string(min) + " to " + std::to_string(max);
  const auto value = whole_number(*member);
  if (!value || *value < min || *value > max) return problem(name, range), std::nullopt;
  return value;
}

std::optional<bool> ObjectReader::boolean(std::string_view name) {
  const Json* member = find(name);
  if (!member) return std::nullopt;
  if (!member->is_boolean()) return problem(name, "must be true or false"), std::nullopt;
  return member->get<bool>();
}

std::optional<int64_t> ObjectReader::quarter_steps(std::string_view name, int64_t min_milli,
                                                   int64_t max_milli) {
  const Json* member = find(name);
  if (!member) return std::nullopt;
  if (!member->is_number()) return problem(name, "must be a number"), std::nullopt;
  // Quarters are exact in binary, so this floating-point comparison is exact.
  const double quarters = member->get<double>() * 4;
  if (!(std::abs(quarters) < 1e9) || quarters != std::floor(quarters))
    return problem(name, "must be a multiple of 0.25"), std::nullopt;
  const int64_t milli = static_cast<int64_t>(quarters) * 250;
  if (milli < min_milli || milli > max_milli) return problem(name, "is out of range"), std::nullopt;
  return milli;
}

std::optional<std::vector<std::string>> ObjectReader::texts(std::string_view name, size_t max_items,
                                                            TextRule rule) {
  const Json* member = array(name, max_items);
  if (!member) return std::nullopt;
  std::vector<std::string> values;
  for (size_t i = 0; i < member->size(); ++i) {
    const Json& item = (*member)[i];
    const std::string path = path_of(name) + "/" + std::to_string(i);
    if (!item.is_string())
      problems_.add(path, "must be a string");
    else if (!fits(item.get_ref<const std::string&>(), rule))
      problems_.add(path, rule_message(rule));
    else
      values.push_back(item.get<std::string>());
  }
  return values;
}

std::optional<std::map<std::string, std::string>> ObjectReader::text_map(std::string_view name,
                                                                         size_t max_items,
                                                                         TextRule rule) {
  const Json* member = object(name);
  if (!member) return std::nullopt;
  if (member->size() > max_items)
    return problem(name, "must have at most " + std::to_string(max_items) + " members"),
           std::nullopt;
  std::map<std::string, std::string> values;
  for (const auto& [key, item] : member->items()) {
    const std::string path = path_of(name) + "/" + pointer_token(key);
    if (key.find('\0') != std::string::npos)
      problems_.add(path, "its name must have no NUL");
    else if (item.is_null())
      continue;
    else if (!item.is_string())
      problems_.add(path, "must be a string");
    else if (!fits(item.get_ref<const std::string&>(), rule))
      problems_.add(path, rule_message(rule));
    else
      values.emplace(key, item.get<std::string>());
  }
  return values;
}

const Json* ObjectReader::object(std::string_view name) {
  const Json* member = find(name);
  if (member && !member->is_object()) return problem(name, "must be an object"), nullptr;
  return member;
}

const Json* ObjectReader::array(std::string_view name, size_t max_items) {
  const Json* member = find(name);
  if (!member) return nullptr;
  if (!member->is_array()) return problem(name, "must be an array"), nullptr;
  if (member->size() > max_items)
    return problem(name, "must have at most " + std::to_string(max_items) + " items"), nullptr;
  return member;
}

ObjectReader ObjectReader::within(std::string_view name, const Json& member) const {
  return ObjectReader(member, problems_, path_of(name));
}

std::string ObjectReader::path_of(std::string_view name) const {
  return path_ + "/" + pointer_token(name);
}

void ObjectReader::problem(std::string_view name, std::string message) {
  problems_.add(path_of(name), std::move(message));
}

void ObjectReader::item_problem(std::string_view name, size_t index, std::string message) {
  problems_.add(path_of(name) + "/" + std::to_string(index), std::move(message));
}

void ObjectReader::member_problem(std::string_view name, std::string_view member,
                                  std::string message) {
  problems_.add(path_of(name) + "/" + pointer_token(member), std::move(message));
}

void ObjectReader::require(std::string_view name) {
  if (!find(name)) problem(name, "is required");
}

void ObjectReader::finish() {
  if (!value_.is_object()) return;
  for (const auto& [key, unused] : value_.items())
    if (!known_.contains(key)) problem(key, "is not a known field");
}

}  // namespace sandgate
