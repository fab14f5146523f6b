#pragma once
#include "gateway/http/request.hpp"

namespace sandgate::http {

// Identifies the caller by "Authorization: Bearer …" or "X-API-Key", and the tenant an operator
// acts for by "X-Sandgate-Tenant". Called for every route that is not open.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  // Throws Error(unauthenticated) if the key is missing or not valid.
  virtual Task<Caller> authenticate(const Request& request) = 0;
};

}  // namespace sandgate::http
