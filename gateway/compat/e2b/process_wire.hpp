#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "providers/sandbox.hpp"

// Between processes and the messages of process.Process. Pure.
namespace sandgate::compat::e2b {

// Clients name processes by numbers: one is worked out from our id, so that no table of them is
// kept. Never 0.
uint32_t pid_of(std::string_view process_id);
// What a client called a process is worked into its id: it is found by its tag again.
std::string process_id_of(const SandboxId& sandbox, const std::string& tag);

// Start. Throws Error(invalid). `stdin_open`: the client will write to it.
struct StartOrder {
  Command command;
  bool stdin_open = true;
};
StartOrder start_order_from(const Json& message, const SandboxId& sandbox);

// {"process":{"pid":…}} or {"process":{"tag":…}}. Throws Error(invalid).
struct Selector {
  uint32_t pid = 0;
  std::string process_id;  // by tag; empty: by pid
  bool fits(const ProcessInfo& process) const;
};
Selector selector_from(const Json& message, const SandboxId& sandbox);

// SIGNAL_SIGTERM or SIGNAL_SIGKILL, by name or number. Throws Error(unsupported).
int signal_from(const Json& message);
// {"pty":{"size":{…}}}; empty without one. Throws Error(invalid).
std::optional<PtySize> pty_size_from(const Json& message);

// The events of Start and Connect, each in its wrapper.
Json start_event(uint32_t pid);
Json output_event(const OutputChunk& chunk, bool pty);
Json end_event(const ProcessExit& exit);
Json keep_alive_event();

// An item of List.
Json process_json(const ProcessInfo& process);

}  // namespace sandgate::compat::e2b
