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

// How its programs start: what the image sets, and over it what was asked for.
inline std::map<std::string, std::string> env_over(
    const std::map<std::string, std::string>& image_env, const SandboxOrder& order) {
  std::map<std::string, std::string> env = order.env;
  env.insert(image_env.begin(), image_env.end());
  return env;
}

}  // namespace sandgate
