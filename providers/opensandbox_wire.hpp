#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/rest_api.hpp"
#include "providers/vendor_json.hpp"

// Between our values and the words of the OpenSandbox APIs: its server's and its execd's. Pure;
// every to function of a document throws Error(unavailable) for one that does not have that form.
namespace sandgate::opensandbox {

// Settings of the deployment that shape sandboxes.
struct BoxRules {
  std::string image = "debian:12";  // for a create without one
  Isolation isolation = Isolation::container;  // of the server's runtime
  Keeps paused = Keeps::memory;  // what its pause keeps
  bool egress_enforced = false;  // its sidecar filters names and addresses
  bool secure_access = false;  // endpoints take a header that is only handed out
  std::string region;
};

Json to_create(const CreateSpec& spec, const BoxRules& rules);

struct Box {
  BackendSandbox sandbox;
  bool running = false, failed = false;
};
Box to_box(const Json& document, const BoxRules& rules);

// Where a port of a sandbox is reached, and what every request there must carry.
struct Endpoint {
  std::string place;  // host[:port][/path]
  HttpFields headers;
};
Endpoint to_endpoint(const Json& document);

struct Snapshot {
  BackendSnapshot snapshot;
  std::string name;
  bool ready = false, failed = false;
};
Snapshot to_snapshot(const Json& document);
// Whether a list has more after this page.
bool has_next_page(const Json& document);

// One line of a command's stream, which may come with or without the words of an event stream.
struct CommandEvent {
  enum Kind { other, output, ended } kind = other;
  std::string text;
  int status = 0;
};
CommandEvent to_event(std::string_view line);

}  // namespace sandgate::opensandbox
