#pragma once
#include <chrono>
#include <map>
#include <string>

#include "providers/sandbox.hpp"

namespace sandgate {

// The longest time to live that a node accepts, from now on: it ends what outlives its time even if
// serve never does.
inline constexpr std::chrono::seconds kLongestTtl{366 * 24 * 3600};

// A request to a node to create a sandbox.
struct SandboxRequest {
  std::string id, tenant_id, image;
  Resources resources;
  std::chrono::seconds ttl{600};
  std::map<std::string, std::string> env;
  NetworkPolicy network;
  bool has_secrets = false;  // the values go to the egress process, never to the node
  bool allow_root = false, allow_debug = false;
  std::string workspace;  // host directory mounted at /workspace; empty: none
  bool workspace_writable = false;
  std::string snapshot;  // whose disk it starts with; empty: an empty disk
};

// The environment of the sandbox's programs: the request's variables override the image's.
inline std::map<std::string, std::string> env_over(
    const std::map<std::string, std::string>& image_env, const SandboxRequest& request) {
  std::map<std::string, std::string> env = request.env;
  env.insert(image_env.begin(), image_env.end());
  return env;
}

}  // namespace sandgate
