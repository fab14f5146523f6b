#pragma once
#include "gateway/sandboxes/create_order.hpp"
#include "gateway/sandboxes/pausing.hpp"

namespace sandgate {

// Creates that meet in one sandbox: with a profile of scope `shared` all of a tenant's, with
// `agent` those of the same metadata.agent. Only equal requests meet, so that nobody gets less
// or more than asked for.
class Scopes {
 public:
  explicit Scopes(Lifecycle& lifecycle) : lifecycle_(lifecycle), pausing_(lifecycle) {}

  struct Met {
    SandboxRecord sandbox;
    bool made = false;  // by this call
  };
  // The sandbox of the order's scope, made or resumed when need be; an order without scope makes
  // its own. Throws what create and resume throw.
  Task<Met> create(CreateOrder order);

 private:
  Task<std::optional<SandboxRecord>> join(TenantId tenant, std::string key);

  Lifecycle& lifecycle_;
  Pausing pausing_;
};

// What the creates of one scope have in common; empty for scope `session` and for restores.
// Throws Error(invalid) when metadata.agent is missing.
std::string scope_key_of(const CreateOrder& order);

// In the transaction of the intention: throws Error(conflict) when the scope has a sandbox already.
void claim_scope(pqxx::work& tx, const TenantId& tenant, const std::string& key);

}  // namespace sandgate
