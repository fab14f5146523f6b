#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <pqxx/pqxx>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"

// Transactional outbox: an event written in a transaction is published if and only if that
// transaction commits.
namespace sandgate {

// Publishes an event of a sandbox that is not a change of its state, for example
//   publish_sandbox_event(tx, id, "snapshotted", {{"snapshot", snapshot.value}});
// The type is "sandbox.<verb>"; `more` adds members to the event's data. No effect for a sandbox
// that has ended, since its end is its last event; a concurrent end waits for this transaction.
//
// Not for created, running, paused, resumed, expired, killed and failed: a trigger on the sandbox's
// state publishes these, whichever statement changes it.
void publish_sandbox_event(pqxx::work& tx, const SandboxId& id, std::string_view verb,
                           const Json& more = Json::object());

// Publishes any other event. Without a tenant it is visible to all.
void publish_event(pqxx::work& tx, const std::optional<TenantId>& tenant, const std::string& type,
                   const std::string& subject, const Json& data);

}  // namespace sandgate
