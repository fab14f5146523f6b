#include "gateway/api/unbuilt.hpp"

namespace sandgate::api {
namespace {

using http::Method;
using http::Permission;

struct Unbuilt {
  Method method;
  const char* pattern;
  Permission permission;
};

constexpr Unbuilt kUnbuilt[] = {
    {Method::post, "/v1/routing/simulate", Permission::read_sandboxes},
};

Task<http::Response> refuse(http::Request& request) {
  throw Error(ErrorCode::unsupported, "this release does not offer " + request.path);
  co_return http::Response::empty(422);
}

}  // namespace

void add_unbuilt_routes(http::Routes& routes) {
  for (const Unbuilt& route : kUnbuilt) {
    const bool sends = route.method == Method::post || route.method == Method::put;
    routes.add({.method = route.method,
                .pattern = route.pattern,
                .permission = route.permission,
                .body = sends ? http::BodyMode::buffered : http::BodyMode::none,
                .handler = refuse});
  }
}

}  // namespace sandgate::api
