#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/transport/event_stream.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of the Runloop API. Pure functions; reading
// functions throw Error(unavailable) for malformed documents.
namespace sandgate::runloop {

// The deployment's settings for creates.
struct CreateRules {
  std::string blueprint;  // for a create without an image; empty: the vendor's default
  std::string deny_policy;  // id of a network policy that denies outbound traffic; empty: none
  int64_t keep_alive_seconds = 86'400;
};

// The vendor's sizes: half a core, one, or an even number; memory from two to eight times the
// cores; an even disk.
Resources granted(const Resources& asked);
Json to_create(const CreateSpec& spec, const CreateRules& rules);

struct Box {
  BackendSandbox sandbox;
  bool running = false, suspended = false;  // neither: in a transition, or as sandbox.state says
};
Box to_box(const Json& document);
// Reads one page of the list.
SandboxPage to_page(const Json& document);
BackendSnapshot to_snapshot(const Json& document);

// Reads the output of an execution's event; empty if it has none.
std::optional<std::string> to_output(const ServerEvent& event);
// Returns the exit status of an execution; empty while it runs.
std::optional<int> to_status(const Json& execution);

}  // namespace sandgate::runloop
