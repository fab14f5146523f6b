#pragma once
#include "gateway/core/json_reader.hpp"
#include "local/node/server/sandbox_request.hpp"
#include "local/node/storage/snapshot_store.hpp"
#include "local/node/supervisor/journal.hpp"

namespace sandgate {

// Conversions of a node's requests and answers from and to JSON. Requests are validated.

Json to_json(const SandboxRequest& request);
SandboxRequest sandbox_request_from(const Json& params);  // throws Error(invalid)

NetworkPolicy valid_network_from(const Json& json);  // throws Error(invalid)

Json to_json(const BackendSandbox& sandbox);
BackendSandbox backend_sandbox_from(const Json& json);
BackendSandbox to_backend(const JournalRecord& record);

Json to_json(const BackendSnapshot& snapshot);
BackendSnapshot backend_snapshot_from(const Json& json);
BackendSnapshot to_backend(const StoredSnapshot& snapshot);

Json to_json(const SandboxMetrics& metrics);
SandboxMetrics metrics_from(const Json& json);

// Returns a required string member of a request, such as "id". Throws Error(invalid).
std::string required_text(const Json& params, const char* name);

}  // namespace sandgate
