#pragma once
#include "providers/event_stream.hpp"
#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"

// Between our values and the words of Sandgate's own v1 API. Pure; every reading function throws
// Error(unavailable) for a document that does not have the form of that API.
namespace sandgate::wire {

Json to_create(const CreateSpec& spec, const std::string& profile);
Json to_exec(const Command& command);

BackendSandbox to_backend_sandbox(const Json& document);
// The word for its state, one of the API's.
std::string to_state(const Json& document);
// The answer to a create. Throws Error(unavailable) for one that neither runs nor is gone.
BackendSandbox to_created(const Json& document);
// One answer of the list.
SandboxPage to_page(const Json& document);
BackendSnapshot to_backend_snapshot(const Json& document);
// The member `kept` of a sandbox or snapshot; nothing when absent.
Keeps to_kept(const Json& document);
ProcessInfo to_process(const Json& document);
FileEntry to_entry(const Json& document);
// A counter that makes no sense is kUnreadCounter, which nobody books; another number 0.
inline constexpr int64_t kUnreadCounter = -1;
SandboxMetrics to_metrics(const Json& document);
// Empty for an event that carries nothing for us (start, or one of a newer version). An `error`
// event is thrown as the Error it names.
std::optional<ProcessEvent> to_process_event(const ServerEvent& event);

// Empty for an event that is no change; an `error` event is thrown.
std::optional<FileChange> to_file_change(const ServerEvent& event);

// Less what an outer gateway cannot pass on to an inner one.
Descriptor to_descriptor(const Json& document);

// From the other side's problem document.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::wire
