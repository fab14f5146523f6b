#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/rest_api.hpp"
#include "providers/vendor_json.hpp"

// Between our values and the words of the E2B API and of envd, its server in every sandbox. Pure;
// every reading function throws Error(unavailable) for a document that does not have that form.
namespace sandgate::e2b {

// Where a sandbox's own server is reached.
struct Access {
  std::string token;  // empty: none is asked for
  std::string domain;  // empty: the deployment's
};

Json to_create(const CreateSpec& spec, const std::string& template_id);
BackendSandbox to_sandbox(const Json& document, Isolation isolation, const std::string& region);
Access to_access(const Json& document);
BackendSnapshot to_snapshot(const Json& document);

// The bodies of process.Process/Start (the process is tagged with our id) and SendInput, and the
// events of a start.
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

// A refusal on the way to envd or by it; the proxy answers 502 for a sandbox that is not there.
Error read_sandbox_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::e2b
