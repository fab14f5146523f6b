#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "local/agent/agent.hpp"

namespace sandgate::agent {

// The user and groups that a child process takes on.
struct Identity {
  std::string name;
  uint32_t uid = 0, gid = 0;
  std::string home;
  std::vector<uint32_t> groups;  // supplementary
  bool root() const { return uid == 0; }
};

// Finds the account of this name or uid in the sandbox's /etc/passwd, with its groups; an empty
// name is the default account. Throws Error: invalid at /user for an unknown account; forbidden for
// uid 0, or for gid 0 unless it is the default account's, where root is not allowed; unsupported
// for any other account when only one id is mapped. Where root is not allowed, gid 0 is left out of
// the supplementary groups; so are those beyond 65535.
Identity find_identity(const std::string& name, const AgentSettings& settings);

// The capability bounding set of this process, as a bit mask.
uint64_t read_bounding_set();

// Switches this process to the identity irrevocably: groups, ids and capabilities in all five sets
// (none; for root settings.root_capabilities), no new privileges, no core dumps, then
// settings.confine. Returns false when any step failed; the process must then exit.
bool switch_identity(const Identity& identity, const AgentSettings& settings);

}  // namespace sandgate::agent
