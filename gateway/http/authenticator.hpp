#pragma once
#include "gateway/http/request.hpp"

namespace sandgate::http {

// Who calls: from "Authorization: Bearer …" or "X-API-Key", and for operators the tenant they act
// for from "X-Sandgate-Tenant". Asked for every route that is not open.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  // Throws Error(unauthenticated) for a missing or unknown key.
  virtual Task<Caller> authenticate(const Request& request) = 0;
};

}  // namespace sandgate::http
