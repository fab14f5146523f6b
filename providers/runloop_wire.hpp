#pragma once
#include <optional>
#include <string>

#include "providers/event_stream.hpp"
#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/vendor_json.hpp"

// Between our values and the words of the Runloop API. Pure; every reading function throws
// Error(unavailable) for a document that does not have that form.
namespace sandgate::runloop {

// Settings of the deployment that shape a create.
struct CreateRules {
  std::string blueprint;  // for a create without an image; empty: the vendor's own
  std::string deny_policy;  // id of a network policy that lets nothing out; empty: none
  int64_t keep_alive_seconds = 86'400;
};

Json to_create(const CreateSpec& spec, const CreateRules& rules);

struct Box {
  BackendSandbox sandbox;
  bool running = false, suspended = false;  // neither: on its way, or as sandbox.state says
};
Box to_box(const Json& document);
// One answer of the list.
SandboxPage to_page(const Json& document);
BackendSnapshot to_snapshot(const Json& document);

// One event of an execution's output; empty for one that carries none.
std::optional<std::string> to_output(const ServerEvent& event);
// The exit status of an execution; empty while it runs.
std::optional<int> to_status(const Json& execution);

}  // namespace sandgate::runloop
