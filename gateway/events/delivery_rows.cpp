#include "gateway/events/delivery_rows.hpp"

#include "gateway/core/statement.hpp"
#include "gateway/events/event_row.hpp"
#include "gateway/events/webhook_store.hpp"

namespace sandgate::delivery_rows {
namespace {

// Every transaction locks a webhook's row before those of its deliveries, as its removal does: what
// locks them the other way round meets it halfway, and one of both fails.

// Webhooks come in random order, so that none is always last when more is due than can be taken.
// Those of one owner share 32 deliveries, so that one owner's slow receivers cannot hold up
// others'.
constexpr char kTakeDue[] = R"sql(
  WITH probed AS MATERIALIZED (
    SELECT id FROM webhook WHERE disabled_at IS NULL AND failing_since IS NOT NULL
      AND rest_until <= now() AND EXISTS (SELECT FROM webhook_delivery
        WHERE webhook = webhook.id AND next_try_at <= now())
    FOR NO KEY UPDATE SKIP LOCKED),
  due AS (
    SELECT d.webhook, d.position FROM
      (SELECT id, failing_since, rest_until,
          least(8, greatest(1, 32 / count(*) OVER (PARTITION BY tenant))) AS most
        FROM webhook WHERE disabled_at IS NULL
          AND (failing_since IS NULL OR id IN (SELECT id FROM probed)) ORDER BY random()) w
      CROSS JOIN LATERAL (SELECT webhook, position FROM webhook_delivery
        WHERE webhook = w.id AND next_try_at <= now() AND w.rest_until <= now()
        ORDER BY next_try_at, position
        LIMIT greatest(0, CASE WHEN w.failing_since IS NULL THEN w.most ELSE 1 END
          - (SELECT count(*) FROM unnest($3::bigint[]) AS busy WHERE busy = w.id))
        FOR UPDATE SKIP LOCKED) d
    LIMIT $1),
  taken AS (
    UPDATE webhook_delivery SET attempts = attempts + 1,
      next_try_at = now() + make_interval(secs => $2 / 1000.0)
    FROM due WHERE webhook_delivery.webhook = due.webhook
      AND webhook_delivery.position = due.position
    RETURNING due.webhook, due.position, attempts),
  resting AS (
    UPDATE webhook SET rest_until = now() + make_interval(secs => $2 / 1000.0)
    WHERE id IN (SELECT id FROM probed) AND id IN (SELECT webhook FROM due))
  SELECT w.id AS webhook, w.tenant AS owner, w.name, w.url, w.secret, t.attempts, e.position,
    e.id, e.tenant, e.type, e.subject, e.at, e.data
  FROM taken t JOIN webhook w ON w.id = t.webhook JOIN event e ON e.position = t.position
  ORDER BY t.webhook, t.position)sql";

// Longer than any pause between two tries: without a failure for so long, nobody has tried.
constexpr std::chrono::seconds kLongestSilence{2 * 3600};

void give_up_webhook(pqxx::work& tx, int64_t webhook) {
  tx.exec_params("UPDATE webhook SET disabled_at = now() WHERE id = $1", webhook);
  tx.exec_params("DELETE FROM webhook_delivery WHERE webhook = $1", webhook);
}

}  // namespace

std::vector<Delivery> take_due(pqxx::work& tx, const Cipher& cipher, size_t most,
                               std::chrono::milliseconds lease,
                               const std::vector<int64_t>& under_way) {
  std::string busy;
  for (const int64_t webhook : under_way)
    busy.append(busy.empty() ? "" : ",").append(std::to_string(webhook));
  std::vector<Delivery> taken;
  for (const auto& row : run_prepared(tx, kTakeDue, most, lease.count(), "{" + busy + "}")) {
    const std::string context =
        webhook_vault_context(row["owner"].as<std::string>(), row["name"].as<std::string>());
    Delivery& delivery = taken.emplace_back(Delivery{.webhook = row["webhook"].as<int64_t>(),
                                                     .url = row["url"].as<std::string>(),
                                                     .event = event_from(row),
                                                     .attempts = row["attempts"].as<int>()});
    try {
      delivery.secret = cipher.open(pqxx::binarystring(row["secret"]).str(), context);
    } catch (const Error&) {
      // Recorded as its failure: whoever set the webhook is to hear of it.
      delivery.sealed_by_other_key = true;
    }
  }
  return taken;
}

void set_delivered(pqxx::work& tx, const Delivery& delivery) {
  // Of several deliveries none waits for another, but each for a removal.
  tx.exec_params("SELECT FROM webhook WHERE id = $1 FOR KEY SHARE", delivery.webhook);
  // Limits writes to a busy webhook's row to one a second.
  tx.exec_params(
      "UPDATE webhook SET last_success_at = now(), failing_since = NULL, rest_until = now()"
      " WHERE id = $1 AND (failing_since IS NOT NULL OR last_success_at IS NULL"
      "   OR last_success_at < now() - interval '1 second')",
      delivery.webhook);
  tx.exec_params(
      "DELETE FROM webhook_delivery WHERE webhook = $1 AND position = $2 AND attempts = $3",
      delivery.webhook, delivery.event.position, delivery.attempts);
}

FailureOutcome set_failed(pqxx::work& tx, const Delivery& delivery, const std::string& reason,
                          std::chrono::milliseconds pause, std::chrono::seconds patience) {
  const auto webhook = tx.exec_params(
      "UPDATE webhook SET last_failure_at = now(), last_failure = $2, last_failure_event = $3,"
      " failing_since = CASE WHEN last_failure_at > now() - make_interval(secs => $6)"
      "   THEN coalesce(failing_since, now()) ELSE now() END,"
      " rest_until = now() + make_interval(secs => least($4 / 1000.0, 60)) WHERE id = $1"
      " RETURNING failing_since < now() - make_interval(secs => $5)",
      delivery.webhook, reason, delivery.event.id, pause.count(), patience.count(),
      kLongestSilence.count());
  const auto rows = tx.exec_params(
      "UPDATE webhook_delivery SET next_try_at = now() + make_interval(secs => $4 / 1000.0)"
      " WHERE webhook = $1 AND position = $2 AND attempts = $3"
      " RETURNING created_at < now() - make_interval(secs => $5)",
      delivery.webhook, delivery.event.position, delivery.attempts, pause.count(),
      patience.count());
  if (rows.empty()) return FailureOutcome::retry;
  if (webhook[0][0].as<bool>()) {
    give_up_webhook(tx, delivery.webhook);
    return FailureOutcome::webhook_disabled;
  }
  if (!rows[0][0].as<bool>() || delivery.attempts < kMinTries) return FailureOutcome::retry;
  tx.exec_params("DELETE FROM webhook_delivery WHERE webhook = $1 AND position = $2",
                 delivery.webhook, delivery.event.position);
  return FailureOutcome::given_up;
}

}  // namespace sandgate::delivery_rows
