#pragma once
#include <memory>

#include "gateway/http/caller.hpp"
#include "gateway/http/connection_quota.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::http {

// Decides whether a permitted request may run at this time: suspension, request rates, and limits
// on concurrent streams, bodies and connections. Called on any io thread.
class Admission {
 public:
  virtual ~Admission() = default;
  // Throws Error(forbidden) if the tenant is suspended and the route is not allowed then, and
  // Error(rate_limited) with retry_after if the tenant exceeds its request rate.
  virtual void admit(const Caller& caller, const Route& route) = 0;
  // Whether an admitted request may continue. False if the tenant was suspended meanwhile, as far
  // as the cache knows.
  virtual bool may_continue(const Caller&, const Route&) const { return true; }
  // Counts a streaming answer, streamed body or WebSocket of the caller until the returned token is
  // destroyed (null: not counted). Throws Error(quota_exceeded) beyond the tenant's limit. Called
  // before the handler runs if it is known by then that the answer will be a stream.
  virtual std::shared_ptr<void> open_stream(const Caller&) { return nullptr; }
  // Likewise counts a request body that is being received; throws Error(rate_limited).
  virtual std::shared_ptr<void> open_body(const Caller&) { return nullptr; }
  // Likewise counts the connection of a request of the caller's tenant; throws Error(rate_limited).
  virtual std::shared_ptr<void> hold_connection(const Caller&, Requester) { return nullptr; }

  // Counts the connection of an authenticated request for as long as the request lives. Throws
  // Error(rate_limited) if its tenant is at its limit; the connection closes after that answer.
  void count_connection(Request& request, Requester requester) {
    request.over_connection_limit = true;
    request.connection_token = hold_connection(request.caller, requester);
    request.over_connection_limit = false;
  }
};

}  // namespace sandgate::http
