#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/events/webhook.hpp"
#include "registry/audit_log.hpp"

namespace sandgate {

// What a PUT asks for; without a secret the one there is stays.
struct WebhookDraft {
  std::string name;
  std::optional<TenantId> tenant;
  std::string url;
  std::optional<Secret> secret;
  std::vector<std::string> types;
};

// What the vault binds a webhook's secret to.
std::string webhook_vault_context(const std::string& tenant, const std::string& name);

// Webhooks in PostgreSQL, their secrets sealed by the vault. What waits to be sent goes with them.
class WebhookStore {
 public:
  static constexpr int64_t kMostPerTenant = 20;

  WebhookStore(Database& database, const Vault& vault) : database_(database), vault_(vault) {}

  // A disabled one is enabled again. Throws Error(invalid) when a new one has no secret, and
  // Error(quota_exceeded) when the owner has too many.
  Task<Webhook> put(WebhookDraft draft, Actor actor);
  // Throws Error(not_found).
  Task<void> remove(std::optional<TenantId> tenant, std::string name, Actor actor);

  Task<std::optional<Webhook>> find(std::optional<TenantId> tenant, std::string name);
  // The owner's, by name, after `after`.
  Task<std::vector<Webhook>> list(std::optional<TenantId> tenant, std::string after, int64_t limit);

 private:
  Database& database_;
  const Vault& vault_;
};

}  // namespace sandgate
