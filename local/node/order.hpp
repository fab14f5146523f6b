#pragma once
#include <chrono>
#include <map>
#include <string>

#include "providers/sandbox.hpp"

namespace sandgate {

// What a node is asked to make.
struct SandboxOrder {
  std::string id, tenant_id, image;
  Resources resources;
  std::chrono::seconds ttl{600};
  std::map<std::string, std::string> env;
  NetworkPolicy network;
  bool has_secrets = false;  // their values are given to the egress process, not to the node
  bool allow_root = false, allow_debug = false;
  std::string workspace;  // directory of this machine shown as /workspace; empty: none
  bool workspace_writable = false;
  std::string snapshot;  // whose disk it starts with; empty: an empty one
};

}  // namespace sandgate
