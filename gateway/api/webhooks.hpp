#pragma once
#include "gateway/events/webhook_store.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/webhooks: a tenant's own, managed by its owners and admins, and the operator's. Secrets are
// write-only.
class WebhookHandlers {
 public:
  WebhookHandlers(WebhookStore& webhooks, bool allow_private)
      : webhooks_(webhooks), allow_private_(allow_private) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> put(http::Request& request);
  Task<http::Response> get(http::Request& request);
  Task<http::Response> remove(http::Request& request);

 private:
  WebhookDraft draft_from(const http::Request& request) const;

  WebhookStore& webhooks_;
  bool allow_private_;
};

}  // namespace sandgate::api
