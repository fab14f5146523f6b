#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/transport/rest_api.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of the OpenSandbox server and of execd, the
// server in every sandbox. Pure; the to_ functions that read throw Error(unavailable) for malformed
// documents.
namespace sandgate::opensandbox {

// The deployment's settings for sandboxes.
struct BoxRules {
  std::string image = "debian:12";  // for a create without one
  Isolation isolation = Isolation::container;  // of the server's container runtime
  Keeps paused = Keeps::memory;  // what a pause preserves
  bool egress_enforced = false;  // the server's egress sidecar filters names and addresses
  bool secure_access = false;  // endpoints require a header with a secret
  std::string region;
};

Json to_create(const CreateSpec& spec, const BoxRules& rules);

struct Box {
  BackendSandbox sandbox;
  bool running = false, paused = false;  // neither: in a transition, or gone
  bool failed = false;  // it stays until it is deleted
};
Box to_box(const Json& document, const BoxRules& rules);

// The address of a sandbox's port, and the headers that every request to it needs.
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
// Whether the list has another page.
bool has_next_page(const Json& document);

// One line of a command's event stream, with or without the "data:" prefix.
struct CommandEvent {
  enum Kind { other, output, ended } kind = other;
  std::string text;
  int status = 0;
};
CommandEvent to_event(std::string_view line);

}  // namespace sandgate::opensandbox
