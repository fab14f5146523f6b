#pragma once
#include <string>
#include <vector>

#include "gateway/api/page.hpp"
#include "gateway/http/routes.hpp"

// Shared code for resources with names: "/v1/<resources>" lists them by name, and PUT creates or
// replaces "/v1/<resources>/{name}".
namespace sandgate::api {

// Adds routes whose handlers are members of `Handlers`. GET requires the permission `reading`,
// other methods `changing`. PUT and POST have a buffered body of at most `max_body_bytes` (0: the
// default for JSON).
template <class Handlers>
class NamedRoutes {
 public:
  using Handler = Task<http::Response> (Handlers::*)(http::Request&);

  NamedRoutes(http::Routes& routes, Handlers& handlers, http::Permission reading,
              http::Permission changing, size_t max_body_bytes = 0)
      : routes_(routes),
        handlers_(handlers),
        reading_(reading),
        changing_(changing),
        max_body_bytes_(max_body_bytes) {}

  void add(http::Method method, std::string pattern, Handler handler) {
    const bool reads = method == http::Method::get;
    const bool sends = !reads && method != http::Method::delete_;
    routes_.add({.method = method,
                 .pattern = std::move(pattern),
                 .permission = reads ? reading_ : changing_,
                 .body = sends ? http::BodyMode::buffered : http::BodyMode::none,
                 .handler = std::bind_front(handler, &handlers_),
                 .max_body_bytes = max_body_bytes_});
  }

 private:
  http::Routes& routes_;
  Handlers& handlers_;
  http::Permission reading_, changing_;
  size_t max_body_bytes_;
};

// Throws Error(invalid), naming the resource by `whose` ("a budget"), unless the name has 1 to 63
// characters of a-z, 0-9, '-', '_' and '.', and is not "." or "..", since names are part of URLs.
inline void check_name(std::string_view name, const std::string& whose) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
  const bool is_step = name == "." || name == "..";
  if (name.empty() || name.size() > 63 || name.find_first_not_of(kAllowed) != name.npos || is_step)
    throw Error::invalid("", whose + "'s name has 1 to 63 characters of a-z, 0-9, '-', '_', '.'");
}

// The name after which the page starts; empty for the first page.
inline std::string name_after(const PageRequest& page) {
  return page.after.empty() ? std::string() : page.after[0];
}

// Renders a page of rows that are sorted by `name`.
template <class Row, class Render>
Json page_by_name(const PageRequest& page, const std::vector<Row>& rows, Render render) {
  return page_json(page, rows, render, [](const Row& row) { return std::vector{row.name}; });
}

}  // namespace sandgate::api
