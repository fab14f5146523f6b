#include "gateway/api/secrets.hpp"

#include <algorithm>

#include "gateway/api/audit.hpp"
#include "gateway/api/named_resource.hpp"
#include "gateway/core/document_reader.hpp"
#include "registry/document_fields.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxValueBytes = 16 * 1024;

Json secret_json(const SecretRow& row) {
  return {{"name", row.name},
          {"created_at", to_rfc3339(row.created_at)},
          {"updated_at", to_rfc3339(row.updated_at)}};
}

// A secret's value is sent in a header.
bool fits_a_header(const std::string& value) {
  return value.front() != ' ' && value.back() != ' ' &&
         std::none_of(value.begin(), value.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string name_in_path(const http::Request& request) {
  const std::string name = request.param("name");
  if (!is_env_name(name))
    throw Error::invalid("", "the name must match [A-Za-z_][A-Za-z0-9_]{0,127}");
  return name;
}

}  // namespace

void SecretHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  NamedRoutes named(routes, *this, http::Permission::read_sandboxes,
                    http::Permission::write_secrets);
  named.add(Method::get, "/v1/secrets", &SecretHandlers::list);
  named.add(Method::put, "/v1/secrets/{name}", &SecretHandlers::put);
  named.add(Method::delete_, "/v1/secrets/{name}", &SecretHandlers::remove);
}

Task<http::Response> SecretHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 1);
  auto reading = secrets_.list(request.tenant(), name_after(page), page.rows_to_fetch());
  const auto rows = co_await std::move(reading);
  co_return http::Response::json(200, page_by_name(page, rows, secret_json));
}

Task<http::Response> SecretHandlers::put(http::Request& request) {
  const std::string name = name_in_path(request);
  const Json body = request.json();
  DocumentReader reader(body);
  reader.require("value");
  const auto value = reader.text("value", {.min = 1, .max = kMaxValueBytes});
  if (value && !fits_a_header(*value))
    reader.problem("value", "must fit into a header: no line breaks, no control characters");
  reader.finish_or_throw();
  auto writing = secrets_.put(request.tenant(), name, Secret(*value), actor_of(request));
  co_await std::move(writing);
  co_return http::Response::empty(204);
}

Task<http::Response> SecretHandlers::remove(http::Request& request) {
  auto removing = secrets_.remove(request.tenant(), name_in_path(request), actor_of(request));
  co_await std::move(removing);
  co_return http::Response::empty(204);
}

}  // namespace sandgate::api
