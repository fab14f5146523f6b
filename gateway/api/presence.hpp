#pragma once
#include "billing/invoices.hpp"
#include "gateway/http/presence.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "registry/key_store.hpp"
#include "registry/tenant_store.hpp"

namespace sandgate::api {

// The sandboxes, snapshots, tenants, keys and invoices that paths of the v1 API name. What they
// name by a {name} is not looked for: most of it may be made by naming it.
class Presence : public http::Presence {
 public:
  // All outlive it.
  struct Stores {
    Lifecycle& lifecycle;
    TenantStore& tenants;
    KeyStore& keys;
    Invoices& invoices;
  };
  explicit Presence(Stores stores) : stores_(stores), snapshots_(stores.lifecycle) {}

  Task<void> check(const http::Request& request) override;

 private:
  Task<void> check_tenant(const http::Request& request);
  Task<void> check_key(const http::Request& request);
  Task<void> check_invoice(const http::Request& request);

  Stores stores_;
  Snapshots snapshots_;
};

}  // namespace sandgate::api
