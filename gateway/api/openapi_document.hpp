#pragma once
#include <string>
#include <string_view>

#include "gateway/http/query_names.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// docs/openapi.yaml as it was at build time.
std::string_view embedded_openapi();

// Converts that document to JSON text, with its members in order. Plain scalars become numbers,
// booleans or null by YAML's core schema; quoted scalars stay text. Throws Error(internal) for
// invalid YAML. For YAML of users see registry/yaml.hpp.
std::string openapi_json(const std::string& yaml);

// The query parameters that the document gives each route below /v1; none if it does not describe
// the route. `x-query-prefixes` of an operation are the beginnings of more names. `json` is a
// document as openapi_json() returns it; `routes` must be complete.
http::QueryNames query_names_of(const std::string& json, const http::Routes& routes);

}  // namespace sandgate::api
