#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/events/webhook.hpp"
#include "registry/audit_log.hpp"

namespace sandgate {

// The body of a PUT; without a secret the stored one is kept.
struct WebhookDraft {
  std::string name;
  std::optional<TenantId> tenant;
  std::string url;
  std::optional<Secret> secret;
  std::vector<std::string> types;
};

// The cipher context under which a webhook's secret is sealed.
std::string webhook_vault_context(const std::string& tenant, const std::string& name);

// Webhooks in PostgreSQL, with sealed secrets. Removing one deletes its pending deliveries.
class WebhookStore {
 public:
  static constexpr int64_t kMaxPerTenant = 20;

  WebhookStore(Database& database, const Cipher& cipher) : database_(database), cipher_(cipher) {}

  // Creates or replaces a webhook and enables it. Throws Error(invalid) when a new webhook has no
  // secret, and Error(quota_exceeded) when the owner has kMaxPerTenant already.
  Task<Webhook> put(WebhookDraft draft, Actor actor);
  // Throws Error(not_found).
  Task<void> remove(std::optional<TenantId> tenant, std::string name, Actor actor);

  Task<std::optional<Webhook>> find(std::optional<TenantId> tenant, std::string name);
  // The owner's webhooks in order of name, beginning after `after`.
  Task<std::vector<Webhook>> list(std::optional<TenantId> tenant, std::string after, int64_t limit);

 private:
  Database& database_;
  const Cipher& cipher_;
};

}  // namespace sandgate
