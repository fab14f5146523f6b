#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace sandgate::agent {

// The account workloads run as when nobody asks for another one.
struct Account {
  std::string name = "user";
  uint32_t uid = 1000, gid = 1000;
  std::string home = "/home/user";
};

// Last step of every child before it runs a tenant's program or touches a tenant's file, after its
// identity was dropped. False ends the child: fail closed.
using Confine = bool (*)(const void* data, bool root);

struct AgentSettings {
  int listener = -1;  // a listening unix stream socket; the agent owns it
  int gate_requests = -1;  // see Gate; the agent owns it
  Account account;  // an account of this name in /etc/passwd wins over these numbers
  std::map<std::string, std::string> env;  // of the sandbox: every command starts from it
  std::string workdir;  // where commands start that name no directory; empty: the account's home
  bool allow_root = false;
  bool single_id = false;  // uid 0 is the only one mapped: workloads have it, without a capability
  bool awaits_owner = false;  // env and allow_root are told once, before anything runs
  // Enough for apt-get, pip and npm inside the sandbox's own user namespace: CHOWN, DAC_OVERRIDE,
  // FOWNER, FSETID, KILL, SETGID, SETUID, NET_BIND_SERVICE.
  uint64_t root_capabilities = 0x4fb;
  uint64_t bounding_set =
      ~uint64_t{0};  // at most, of the agent: what its children may have to drop
  bool no_new_privileges = true;
  bool dumpable = false;  // whether others inside may open its memory and descriptors
  Confine confine = nullptr;  // null: nothing more to do
  const void* confine_data = nullptr;  // not owned; outlives the agent
};

// Serves until the listener breaks; the caller is pid 1 of the sandbox (or, in tests, any process)
// with one thread, its walls already up. It needs to stay uid 0 inside with SETUID, SETGID,
// SETPCAP, KILL and CHOWN; workloads get an unprivileged identity. Returns an exit code.
int run_agent(AgentSettings settings);

}  // namespace sandgate::agent
