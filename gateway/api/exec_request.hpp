#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "gateway/core/json_reader.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::api {

constexpr size_t kCollectedBytes = 1 << 20;
// Of one argument, or of one variable as NAME=value: Linux accepts at most 128 KiB, including the
// NUL (MAX_ARG_STRLEN).
constexpr size_t kMaxArgumentBytes = (128 << 10) - 1;
// Of a body with stdin: 16 MiB as base64, plus the command and its environment.
constexpr size_t kMaxExecBodyBytes = 24 << 20;

// Adds a problem for each variable above kMaxArgumentBytes. `path` is the JSON Pointer of `env`.
void check_env_sizes(const std::map<std::string, std::string>& env, const std::string& path,
                     Problems& problems);

// The parsed body of POST …/exec.
struct ExecRequest {
  Command command;  // without a process id
  std::optional<std::string> input;  // stdin, which is closed after these bytes
  // Limit for each of stdout and stderr; the rest is read and dropped. Empty: kCollectedBytes for a
  // JSON answer, no limit for a stream.
  std::optional<size_t> max_output_bytes;
};

// Throws Error(invalid) with all problems and their JSON Pointers.
ExecRequest exec_request_from(const Json& body);

// Parses "SIGTERM", "TERM" or 15; empty if it is not a Linux signal.
std::optional<int> signal_from(const Json& value);

// {"signal":"SIGTERM"}. Throws Error(invalid).
int signal_request_from(const Json& body);

// {"cols":80,"rows":24}, both required, 1..1000. Throws Error(invalid).
PtySize pty_size_from(const Json& body);

}  // namespace sandgate::api
