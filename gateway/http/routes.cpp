#include "gateway/http/routes.hpp"

#include <algorithm>

#include "gateway/core/percent.hpp"

namespace sandgate::http {
namespace {

// "/v1/a" becomes {"v1", "a"}, "/" no segments; "/v1/" ends in an empty segment.
std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) return segments;
  for (;;) {
    const size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}
bool is_rest(std::string_view segment) {
  return is_parameter(segment) && segment.ends_with("...}");
}
std::string_view name_of(std::string_view segment) {
  return segment.substr(1, segment.size() - (is_rest(segment) ? 5 : 2));
}

}  // namespace

struct Routes::Search {
  Method method;
  std::string_view path;
  std::vector<std::string_view> segments;
  const Route* found = nullptr;
  std::vector<Method> allowed;
};

size_t Routes::child_for(size_t node, std::string_view segment) {
  const size_t next = nodes_.size();
  size_t* slot = nullptr;
  if (is_rest(segment))
    slot = &nodes_[node].rest;
  else if (is_parameter(segment))
    slot = &nodes_[node].parameter;
  else
    slot = &nodes_[node].literals[std::string(segment)];
  if (*slot != 0) return *slot;
  *slot = next;
  nodes_.emplace_back();
  return next;
}

void Routes::add(Route route) {
  const auto segments = segments_of(route.pattern);
  size_t node = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (is_rest(segments[i]) && i + 1 != segments.size())
      throw Error(ErrorCode::internal, "route " + route.pattern + ": {...} must come last");
    node = child_for(node, segments[i]);
  }
  if (!route.pattern.starts_with('/') || !route.handler ||
      !nodes_[node].routes.emplace(route.method, routes_.size()).second)
    throw Error(ErrorCode::internal, "route " + route.pattern + " is malformed or already there");
  routes_.push_back(std::move(route));
}

void Routes::arrive(const Node& node, Search& search) const {
  auto found = node.routes.find(search.method);
  if (found == node.routes.end() && search.method == Method::head)
    found = node.routes.find(Method::get);
  if (found != node.routes.end()) {
    search.found = &routes_[found->second];
    return;
  }
  const auto allow = [&](Method method) {
    auto& allowed = search.allowed;
    if (std::find(allowed.begin(), allowed.end(), method) == allowed.end())
      allowed.push_back(method);
  };
  for (const auto& [method, index] : node.routes) {
    allow(method);
    if (method == Method::get) allow(Method::head);
  }
}

void Routes::walk(size_t at, size_t depth, Search& search) const {
  const Node& node = nodes_[at];
  if (depth == search.segments.size()) return arrive(node, search);
  const std::string_view segment = search.segments[depth];
  if (!node.literals.empty()) {
    const bool escaped = segment.find('%') != std::string_view::npos;
    const auto decoded = escaped ? percent_decode(segment) : std::nullopt;
    const auto literal = node.literals.find(decoded ? std::string_view(*decoded) : segment);
    if (literal != node.literals.end()) walk(literal->second, depth + 1, search);
  }
  if (!search.found && node.parameter != 0 && !segment.empty())
    walk(node.parameter, depth + 1, search);
  if (!search.found && node.rest != 0) arrive(nodes_[node.rest], search);
}

void Routes::fill_params(Search& search, Match& match) const {
  const auto pattern = segments_of(search.found->pattern);
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (!is_parameter(pattern[i])) continue;
    std::string_view raw = search.segments[i];
    if (is_rest(pattern[i]))
      raw = search.path.substr(static_cast<size_t>(raw.data() - search.path.data()));
    auto value = percent_decode(raw);
    if (!value) {
      match.route = nullptr;
      return;
    }
    match.params.emplace(name_of(pattern[i]), std::move(*value));
  }
}

Routes::Match Routes::match(Method method, std::string_view path) const {
  Match match;
  Search search{method, path, segments_of(path), nullptr, {}};
  walk(0, 0, search);
  match.route = search.found;
  if (search.found)
    fill_params(search, match);
  else
    match.allowed = std::move(search.allowed);
  return match;
}

}  // namespace sandgate::http
