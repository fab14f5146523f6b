#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "providers/sandbox.hpp"

// Converts between processes and the messages of process.Process. Pure.
namespace sandgate::compat::e2b {

// The number by which clients address a process, derived from our process id, so that no table is
// needed. Never 0.
uint32_t pid_of(std::string_view process_id);
// The process id of a client's tag, derived from both ids, so that the process can be found by its
// tag.
std::string process_id_of(const SandboxId& sandbox, const std::string& tag);

// A parsed Start message. `stdin_open`: the client will write to stdin. Throws Error(invalid).
struct StartOrder {
  Command command;
  bool stdin_open = true;
};
StartOrder start_order_from(const Json& message, const SandboxId& sandbox);

// A process by {"process":{"pid":…}} or {"process":{"tag":…}}. Throws Error(invalid).
struct Selector {
  uint32_t pid = 0;
  std::string process_id;  // from the tag; empty: by pid
  bool fits(const ProcessInfo& process) const;
};
Selector selector_from(const Json& message, const SandboxId& sandbox);

// Parses SIGNAL_SIGTERM or SIGNAL_SIGKILL, as name or number; others are Error(unsupported).
int signal_from(const Json& message);
// Parses {"pty":{"size":{…}}}; empty without a pty. Throws Error(invalid).
std::optional<PtySize> pty_size_from(const Json& message);

// The events of Start and Connect, each in its wrapper object.
Json start_event(uint32_t pid);
Json output_event(const OutputChunk& chunk, bool pty);
Json end_event(const ProcessExit& exit);
Json keep_alive_event();

// Returns an item of List.
Json process_json(const ProcessInfo& process);

}  // namespace sandgate::compat::e2b
