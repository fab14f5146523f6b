#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/vendor_json.hpp"

// Between our values and the words of the Blaxel API and of the server in every sandbox. Pure;
// every reading function throws Error(unavailable) for a document that does not have that form.
namespace sandgate::blaxel {

// Settings of the deployment that shape a create.
struct CreateRules {
  std::string image = "blaxel/base-image:latest";  // for a create without one
  std::string region;  // empty: the vendor chooses
  bool snapshots = false;  // the account may take them
};

// Processors and disk come with the memory.
Json to_create(const CreateSpec& spec, const CreateRules& rules);
// The same from a snapshot, whose size and image it has.
Json to_fork(const CreateSpec& spec);

struct Box {
  BackendSandbox sandbox;  // gone: it failed or ended, and only its record is left
  std::string url;  // of its own server; empty: not told
  bool running = false, archived = false;  // neither: on its way, or gone
};
Box to_box(const Json& document);
// One answer of the list.
SandboxPage to_page(const Json& document);

// The document of a sandbox as it is to be put back with a life of `ttl` from `now` on. The
// vendor's counts from the creation.
Json with_ttl(Json document, std::chrono::seconds ttl, Time now);

struct Snapshot {
  BackendSnapshot snapshot;
  std::string name;
  bool ready = false, failed = false;  // neither: on its way
};
Snapshot to_snapshot(const Json& document);

// The body that starts a command which leaves its status behind under its name, of [a-z0-9].
Json to_start(const Command& command, const std::string& name);

// One line of a process's output stream; empty for one that carries none.
struct Output {
  Channel channel = Channel::stdout_;
  std::string bytes;
};
std::optional<Output> to_output(std::string_view line);

}  // namespace sandgate::blaxel
