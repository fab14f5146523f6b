#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/transport/http_client.hpp"
#include "providers/transport/rest_api.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of the Kubernetes API and of agent-sandbox. Pure;
// the to_ functions that read throw Error(unavailable) for malformed documents.
namespace sandgate::kubernetes {

inline constexpr const char* kContainer = "sandbox";
inline constexpr const char* kSandboxApi = "agents.x-k8s.io/v1beta1";
inline constexpr const char* kDenyPolicy = "sandgate-deny";

// The deployment's settings for pods.
struct PodRules {
  std::string space = "default";  // the namespace
  std::string image = "debian:12";  // for a create without one
  std::string home = "/home/sandbox";
  int64_t user = 1000;  // user id where root is not allowed
  std::string runtime_class;  // empty: the cluster's default
  std::map<std::string, Isolation> isolation;  // the operator's statement, by runtime class
  std::vector<std::string> pull_secrets;
  std::map<std::string, std::string> node_selector;
  bool network_policies = false;  // the cluster's network enforces them
  int64_t deadline_seconds = 0;  // a plain pod's activeDeadlineSeconds; 0: none
  std::string region;
};

// A plain pod, or a Sandbox resource, whose controller creates the pod and removes it at `end`.
Json to_pod(const CreateSpec& spec, const PodRules& rules);
Json to_sandbox(const CreateSpec& spec, const PodRules& rules, Time end);
// A merge patch that changes the end of a Sandbox resource.
Json to_end(Time end);

// When the cluster ends a plain pod; empty: it has no deadline.
std::optional<Time> end_of_pod(const Json& pod);

// The policy that denies all traffic of pods with a certain label, and whether an existing policy
// is equivalent to it.
Json deny_policy(const PodRules& rules);
bool is_deny_policy(const Json& document);

// The resource behind a backend id, "pods/<name>" or "sandboxes/<name>".
struct Place {
  bool resource = false;  // a Sandbox, whose pod has the same name
  std::string name;
};
Place place_of(const std::string& backend_id);
std::string path_of(const Place& place, const PodRules& rules);
std::string all_path(bool resource, const PodRules& rules);  // the collection of pods or Sandboxes
std::string pod_path(const std::string& name, const PodRules& rules);

struct Box {
  BackendSandbox sandbox;  // gone: it has ended or is being deleted
  bool running = false;  // pods only: the container is ready
  bool failed = false;  // pods only: the pod cannot start by itself
  bool no_node = false;  // pods only: no node has room for it
  bool ended = false;  // pods only: it has ended and must be deleted
  bool owned = false;  // pods only: another object owns the pod
};
// Reads a Pod, with the isolation in effect, or a Sandbox, with the isolation requested.
Box to_box(const Json& document, const PodRules& rules);

// Returns the exit status of an exec; throws Error(unavailable) if the process was not started.
int to_status(std::string_view message);

// Maps refusals by status and, for some 403 and 410, by their meaning in Kubernetes.
Error read_error(std::string_view provider, const HttpReply& reply);
// The same for resources that every cluster has. A 404 is theirs only if the API server says so in
// a document of its own; others come from what is in front of it and tell of no resource.
Error read_core_error(std::string_view provider, const HttpReply& reply);

}  // namespace sandgate::kubernetes
