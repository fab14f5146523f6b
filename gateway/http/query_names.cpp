#include "gateway/http/query_names.hpp"

#include <algorithm>

#include "gateway/core/json_reader.hpp"

namespace sandgate::http {
namespace {

bool takes(const std::vector<std::string>& names, std::string_view asked) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name.ends_with('.') ? asked.starts_with(name) : asked == name;
  });
}

std::string offer_of(const std::vector<std::string>& names) {
  if (names.empty()) return "this request takes no parameters";
  std::string all;
  for (const std::string& name : names)
    all += (all.empty() ? "" : ", ") + name + (name.ends_with('.') ? "<name>" : "");
  return "this request takes " + all;
}

}  // namespace

void QueryNames::set(const Route& route, std::vector<std::string> names) {
  names_[&route] = std::move(names);
}

void QueryNames::check(const Route& route, const Query& query) const {
  if (query.items().empty()) return;
  const auto found = names_.find(&route);
  if (found == names_.end()) return;
  Problems problems;
  for (const auto& [name, value] : query.items())
    if (!takes(found->second, name))
      problems.add("/" + pointer_token(name), "is not a parameter: " + offer_of(found->second));
  problems.throw_if_any();
}

}  // namespace sandgate::http
