#pragma once
#include <string>
#include <vector>

#include "gateway/api/page.hpp"
#include "gateway/http/routes.hpp"

// What resources with names have in common: "/v1/<resources>" lists them by name, and
// "/v1/<resources>/{name}" is one of them, put under that name.
namespace sandgate::api {

// Adds routes whose handlers are members of `Handlers`. Reading takes one permission, changing
// another; PUT and POST carry a buffered body.
template <class Handlers>
class NamedRoutes {
 public:
  using Handler = Task<http::Response> (Handlers::*)(http::Request&);

  NamedRoutes(http::Routes& routes, Handlers& handlers, http::Permission reading,
              http::Permission changing)
      : routes_(routes), handlers_(handlers), reading_(reading), changing_(changing) {}

  void add(http::Method method, std::string pattern, Handler handler) {
    const bool reads = method == http::Method::get;
    const bool sends = !reads && method != http::Method::delete_;
    auto call = [&handlers = handlers_, handler](http::Request& request) {
      return (handlers.*handler)(request);
    };
    routes_.add({.method = method,
                 .pattern = std::move(pattern),
                 .permission = reads ? reading_ : changing_,
                 .body = sends ? http::BodyMode::buffered : http::BodyMode::none,
                 .handler = std::move(call)});
  }

 private:
  http::Routes& routes_;
  Handlers& handlers_;
  http::Permission reading_, changing_;
};

// The name that a page begins after; empty for the first one.
inline std::string name_after(const PageRequest& page) {
  return page.after.empty() ? std::string() : page.after[0];
}

// The page of rows that are sorted by their `name`.
template <class Row, class Render>
Json page_by_name(const PageRequest& page, const std::vector<Row>& rows, Render render) {
  return page_json(page, rows, render, [](const Row& row) { return std::vector{row.name}; });
}

}  // namespace sandgate::api
