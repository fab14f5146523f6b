#pragma once
#include <memory>
#include <set>

#include "local/agent/agent.hpp"
#include "local/agent/loop.hpp"
#include "local/agent/processes/process_table.hpp"
#include "local/agent/processes/spawn.hpp"

namespace sandgate::agent {

// The state of one running agent, shared by all operations.
struct Context {
  explicit Context(AgentSettings given) : settings(std::move(given)), processes(loop) {}

  AgentSettings settings;
  Loop loop;
  ProcessTable processes;
  std::unique_ptr<PreforkedChild> preforked_child;  // until the first program
  std::set<pid_t> file_workers;
};

}  // namespace sandgate::agent
