#pragma once
#include <optional>
#include <string>

#include "providers/http_client.hpp"
#include "providers/provider.hpp"
#include "providers/rest_api.hpp"
#include "providers/vendor_json.hpp"

// Between our values and the words of the Kubernetes API and of agent-sandbox. Pure; every to
// function of a document throws Error(unavailable) for one that does not have that form.
namespace sandgate::kubernetes {

inline constexpr const char* kContainer = "sandbox";
inline constexpr const char* kSandboxApi = "agents.x-k8s.io/v1beta1";
inline constexpr const char* kDenyPolicy = "sandgate-deny";

// Settings of the deployment that shape a pod.
struct PodRules {
  std::string space = "default";  // the namespace
  std::string image = "debian:12";  // for a create without one
  std::string home = "/home/sandbox";
  int64_t user = 1000;  // where root is not allowed
  std::string runtime_class;  // empty: the cluster's own
  std::map<std::string, Isolation> isolation;  // of runtime classes, as the operator vouches
  std::vector<std::string> pull_secrets;
  std::map<std::string, std::string> node_selector;
  bool network_policies = false;  // the cluster's network enforces them
  int64_t deadline_seconds = 0;  // after which a plain pod ends; 0: none
  std::string region;
};

// A pod of its own, and the resource whose controller makes the pod and removes it at `end`.
Json to_pod(const CreateSpec& spec, const PodRules& rules);
Json to_sandbox(const CreateSpec& spec, const PodRules& rules, Time end);
// A merge patch for the latter.
Json to_end(Time end);

// The policy that lets nothing in or out of the pods that ask for it, and whether what is there
// does that.
Json deny_policy(const PodRules& rules);
bool is_deny_policy(const Json& document);

// Where a sandbox is: a backend id is "pods/<name>" or "sandboxes/<name>".
struct Place {
  bool resource = false;  // a Sandbox; its pod has the same name
  std::string name;
};
Place place_of(const std::string& backend_id);
std::string path_of(const Place& place, const PodRules& rules);
std::string all_path(bool resource, const PodRules& rules);  // of all of that form
std::string pod_path(const std::string& name, const PodRules& rules);

struct Box {
  BackendSandbox sandbox;  // gone: it ended, or is about to
  bool running = false;  // of a pod: its container is ready
  bool failed = false;  // of a pod: it will not start without somebody's help
  bool no_node = false;  // of a pod: none has room for it
  bool ended = false;  // of a pod: it stays there until somebody removes it
  bool owned = false;  // a pod that belongs to something else
};
// Of a Pod or a Sandbox; a Sandbox tells its isolation as it is asked for, a Pod as it is.
Box to_box(const Json& document, const PodRules& rules);

// The exit status that ends an exec; throws Error(unavailable) when nothing was started.
int to_status(std::string_view message);

// Reads the refusals that have a meaning of their own.
Error read_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::kubernetes
