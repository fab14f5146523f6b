#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "gateway/core/json_reader.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::api {

constexpr size_t kCollectedBytes = 1 << 20;

// What the body of POST …/exec asks for.
struct ExecRequest {
  Command command;  // without a process id
  std::optional<std::string> input;  // bytes for stdin, which is closed after them
  // Of each stream; what exceeds it is read and dropped. Empty: kCollectedBytes where the output is
  // gathered, all of it where it is streamed.
  std::optional<size_t> max_output_bytes;
};

// Strict: throws Error(invalid) that lists every problem with its JSON Pointer.
ExecRequest exec_request_from(const Json& body);

// "SIGTERM", "TERM" or 15; empty for anything that is no signal of Linux.
std::optional<int> signal_from(const Json& value);

// {"signal":"SIGTERM"}. Throws Error(invalid).
int signal_request_from(const Json& body);

// {"cols":80,"rows":24}, both required, 1..1000. Throws Error(invalid).
PtySize pty_size_from(const Json& body);

}  // namespace sandgate::api
