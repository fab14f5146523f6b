#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/transport/web_socket.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of the Sprites API. Pure functions; reading
// functions throw Error(unavailable) for malformed documents.
namespace sandgate::sprites {

// `runtime` applies to a create without an image; an image is the name of a runtime.
Json to_create(const CreateSpec& spec, const std::string& runtime);
// Limits to set right after the create.
Json to_network(const NetworkPolicy& policy);
Json to_resources(const Resources& resources);
BackendSandbox to_sandbox(const Json& document);
// Reads one page of the list.
SandboxPage to_page(const Json& document);

// The query that starts a command under `name` ([a-z0-9]). The command is not in the query, which
// is logged and limited in length. It is sent as the first line of stdin (to_first_line). For a
// terminal, which would echo that line, it is stored in the sandbox by to_script_line before.
std::string to_exec_query(const Command& command, const std::string& name);
std::string to_first_line(const Command& command);
std::string to_script_line(const Command& command, const std::string& name);

// Messages that carry stdin and its end, for a command in a terminal or not.
WebSocket::Message to_input(std::string bytes, bool pty);
WebSocket::Message to_end_of_input();
WebSocket::Message to_resize(PtySize size);

struct Event {
  enum Kind { output, ended, other } kind = other;
  Channel channel = Channel::stdout_;
  std::string bytes;
  int status = 0;
};
Event to_event(const WebSocket::Message& message, bool pty);

// Returns the running session of the command with that name; empty if there is none.
struct Session {
  std::string id;
  bool pty = false;
};
std::optional<Session> to_session(const Json& document, const std::string& name);

// By status, except that the time to wait may be in the body.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::sprites
