#pragma once
#include <memory>

#include "gateway/http/caller.hpp"
#include "gateway/http/places.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::http {

// Whether a caller who may do something may do it now: suspension, request rates, streams and
// connections at once.
// Called on any io thread.
class Admission {
 public:
  virtual ~Admission() = default;
  // Throws Error(forbidden) for what a suspended tenant may not do, Error(rate_limited) with
  // retry_after for too many requests.
  virtual void admit(const Caller& caller, const Route& route) = 0;
  // Whether what was admitted may go on: the tenant may have been suspended meanwhile, as far as
  // is known without waiting.
  virtual bool may_go_on(const Caller&, const Route&) const { return true; }
  // Counts one streaming answer, streamed body or WebSocket of the caller for as long as what it
  // returns lives (null counts nothing). Throws Error(quota_exceeded) when there are too many.
  virtual std::shared_ptr<void> open_stream(const Caller&) { return nullptr; }
  // The same for a body that is on its way and holds its connection: Error(rate_limited).
  virtual std::shared_ptr<void> open_body(const Caller&) { return nullptr; }
  // The same for the connection that a request of the caller's tenant holds: Error(rate_limited).
  virtual std::shared_ptr<void> hold_connection(const Caller&, Comer) { return nullptr; }

  // Counts the connection of a request whose caller is known, for as long as the request lives.
  // Throws Error(rate_limited) where its tenant holds all it may: the answer is the last one then.
  void give_place(Request& request, Comer comer) {
    request.turned_away = true;
    request.place = hold_connection(request.caller, comer);
    request.turned_away = false;
  }
};

// Error(invalid) when an operator names no tenant to act for.
inline void require_tenant(const Caller& caller) {
  if (caller.tenant) return;
  throw Error::invalid("X-Sandgate-Tenant",
                       "must name the tenant that an operator acts for "
                       "(--tenant of the command line)");
}

// What a suspended tenant is told.
inline Error tenant_is_suspended() {
  return Error(ErrorCode::forbidden, "this tenant is suspended: it may only look and delete");
}

}  // namespace sandgate::http
