#pragma once
#include "gateway/compat/e2b/access_token.hpp"
#include "gateway/http/authenticator.hpp"
#include "gateway/sandboxes/sandbox_cache.hpp"
#include "registry/tenant_directory.hpp"

namespace sandgate::compat::e2b {

// Authenticates data-plane requests by a sandbox's access token; those about contexts of the code
// interpreter, with which clients do not send it, also by its traffic token. The caller may use
// that sandbox and nothing else of its tenant.
class SandboxAuthenticator final : public http::Authenticator {
 public:
  SandboxAuthenticator(SandboxCache& sandboxes, TenantDirectory& tenants,
                       const AccessTokens& tokens, std::string domain)
      : sandboxes_(sandboxes), tenants_(tenants), tokens_(tokens), domain_(std::move(domain)) {}

  // Throws Error(unauthenticated) unless the token is that of the addressed sandbox, and
  // wrong_state() if the sandbox has ended, except for the removal of a watcher, which outlives it.
  Task<http::Caller> authenticate(const http::Request& request) override;

 private:
  bool is_opened(const http::Request& request, const SandboxId& sandbox) const;

  SandboxCache& sandboxes_;
  TenantDirectory& tenants_;
  const AccessTokens& tokens_;
  const std::string domain_;
};

}  // namespace sandgate::compat::e2b
