#pragma once
#include "gateway/http/routes.hpp"
#include "registry/secret_store.hpp"

namespace sandgate::api {

// /v1/secrets. Values are write-only.
class SecretHandlers {
 public:
  explicit SecretHandlers(SecretStore& secrets) : secrets_(secrets) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> put(http::Request& request);
  Task<http::Response> remove(http::Request& request);

 private:
  SecretStore& secrets_;
};

}  // namespace sandgate::api
