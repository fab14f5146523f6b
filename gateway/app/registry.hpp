#pragma once
#include "gateway/app/foundation.hpp"
#include "registry/key_store.hpp"
#include "registry/profile_resolver.hpp"
#include "registry/profile_store.hpp"
#include "registry/secret_store.hpp"
#include "registry/tenant_directory.hpp"
#include "registry/tenant_store.hpp"

namespace sandgate {

// The registry part of the gateway: tenants, their keys, profiles and secrets.
struct Registry {
  explicit Registry(Foundation& foundation)
      : tenants(foundation.database),
        tenant_directory(tenants, foundation.notifications),
        keys(foundation.database),
        profiles(foundation.database),
        profile_resolver(profiles, foundation.notifications),
        secrets(foundation.database, foundation.cipher) {}

  TenantStore tenants;
  TenantDirectory tenant_directory;
  KeyStore keys;
  ProfileStore profiles;
  ProfileResolver profile_resolver;
  SecretStore secrets;
};

}  // namespace sandgate
