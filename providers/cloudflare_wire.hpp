#pragma once
#include <optional>
#include <string>

#include "providers/event_stream.hpp"
#include "providers/provider.hpp"
#include "providers/rest_api.hpp"
#include "providers/vendor_json.hpp"

// Between our values and the words of the bridge worker of Cloudflare's Sandbox SDK. It knows no
// list, no names and no environment: every id is there as soon as it is asked about, with a new
// container when it has none. So our id is in the vendor's, and a file in the container, its
// birth, tells a sandbox of ours from a container that was started a moment ago. Pure.
namespace sandgate::cloudflare {

// The vendor's id of ours, and back; empty for what is no such id.
std::string to_backend_id(const std::string& sandbox_id);
std::optional<std::string> to_sandbox_id(const std::string& backend_id);

// Where a create leaves the birth; the first line moves it to where no program looks.
inline constexpr const char* kBirth = "workspace/.sandgate";
std::string to_birth(const CreateSpec& spec);  // the environment, as a shell reads it
std::string settle_line();

// A line that runs in the account's home with the sandbox's environment, or ends with kGone when
// the container is no sandbox of ours (any more).
inline constexpr int kGone = 97;
std::string guarded(const std::string& line);
Json to_exec(const std::string& line, std::chrono::milliseconds timeout = {});

// One event of a command: output, or its end.
struct ExecEvent {
  std::optional<int> status;
  Channel channel = Channel::stdout_;
  std::string bytes;
};
// Throws Error(unavailable) for what the vendor tells instead.
ExecEvent to_event(const ServerEvent& event);

// For RestApi: by status, except that 503 may say that all containers are taken.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::cloudflare
