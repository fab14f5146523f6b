#include "providers/kubernetes/kubernetes_wire.hpp"

#include <algorithm>

#include "gateway/core/number_text.hpp"

namespace sandgate::kubernetes {
namespace {

constexpr const char* kNetworkLabel = "sandgate_network";
constexpr const char* kMetadata = "sandgate/metadata";
constexpr size_t kLongestName = 253;  // the cluster's limit; labels have a smaller one
constexpr std::string_view kSandboxes = "sandboxes/", kPods = "pods/";

// The container's first process: exits at once on a signal and reaps orphans.
constexpr const char* kIdle = "trap 'exit 0' TERM INT; while :; do sleep 86400 & wait $!; done";

// Reasons of a waiting container that do not resolve by themselves.
constexpr const char* kHopeless[] = {
    "ErrImagePull",      "ImagePullBackOff",           "InvalidImageName",     "ErrImageNeverPull",
    "CrashLoopBackOff",  "CreateContainerConfigError", "CreateContainerError", "RunContainerError",
    "ImageInspectError", "RegistryUnavailable"};

bool denies(const CreateSpec& spec) { return spec.network.fallback == NetworkDefault::deny; }

// Labels are more restricted than our metadata, which is stored as an annotation.
Json metadata_of(const CreateSpec& spec) {
  Json labels{{"app.kubernetes.io/managed-by", "sandgate"}};
  put_tags(labels, spec.sandbox_id, spec.installation);
  if (denies(spec)) labels[kNetworkLabel] = "deny";
  return {{"name", spec.sandbox_id},
          {"labels", std::move(labels)},
          {"annotations", {{kMetadata, Json(spec.metadata).dump()}}}};
}

Json security_of(const CreateSpec& spec, const PodRules& rules) {
  if (spec.allow_root) return Json::object();
  return {{"runAsUser", rules.user},
          {"runAsGroup", rules.user},
          {"runAsNonRoot", true},
          {"allowPrivilegeEscalation", false},
          {"capabilities", {{"drop", {"ALL"}}}},
          {"seccompProfile", {{"type", "RuntimeDefault"}}}};
}

Json container_of(const CreateSpec& spec, const PodRules& rules) {
  std::map<std::string, std::string> variables{{"HOME", rules.home}};
  for (const auto& [name, value] : spec.env) variables[name] = value;
  Json env = Json::array();
  for (const auto& [name, value] : variables) {
    std::string literal;  // "$(" would start a reference to another variable
    for (const char c : value) literal.append(c == '$' ? 2 : 1, c);
    env.push_back({{"name", name}, {"value", literal}});
  }
  const Resources& size = spec.resources;
  return {{"name", kContainer},
          {"image", spec.image.empty() ? rules.image : spec.image},
          {"command", {"/bin/sh", "-c", kIdle}},
          {"workingDir", rules.home},
          {"env", std::move(env)},
          {"resources",
           {{"limits",
             {{"cpu", std::to_string(size.milli_vcpu) + "m"},
              {"memory", std::to_string(size.memory_mib) + "Mi"},
              {"ephemeral-storage", std::to_string(size.disk_gib) + "Gi"}}}}},
          {"securityContext", security_of(spec, rules)},
          {"volumeMounts", Json::array({{{"name", "home"}, {"mountPath", rules.home}}})}};
}

Json pod_spec_of(const CreateSpec& spec, const PodRules& rules) {
  if (!spec.network.allow.empty() || (denies(spec) && !rules.network_policies))
    throw Error(ErrorCode::unsupported, "kubernetes has no such network policy here");
  if (!spec.snapshot.empty())
    throw Error(ErrorCode::unsupported, "kubernetes restores no snapshots");
  const std::string disk = std::to_string(spec.resources.disk_gib) + "Gi";
  Json volume{{"name", "home"}, {"emptyDir", {{"sizeLimit", disk}}}};
  Json pod{{"restartPolicy", "Never"},
           {"automountServiceAccountToken", false},
           {"enableServiceLinks", false},
           {"terminationGracePeriodSeconds", 1},
           {"containers", Json::array({container_of(spec, rules)})},
           {"volumes", Json::array({std::move(volume)})}};
  if (!spec.allow_root) pod["securityContext"] = {{"fsGroup", rules.user}};
  if (!rules.runtime_class.empty()) pod["runtimeClassName"] = rules.runtime_class;
  if (!rules.node_selector.empty()) pod["nodeSelector"] = rules.node_selector;
  for (const auto& name : rules.pull_secrets) pod["imagePullSecrets"].push_back({{"name", name}});
  return pod;
}

// A runtime class that the operator does not vouch for counts as the weakest isolation.
Isolation isolation_of(const Json& pod_spec, const PodRules& rules) {
  const std::string name = text_of(pod_spec, "runtimeClassName");
  const auto found = rules.isolation.find(name);
  if (found != rules.isolation.end()) return found->second;
  return name.empty() ? Isolation::container : Isolation::process;
}

bool is_ready(const Json& status) {
  const auto conditions = status.value("conditions", Json::array());
  return std::any_of(conditions.begin(), conditions.end(), [](const Json& one) {
    return text_of(one, "type") == "Ready" && text_of(one, "status") == "True";
  });
}

bool is_hopeless(const Json& container) {
  const Json state = container.value("state", Json::object());
  const std::string reason = text_of(state.value("waiting", Json()), "reason");
  return std::find(std::begin(kHopeless), std::end(kHopeless), reason) != std::end(kHopeless);
}

void read_pod(const Json& document, const PodRules& rules, Box& box) {
  box.sandbox.isolation = isolation_of(document.at("spec"), rules);
  const Json status = document.value("status", Json::object());
  const std::string phase = text_of(status, "phase");
  box.ended = phase == "Failed" || phase == "Succeeded";
  if (box.ended) box.sandbox.state = BackendState::gone;
  box.running = phase == "Running" && is_ready(status);
  for (const Json& container : status.value("containerStatuses", Json::array()))
    box.failed = box.failed || is_hopeless(container);
  for (const Json& one : status.value("conditions", Json::array()))
    box.no_node = box.no_node || text_of(one, "reason") == "Unschedulable";
  box.owned = !document.at("metadata").value("ownerReferences", Json::array()).empty();
}

void read_resource(const Json& document, const PodRules& rules, Box& box) {
  const Json& spec = document.at("spec");
  box.sandbox.isolation = isolation_of(spec.at("podTemplate").at("spec"), rules);
  const Json status = document.value("status", Json::object());
  for (const Json& one : status.value("conditions", Json::array())) {
    const std::string type = text_of(one, "type");
    const bool holds = text_of(one, "status") == "True";
    const bool over = (type == "Finished" && holds) || text_of(one, "reason") == "SandboxExpired";
    if (over) box.sandbox.state = BackendState::gone;
  }
}

}  // namespace

Json to_pod(const CreateSpec& spec, const PodRules& rules) {
  Json pod{{"apiVersion", "v1"},
           {"kind", "Pod"},
           {"metadata", metadata_of(spec)},
           {"spec", pod_spec_of(spec, rules)}};
  if (rules.deadline_seconds > 0) pod["spec"]["activeDeadlineSeconds"] = rules.deadline_seconds;
  return pod;
}

Json to_sandbox(const CreateSpec& spec, const PodRules& rules, Time end) {
  const Json metadata = metadata_of(spec);
  Json inner = metadata;
  inner.erase("name");
  Json made = to_end(end)["spec"];
  made["shutdownPolicy"] = "Delete";
  made["podTemplate"] = {{"metadata", std::move(inner)}, {"spec", pod_spec_of(spec, rules)}};
  return {{"apiVersion", kSandboxApi},
          {"kind", "Sandbox"},
          {"metadata", metadata},
          {"spec", std::move(made)}};
}

Json to_end(Time end) {
  const auto whole = std::chrono::ceil<std::chrono::seconds>(end);
  return {{"spec", {{"shutdownTime", to_rfc3339(whole)}}}};
}

std::optional<Time> end_of_pod(const Json& pod) {
  return reading("kubernetes", [&]() -> std::optional<Time> {
    const Json deadline = field_of(pod.at("spec"), "activeDeadlineSeconds");
    const auto started = from_rfc3339(text_of(field_of(pod, "status"), "startTime"));
    if (!started || !deadline.is_number_integer()) return std::nullopt;
    return *started + std::chrono::seconds(deadline.get<int32_t>());
  });
}

Json deny_policy(const PodRules& rules) {
  return {{"apiVersion", "networking.k8s.io/v1"},
          {"kind", "NetworkPolicy"},
          {"metadata", {{"name", kDenyPolicy}, {"namespace", rules.space}}},
          {"spec",
           {{"podSelector", {{"matchLabels", {{kNetworkLabel, "deny"}}}}},
            {"policyTypes", {"Ingress", "Egress"}}}}};
}

bool is_deny_policy(const Json& document) {
  return reading("kubernetes", [&] {
    const Json wanted = deny_policy({})["spec"];
    Json spec = document.at("spec");
    for (const char* rules : {"ingress", "egress"})
      if (spec.contains(rules) && spec[rules].empty()) spec.erase(rules);
    return spec == wanted;
  });
}

Place place_of(const std::string& backend_id) {
  if (backend_id.starts_with(kSandboxes)) return {true, backend_id.substr(kSandboxes.size())};
  return {false, backend_id.starts_with(kPods) ? backend_id.substr(kPods.size()) : backend_id};
}

std::string all_path(bool resource, const PodRules& rules) {
  const std::string space = "/namespaces/" + percent_encode(rules.space);
  if (!resource) return "/api/v1" + space + "/pods";
  return "/apis/" + std::string(kSandboxApi) + space + "/sandboxes";
}

std::string path_of(const Place& place, const PodRules& rules) {
  return all_path(place.resource, rules) + "/" + percent_encode(place.name);
}

std::string pod_path(const std::string& name, const PodRules& rules) {
  return path_of({false, name}, rules);
}

Box to_box(const Json& document, const PodRules& rules) {
  return reading("kubernetes", [&] {
    const Json& metadata = document.at("metadata");
    const bool resource = document.at("spec").contains("podTemplate");
    Box box;
    const std::string name = metadata.at("name").get<std::string>();
    box.sandbox.backend_id = std::string(resource ? kSandboxes : kPods) + name;
    read_tags(field_of(metadata, "labels"), box.sandbox);
    // Limits the memory of a list, which is held as a whole.
    if (std::max({name.size(), box.sandbox.sandbox_id.size(), box.sandbox.installation.size()}) >
        kLongestName)
      throw unexpected_answer("kubernetes");
    box.sandbox.region = rules.region;
    box.sandbox.created_at = time_of(metadata, "creationTimestamp");
    if (resource)
      read_resource(document, rules, box);
    else
      read_pod(document, rules, box);
    if (metadata.contains("deletionTimestamp")) box.sandbox.state = BackendState::gone;
    return box;
  });
}

int to_status(std::string_view message) {
  const Json status = parse_record(message);
  if (text_of(status, "status") == "Success") return 0;
  return reading("kubernetes", [&] {
    for (const Json& cause : status.value("details", Json::object()).value("causes", Json::array()))
      if (text_of(cause, "reason") == "ExitCode")
        if (const auto code = number_from<int>(text_of(cause, "message"))) return *code;
    throw Error(ErrorCode::unavailable, "kubernetes could not start the process");
  });
}

Error read_error(std::string_view provider, const HttpReply& reply) {
  Error error = error_of_status(provider, reply.status, reply.headers);
  // The continue token of a list has expired.
  if (reply.status == 410) error.code = ErrorCode::unavailable;
  const Json document = parse_answer(reply.body);
  const std::string message = text_of(document, "message");
  const auto says = [&message](const char* words) {
    return message.find(words) != std::string::npos;
  };
  // A cluster also answers 403 for admission rules, and only the message tells these cases apart.
  if (reply.status != 403 || message.empty() || (says("User \"") && says(" cannot "))) return error;
  error = says("exceeded quota")
              ? Error(ErrorCode::quota_exceeded, "the quota of the kubernetes namespace is used up")
              : Error(ErrorCode::invalid, "the kubernetes cluster's rules forbid it");
  error.provider = provider;
  return error;
}

Error read_core_error(std::string_view provider, const HttpReply& reply) {
  Error error = read_error(provider, reply);
  const bool is_told = text_of(parse_answer(reply.body), "kind") == "Status";
  if (error.code == ErrorCode::not_found && !is_told) error.code = ErrorCode::unavailable;
  return error;
}

}  // namespace sandgate::kubernetes
