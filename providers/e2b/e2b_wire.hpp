#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/transport/rest_api.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of the E2B API and of envd, the server in every
// sandbox. Pure functions; reading functions throw Error(unavailable) for malformed documents.
namespace sandgate::e2b {

// How to reach a sandbox's envd.
struct Access {
  std::string token;  // empty: no token needed
  std::string domain;  // empty: the deployment's domain
};

Json to_create(const CreateSpec& spec, const std::string& template_id);
BackendSandbox to_sandbox(const Json& document, Isolation isolation, const std::string& region);
Access to_access(const Json& document);
BackendSnapshot to_snapshot(const Json& document);
// Whether a snapshot has that name, which the server may have completed to "team/name:tag".
bool is_named(const Json& snapshot, std::string_view name);

// Bodies of process.Process/Start (tagged with the process id) and SendInput, and the events of a
// start.
Json to_start(const Command& command);
Json to_input(const std::string& bytes, bool pty);
struct StartEvent {
  enum Kind { started, output, ended, other } kind = other;
  Channel channel = Channel::stdout_;
  std::string bytes;
  int64_t pid = 0;
  int status = 0;
};
StartEvent to_event(const Json& message);

FileEntry to_entry(const Json& info);

// Reads a refusal by the control plane. A 403 is no_capacity: a wrong key is answered with 401, and
// 403 is about what the account may do or another team's sandbox or template.
Error read_error(std::string_view provider, const HttpReply& reply);
// Reads a refusal by envd or the proxy, which answers 502 for a missing sandbox.
Error read_sandbox_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::e2b
