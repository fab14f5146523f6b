#pragma once
#include "gateway/http/request.hpp"

namespace sandgate::http {

// Checks that the resource a path names by {id} exists.
class ExistenceCheck {
 public:
  virtual ~ExistenceCheck() = default;
  // Throws Error(not_found), worded as by the route, if the caller has no resource with that id.
  // Called for invalid requests, after authentication and admission.
  virtual Task<void> check(const Request& request) = 0;
};

}  // namespace sandgate::http
