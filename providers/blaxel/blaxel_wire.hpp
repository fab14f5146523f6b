#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of the Blaxel API and of the server in every
// sandbox. Pure functions; reading functions throw Error(unavailable) for malformed documents.
namespace sandgate::blaxel {

// The deployment's settings for creates.
struct CreateRules {
  std::string image = "blaxel/base-image:latest";  // for a create without one
  std::string region;  // empty: the vendor chooses
  bool snapshots = false;  // the account may take snapshots
};

// The vendor derives cores and disk from the memory, which is rounded up to satisfy all three.
Resources granted(const Resources& asked);
Json to_create(const CreateSpec& spec, const CreateRules& rules);
// A create from a snapshot, which fixes size and image.
Json to_fork(const CreateSpec& spec);

struct Box {
  BackendSandbox sandbox;  // gone: only the record of a failed or ended sandbox is left
  std::string url;  // of its own server; empty: unknown
  bool running = false, archived = false;  // neither: in a transition, or gone
  bool failed = false;  // its record stays until it is deleted
};
Box to_box(const Json& document);
// Reads one page of the list. Failed sandboxes are remains.
SandboxPage to_page(const Json& document);

// Returns a sandbox's document, to be written back, with a time to live that ends `ttl` after
// `now`. The vendor counts it from the creation.
Json with_ttl(Json document, std::chrono::seconds ttl, Time now);

struct Snapshot {
  BackendSnapshot snapshot;
  std::string name;
  bool ready = false, failed = false;  // neither: in progress
};
Snapshot to_snapshot(const Json& document);

// The request that starts a command, which stores its exit status under `name` ([a-z0-9]).
Json to_start(const Command& command, const std::string& name);

// One line of a process's output stream; empty if it carries no output.
struct Output {
  Channel channel = Channel::stdout_;
  std::string bytes;
};
std::optional<Output> to_output(std::string_view line);

}  // namespace sandgate::blaxel
