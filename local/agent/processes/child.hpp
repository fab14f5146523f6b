#pragma once
#include "local/agent/processes/spawn.hpp"

// What a forked child of the agent does until it executes its program. It reports a step that
// failed as one byte on its report pipe, which the execution closes. Nothing may throw: the child
// would go on as a second agent.
namespace sandgate::agent {

enum class Step : char { terminal = 't', identity = 'i', directory = 'd' };

// Descriptors that the child inherits; all others are closed.
struct ChildEnds {
  int in, out, err;  // become 0 to 2
  int report;
  bool terminal = false;  // `in` is one, and becomes the controlling terminal
  int spec_fd = -1;  // of a child that gets its program later; none: -1
};

// Sets up everything that does not depend on the program. Exits when that fails.
void prepare_child(const ChildEnds& ends) noexcept;

// Reads the spec of a prepared child to its end (see encode()), and reports kSpecReceived. Exits
// when there is none.
constexpr char kSpecReceived = 'o';
SpawnSpec receive_spawn_spec() noexcept;

// Takes on the identity and executes the program, in a prepared child. Exits when that fails.
[[noreturn]] void run_program(const SpawnSpec& spec, const AgentSettings& settings) noexcept;

}  // namespace sandgate::agent
