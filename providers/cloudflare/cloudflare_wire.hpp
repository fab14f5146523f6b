#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/transport/event_stream.hpp"
#include "providers/transport/rest_api.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of the bridge worker of Cloudflare's Sandbox SDK,
// which has no list, names or environment: a request about any id starts a container for it. Our id
// is therefore encoded in the vendor's id, and a file in the container (kInitFile) distinguishes a
// sandbox from a container that a request has just started. Pure functions.
namespace sandgate::cloudflare {

// Encodes our id as the vendor's, and decodes it; empty if the id is not such an encoding.
std::string to_backend_id(const std::string& sandbox_id);
std::optional<std::string> to_sandbox_id(const std::string& backend_id);

// kInitFile is the file that a create writes; install_line moves it to its final place.
inline constexpr const char* kInitFile = "workspace/.sandgate";
std::string to_init_script(const CreateSpec& spec);  // the environment, as shell commands
std::string install_line();

// A line that runs in the account's home with the sandbox's environment, or exits with kGone if the
// container is not a sandbox of ours.
inline constexpr int kGone = 97;
std::string guarded(const std::string& line);
Json to_exec(const std::string& line, std::chrono::milliseconds timeout = {});

// One event of a command: output, or the exit status.
struct ExecEvent {
  std::optional<int> status;
  Channel channel = Channel::stdout_;
  std::string bytes;
};
// Throws Error(unavailable) for an event that reports a failure.
ExecEvent to_event(const ServerEvent& event);

// For RestApi: by status, except that a 503 may mean that all containers are in use (no_capacity).
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::cloudflare
