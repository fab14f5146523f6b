#pragma once
#include "gateway/core/time.hpp"
#include "gateway/http/routes.hpp"
#include "registry/key_store.hpp"

namespace sandgate::api {

// /v1/keys: owners and admins manage their tenant's keys, operators all keys. Creating, rotating or
// revoking a key whose role exceeds the caller's own is Error(forbidden).
class KeyHandlers {
 public:
  KeyHandlers(KeyStore& keys, const Clock& clock) : keys_(keys), clock_(clock) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> rotate(http::Request& request);
  Task<http::Response> revoke(http::Request& request);

 private:
  // Returns the key named by the path. Throws Error(not_found) if the caller may not see it and
  // Error(forbidden) if its role exceeds the caller's.
  Task<ApiKey> changeable(const http::Request& request);

  KeyStore& keys_;
  const Clock& clock_;
};

}  // namespace sandgate::api
