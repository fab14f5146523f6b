#pragma once
#include <optional>
#include <string>
#include <vector>

#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of the Vercel Sandbox API, in which a sandbox is
// a lasting name and a session is one run of it. Pure functions; reading functions throw
// Error(unavailable) for malformed documents.
namespace sandgate::vercel {

// The deployment's settings for creates.
struct CreateRules {
  std::string project;
  std::string image;  // for a create without an image; empty: the vendor's default
  std::string region;  // empty: the vendor chooses
  int64_t snapshot_days = 7;  // how long the vendor keeps the disk of a paused sandbox
};

// The vendor offers one core or an even number, each with its share of the memory.
Resources granted(const Resources& asked);
Json to_create(const CreateSpec& spec, const CreateRules& rules);
// The tags that link a sandbox's session to the snapshot about to be made of it. `snapshot_id` is
// ours; empty removes the link.
Json to_tags(const BackendSandbox& sandbox, const std::string& snapshot_id,
             const std::string& session);

struct Session {
  std::string id;
  std::string cwd;  // absolute, visible ASCII
  std::chrono::milliseconds timeout{0};
  std::optional<Time> ends_at;
};

struct Box {
  BackendSandbox sandbox;
  Session session;  // the latest one; a list entry has only its id
  bool running = false, stopped = false;  // neither: in a transition
  std::string saved_session;  // the session that to_tags last recorded
};
// Reads {"sandbox": …, "session": …}; the session may be missing.
Box to_box(const Json& document);
// Reads one page of the list. Ended sandboxes without a saved disk are remains.
SandboxPage to_page(const Json& document);
BackendSnapshot to_snapshot(const Json& document);

// Bodies that run a command under our supervisor, starting in the account's home. `waits`: the
// response is the command's output.
Json to_run(const Command& command, bool waits);
Json to_run(const std::string& line, bool root);
// The first message of a terminal.
Json to_terminal(const Command& command, const std::string& cwd);

// Returns the exit status if a terminal's message reports the end.
std::optional<int> to_terminal_end(const std::string& message);

// An entry of the vendor's list of commands that to_run started.
struct Listed {
  std::string command_id;  // the vendor's id
  ProcessInfo info;
  bool limited = false;  // it had a time limit
};
std::optional<Listed> to_listed(const Json& document);

// One line of a command's log.
struct LogLine {
  std::string command_id;  // set on lines about the command itself
  std::optional<int> status;  // the exit status, once there is one
  Channel channel = Channel::stdout_;
  std::string text;
};
// Throws Error(unavailable) for a line that reports an error of the vendor.
LogLine to_log_line(const std::string& line);
// Reads {"command": …} as such a line.
LogLine to_command(const Json& document);

// For RestApi: by status, except that a session in a transition is a conflict.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::vercel
