#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/vendor_json.hpp"
#include "providers/web_socket.hpp"

// Between our values and the words of the Sprites API. Pure; every reading function throws
// Error(unavailable) for a document that does not have that form.
namespace sandgate::sprites {

// `runtime` is for a create without an image, which is the runtime's name.
Json to_create(const CreateSpec& spec, const std::string& runtime);
// What is set right after it.
Json to_network(const NetworkPolicy& policy);
Json to_resources(const Resources& resources);
BackendSandbox to_sandbox(const Json& document);
// One answer of the list.
SandboxPage to_page(const Json& document);

// The query that starts a command known by `name`, of [a-z0-9]. The command itself is not in it,
// because queries are logged and short: it is the first line of the stdin (to_first_line), or in a
// terminal, which would echo that, what `to_script_line` has left in the sandbox.
std::string to_exec_query(const Command& command, const std::string& name);
std::string to_first_line(const Command& command);
std::string to_script_line(const Command& command, const std::string& name);

// The messages that carry stdin, and its end, to a command in a terminal or not.
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

// The running session of the command known by `name`; empty when there is none.
struct Session {
  std::string id;
  bool pty = false;
};
std::optional<Session> to_session(const Json& document, const std::string& name);

// A refusal; the time to wait may be in its body.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::sprites
