#pragma once
#include <optional>
#include <string>
#include <vector>

#include "providers/provider.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/vendor_json.hpp"

// Between our values and the words of the Vercel Sandbox API: a sandbox is a name that lasts, a
// session one run of it. Pure; every reading function throws Error(unavailable) for a document that
// does not have that form.
namespace sandgate::vercel {

// Settings of the deployment that shape a create.
struct CreateRules {
  std::string project;
  std::string image;  // for a create without an image; empty: the vendor's own
  std::string region;  // empty: the vendor's choice
  int64_t snapshot_days = 7;  // how long the vendor keeps what a pause saved
};

Json to_create(const CreateSpec& spec, const CreateRules& rules);
// The tags of a sandbox that is about to be saved as the snapshot of that id of ours.
Json to_tags(const BackendSandbox& sandbox, const std::string& snapshot_id,
             const std::string& session);

struct Session {
  std::string id;
  std::string cwd;  // from the root, visible ASCII
  std::chrono::milliseconds timeout{0};
  std::optional<Time> ends_at;
};

struct Box {
  BackendSandbox sandbox;
  Session session;  // the latest; of an entry in a list its id alone
  bool running = false, stopped = false;  // neither: on its way
  std::string saved_session;  // of the last tags that to_tags made
};
// {"sandbox": …, "session": …}; the session may be missing.
Box to_box(const Json& document);
// One answer of the list.
SandboxPage to_page(const Json& document);
BackendSnapshot to_snapshot(const Json& document);

// A command as the vendor runs it: our supervisor, started in the account's home. `waits`: the
// answer is its output.
Json to_run(const Command& command, bool waits);
Json to_run(const std::string& line, bool root);
// What a terminal begins with.
Json to_terminal(const Command& command, const std::string& cwd);

// The exit status, when a terminal's message is its end.
std::optional<int> to_terminal_end(const std::string& message);

// A command in the vendor's list that to_run started.
struct Listed {
  std::string command_id;  // the vendor's
  ProcessInfo info;
  bool limited = false;  // it had a time limit
};
std::optional<Listed> to_listed(const Json& document);

// One line of a command's output.
struct LogLine {
  std::string command_id;  // of lines about the command itself
  std::optional<int> status;  // its exit status, once it has one
  Channel channel = Channel::stdout_;
  std::string text;
};
// Throws what the vendor tells instead of output.
LogLine to_log_line(const std::string& line);
// The same of {"command": …}.
LogLine to_command(const Json& document);

// For RestApi: by status, except that a session on its way somewhere is a conflict.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::vercel
