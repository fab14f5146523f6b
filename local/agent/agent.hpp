#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace sandgate::agent {

// The account that commands run as when a request names no user.
struct Account {
  std::string name = "user";
  uint32_t uid = 1000, gid = 1000;
  std::string home = "/home/user";
};

// Applies further restrictions to a child of the agent. Called in every child after it has dropped
// its identity and before it runs a tenant's program or touches a tenant's file. When it returns
// false, the child exits.
using Confine = bool (*)(const void* data, bool root);

struct AgentSettings {
  int listener = -1;  // a listening unix stream socket; the agent owns it
  int seccomp_notifications = -1;  // seccomp notifications, see SyscallLimiter; the agent owns it
  Account account;  // its ids are a fallback: an entry of this name in /etc/passwd overrides them
  std::map<std::string, std::string> env;  // the sandbox's; commands may override each variable
  std::string workdir;  // of commands that name no directory; empty: the account's home
  uint32_t observers = 0;  // the group that sees all processes in /proc, for root alone; 0: root's
  bool allow_root = false;
  bool single_id = false;  // only uid 0 is mapped: workloads run as it, without capabilities
  bool awaits_owner = false;  // one "configure" request may still set env and allow_root
  // Capabilities of root commands, enough for apt-get, pip and npm inside the sandbox's user
  // namespace: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, NET_BIND_SERVICE.
  uint64_t root_capabilities = 0x4fb;
  uint64_t bounding_set = ~uint64_t{0};  // upper bound of the agent's capability bounding set
  bool no_new_privileges = true;
  bool dumpable = false;  // whether other processes inside may open its memory and descriptors
  Confine confine = nullptr;  // null: no further restrictions
  const void* confine_data = nullptr;  // not owned; outlives the agent
};

// Runs the agent in the calling process until the listener breaks; returns an exit code. The caller
// is normally pid 1 of the sandbox, has one thread and has set up the sandbox's isolation. It must
// be uid 0 inside, with SETUID, SETGID, SETPCAP, KILL and CHOWN; workloads run unprivileged.
int run_agent(AgentSettings settings);

}  // namespace sandgate::agent
