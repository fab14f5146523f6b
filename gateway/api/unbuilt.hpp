#pragma once
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// The routes of version 1 that this release does not have. They answer `unsupported`, so that a
// client can tell a missing ability from a wrong address. docs/openapi.yaml marks the same ones
// `x-built: false`. A route leaves this table when its handler arrives.
void add_unbuilt_routes(http::Routes& routes);

}  // namespace sandgate::api
