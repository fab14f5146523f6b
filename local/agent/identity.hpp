#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "local/agent/agent.hpp"

namespace sandgate::agent {

// Who a child becomes.
struct Identity {
  std::string name;
  uint32_t uid = 0, gid = 0;
  std::string home;
  std::vector<uint32_t> groups;  // all supplementary ones
  bool root() const { return uid == 0; }
};

// The account of this name (or number) in the sandbox's /etc/passwd, with its groups; an empty name
// is the default account. Throws Error: invalid at /user for an unknown one, forbidden for a root
// nobody allowed, or for root's group unless the image's account has it. Of the supplementary
// groups root's is left out where root is not allowed.
Identity find_identity(const std::string& name, const AgentSettings& settings);

// What this process has in its capability bounding set.
uint64_t read_bounding_set();

// Makes this process that user for good: groups, ids, and of the capabilities none (for root the
// few that package managers need), in all five sets; no new privileges, no core dumps. False when
// any step failed, and then the process must not go on.
bool become(const Identity& identity, const AgentSettings& settings);

}  // namespace sandgate::agent
