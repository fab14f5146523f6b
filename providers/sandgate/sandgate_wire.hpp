#pragma once
#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/transport/event_stream.hpp"

// Converts between Sandgate's values and the JSON of its own v1 API. Pure functions; reading
// functions throw Error(unavailable) for a document that does not match that API.
namespace sandgate::wire {

Json to_create(const CreateSpec& spec, const std::string& profile);
Json to_exec(const Command& command);

BackendSandbox to_backend_sandbox(const Json& document);
// Returns the sandbox's state, one of the API's words.
std::string to_state(const Json& document);
// Reads the answer to a create. Throws Error(unavailable) unless the sandbox is running or gone.
BackendSandbox to_created(const Json& document);
// Reads one page of the list.
SandboxPage to_page(const Json& document);
BackendSnapshot to_backend_snapshot(const Json& document);
// Returns the member `kept` of a sandbox or snapshot; `nothing` if absent.
Keeps to_kept(const Json& document);
ProcessInfo to_process(const Json& document);
FileEntry to_entry(const Json& document);
// kUnreadCounter stands for an invalid counter, which must not be billed; an invalid gauge reads 0.
inline constexpr int64_t kUnreadCounter = -1;
SandboxMetrics to_metrics(const Json& document);
// Empty for an event without content for us (start, or an event of a newer version). Throws the
// Error of an `error` event.
std::optional<ProcessEvent> to_process_event(const ServerEvent& event);

// Empty for an event that is not a change; throws the Error of an `error` event.
std::optional<FileChange> to_file_change(const ServerEvent& event);

// Leaves out what a gateway cannot forward to another gateway.
Descriptor to_descriptor(const Json& document);

// Reads an Error from the other gateway's problem document.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::wire
