#pragma once
#include "gateway/core/time.hpp"
#include "gateway/http/routes.hpp"
#include "registry/key_store.hpp"

namespace sandgate::api {

// /v1/keys: owners and admins manage their tenant's, operators all. Nobody makes, rotates or
// revokes a key whose role may do more than his own: Error(forbidden).
class KeyHandlers {
 public:
  KeyHandlers(KeyStore& keys, const Clock& clock) : keys_(keys), clock_(clock) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> rotate(http::Request& request);
  Task<http::Response> revoke(http::Request& request);

 private:
  // The key of the address, which the caller sees and may change.
  Task<ApiKey> changeable(const http::Request& request);

  KeyStore& keys_;
  const Clock& clock_;
};

}  // namespace sandgate::api
