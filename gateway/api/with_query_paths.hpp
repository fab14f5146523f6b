#pragma once
#include "gateway/http/response.hpp"

namespace sandgate::api {

// Awaits the answer of a route that takes query parameters instead of a body. Problems that a
// backend finds in members ("/cwd") are renamed to parameters ("?cwd").
Task<http::Response> with_query_paths(Task<http::Response> answer);

}  // namespace sandgate::api
