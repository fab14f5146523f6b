#include "gateway/events/outbox.hpp"

namespace sandgate {

void publish_sandbox_event(pqxx::work& tx, const SandboxId& id, std::string_view verb,
                           const Json& more) {
  // Lock the row in a subquery first: a function in a select list runs before the lock is granted,
  // and the end's event could be written in between.
  tx.exec_params(
      "SELECT tell_sandbox(held.box, $2, $3::jsonb) FROM"
      " (SELECT box FROM sandbox box WHERE id = $1 AND ended_at IS NULL FOR SHARE) held",
      id.value, std::string(verb), more.dump());
}

void publish_event(pqxx::work& tx, const std::optional<TenantId>& tenant, const std::string& type,
                   const std::string& subject, const Json& data) {
  tx.exec_params(
      "INSERT INTO event_outbox (tenant, type, subject, data) VALUES ($1, $2, $3, $4::jsonb)",
      tenant ? tenant->value : "", type, subject, data.dump());
}

}  // namespace sandgate
