#pragma once
#include "gateway/sandboxes/creating/create_order.hpp"
#include "gateway/sandboxes/pausing.hpp"

namespace sandgate {

// Creates that share one sandbox: with a profile of scope `shared`, all of a tenant's; with
// `agent`, those of the same metadata.agent. Only equal requests share, so that every caller gets
// exactly what it asked for.
class Scopes {
 public:
  explicit Scopes(Lifecycle& lifecycle) : lifecycle_(lifecycle), pausing_(lifecycle) {}

  struct Joined {
    SandboxRecord sandbox;
    bool made = false;  // by this call
  };
  // Returns the sandbox of the order's scope, after creating or resuming it where needed; an order
  // without scope gets its own. Throws as Lifecycle::create() and Pausing::resume(), and
  // unavailable when the scope's sandbox is on another gateway's machine: it could not be used
  // here.
  Task<Joined> create(CreateOrder order);

 private:
  Task<std::optional<SandboxRecord>> join(TenantId tenant, std::string key);

  Lifecycle& lifecycle_;
  Pausing pausing_;
};

// Hash that identifies the order's scope; empty for scope `session` and for restores.
// Throws Error(invalid) when metadata.agent is missing.
std::string scope_key_of(const CreateOrder& order);

// In the intention's transaction: throws Error(conflict) when the scope already has a sandbox.
void claim_scope(pqxx::work& tx, const TenantId& tenant, const std::string& key);

}  // namespace sandgate
