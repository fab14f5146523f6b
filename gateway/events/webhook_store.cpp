#include "gateway/events/webhook_store.hpp"

#include "registry/quota.hpp"
#include "registry/redact_url.hpp"
#include "registry/sql.hpp"

namespace sandgate {
namespace {

constexpr Quota kWebhooks{"webhooks", "SELECT count(*) FROM webhook WHERE tenant = $1",
                          WebhookStore::kMaxPerTenant};

constexpr char kWebhookColumns[] =
    "tenant, name, url, to_json(types) AS types, created_at, updated_at, last_success_at,"
    " last_failure_at, last_failure, last_failure_event, failing_since, disabled_at,"
    " (SELECT count(*) FROM webhook_delivery d WHERE d.webhook = webhook.id) AS pending";

std::string owner_text(const std::optional<TenantId>& tenant) {
  return tenant ? tenant->value : "";
}

Webhook webhook_from(const pqxx::row& row) {
  Webhook webhook{.name = row["name"].as<std::string>(),
                  .url = row["url"].as<std::string>(),
                  .types = json_of(row["types"]).get<std::vector<std::string>>(),
                  .created_at = time_of(row["created_at"]),
                  .updated_at = time_of(row["updated_at"]),
                  .last_success_at = optional_time_of(row["last_success_at"]),
                  .failing_since = optional_time_of(row["failing_since"]),
                  .disabled_at = optional_time_of(row["disabled_at"]),
                  .pending = row["pending"].as<int64_t>()};
  if (auto tenant = row["tenant"].as<std::string>(); !tenant.empty())
    webhook.tenant = TenantId{std::move(tenant)};
  if (const auto at = optional_time_of(row["last_failure_at"]))
    webhook.last_failure = Webhook::Failure{*at, row["last_failure"].as<std::string>(),
                                            row["last_failure_event"].as<std::string>()};
  return webhook;
}

std::optional<Webhook> find_webhook(pqxx::work& tx, const std::string& owner,
                                    const std::string& name) {
  const auto rows = tx.exec_params(
      std::string("SELECT ") + kWebhookColumns + " FROM webhook WHERE tenant = $1 AND name = $2",
      owner, name);
  if (rows.empty()) return std::nullopt;
  return webhook_from(rows[0]);
}

void write_webhook(pqxx::work& tx, const std::string& owner, const WebhookDraft& draft,
                   const std::optional<std::string>& sealed) {
  std::optional<pqxx::binarystring> secret;
  if (sealed) secret.emplace(*sealed);
  const std::string types = Json(draft.types).dump();
  if (secret)
    tx.exec_params(
        "INSERT INTO webhook (tenant, name, url, secret, types) VALUES ($1, $2, $3, $4,"
        " ARRAY(SELECT jsonb_array_elements_text($5::jsonb))) ON CONFLICT (tenant, name)"
        " DO UPDATE SET url = excluded.url, secret = excluded.secret, types = excluded.types,"
        " updated_at = now(), rest_until = now(), failing_since = NULL, disabled_at = NULL",
        owner, draft.name, draft.url, *secret, types);
  else
    tx.exec_params(
        "UPDATE webhook SET url = $3, types = ARRAY(SELECT jsonb_array_elements_text($4::jsonb)),"
        " updated_at = now(), rest_until = now(), failing_since = NULL, disabled_at = NULL"
        " WHERE tenant = $1 AND name = $2",
        owner, draft.name, draft.url, types);
}

// The audit trail records configuration, not the state of deliveries.
Json configured(const std::optional<Webhook>& webhook) {
  if (!webhook) return nullptr;
  return {{"name", webhook->name}, {"url", redact_url(webhook->url)}, {"types", webhook->types}};
}

}  // namespace

std::string webhook_vault_context(const std::string& tenant, const std::string& name) {
  return "webhook/" + (tenant.empty() ? "operator" : tenant) + "/" + name;
}

Task<Webhook> WebhookStore::put(WebhookDraft draft, Actor actor) {
  return database_.run([this, draft = std::move(draft), actor = std::move(actor)](pqxx::work& tx) {
    const std::string owner = owner_text(draft.tenant);
    const auto before = find_webhook(tx, owner, draft.name);
    if (!before) check_quota(tx, kWebhooks, owner);
    if (!before && !draft.secret) throw Error::invalid("/secret", "is required for a new webhook");
    std::optional<std::string> sealed;
    if (draft.secret)
      sealed = cipher_.seal(*draft.secret, webhook_vault_context(owner, draft.name));
    write_webhook(tx, owner, draft, sealed);
    const auto after = find_webhook(tx, owner, draft.name);
    if (!after) throw Error(ErrorCode::conflict, "the webhook was removed at the same time");
    audit(tx, {.actor = actor,
               .tenant = draft.tenant,
               .action = "webhook.put",
               .object = draft.name,
               .before = configured(before),
               .after = configured(after)});
    return *after;
  });
}

Task<void> WebhookStore::remove(std::optional<TenantId> tenant, std::string name, Actor actor) {
  return database_.run([tenant, name, actor](pqxx::work& tx) {
    const std::string owner = owner_text(tenant);
    const auto before = find_webhook(tx, owner, name);
    if (!before) throw Error::not_found("webhook", name);
    tx.exec_params("DELETE FROM webhook WHERE tenant = $1 AND name = $2", owner, name);
    audit(tx, {.actor = actor,
               .tenant = tenant,
               .action = "webhook.remove",
               .object = name,
               .before = configured(before)});
  });
}

Task<std::optional<Webhook>> WebhookStore::find(std::optional<TenantId> tenant, std::string name) {
  return database_.run(
      [tenant, name](pqxx::work& tx) { return find_webhook(tx, owner_text(tenant), name); });
}

Task<std::vector<Webhook>> WebhookStore::list(std::optional<TenantId> tenant, std::string after,
                                              int64_t limit) {
  return database_.run([tenant, after, limit](pqxx::work& tx) {
    std::vector<Webhook> found;
    for (const auto& row :
         tx.exec_params(std::string("SELECT ") + kWebhookColumns +
                            " FROM webhook WHERE tenant = $1 AND name > $2 ORDER BY name LIMIT $3",
                        owner_text(tenant), after, limit))
      found.push_back(webhook_from(row));
    return found;
  });
}

}  // namespace sandgate
