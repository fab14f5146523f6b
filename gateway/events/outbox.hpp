#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <pqxx/pqxx>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"

// Telling that something happened, inside the transaction in which it does: the event is told if
// and only if the change commits.
namespace sandgate {

// For what is not a state of a sandbox. One line beside the change:
//   tell_sandbox_event(tx, id, "snapshotted", {{"snapshot", snapshot.value}});
// `verb` becomes the type "sandbox.<verb>"; `more` are further members of the event's data. Its end
// is the last that is told of a sandbox: of one that has ended nothing is, and one that is ending
// ends when this transaction has.
//
// Do not call it for created, running, paused, resumed, expired, killed and failed: a trigger on
// the sandbox's state tells those, whichever statement changes it.
void tell_sandbox_event(pqxx::work& tx, const SandboxId& id, std::string_view verb,
                        const Json& more = Json::object());

// Any other event. Without a tenant it concerns everybody.
void tell_event(pqxx::work& tx, const std::optional<TenantId>& tenant, const std::string& type,
                const std::string& subject, const Json& data);

}  // namespace sandgate
