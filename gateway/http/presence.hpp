#pragma once
#include "gateway/http/request.hpp"

namespace sandgate::http {

// What the paths of routes name by {id}.
class Presence {
 public:
  virtual ~Presence() = default;
  // Throws Error(not_found), in its route's words, where the request's caller has nothing of that
  // id. Asked of requests that are wrong in themselves, after authentication and admission.
  virtual Task<void> check(const Request& request) = 0;
};

}  // namespace sandgate::http
