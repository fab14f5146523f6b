#pragma once
#include "billing/invoices/invoices.hpp"
#include "gateway/http/existence_check.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "registry/key_store.hpp"
#include "registry/tenant_store.hpp"

namespace sandgate::api {

// Checks that the sandbox, snapshot, tenant, key or invoice in a path exists. Resources with a
// {name} are not checked, because most are created by a PUT to that name.
class ExistenceCheck : public http::ExistenceCheck {
 public:
  // All must outlive this object.
  struct Stores {
    Lifecycle& lifecycle;
    TenantStore& tenants;
    KeyStore& keys;
    Invoices& invoices;
  };
  explicit ExistenceCheck(Stores stores) : stores_(stores), snapshots_(stores.lifecycle) {}

  Task<void> check(const http::Request& request) override;

 private:
  Task<void> check_tenant(const http::Request& request);
  Task<void> check_key(const http::Request& request);
  Task<void> check_invoice(const http::Request& request);

  Stores stores_;
  Snapshots snapshots_;
};

}  // namespace sandgate::api
