#include "providers/kubernetes/kubernetes_kind.hpp"

#include "providers/kind_settings.hpp"
#include "providers/kubernetes/kubernetes.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// A mid-size node; the operator sets `limits` for larger ones.
constexpr DescriptorLimits kNodeLimits{
    .max_milli_vcpu = 8000, .max_memory_mib = 32'768, .max_disk_gib = 50};
constexpr size_t kMaxKubePem = 64 << 10;

std::string read_kube_pem(ObjectReader& reader, std::string_view name) {
  const std::string text = reader.text(name, {1, kMaxKubePem}).value_or("");
  if (!text.empty() && text.find("-----BEGIN ") == std::string::npos)
    reader.problem(name, "must be PEM text");
  return text;
}

void read_kube_isolation(ObjectReader& reader, kubernetes::PodRules& rules) {
  rules.runtime_class = reader.text("runtime_class", {1, 253}).value_or("");
  const auto table = reader.text_map("isolation", 50, {1, 253});
  for (const auto& [name, word] : table.value_or(std::map<std::string, std::string>{})) {
    const auto isolation = isolation_from(word);
    if (isolation && *isolation != Isolation::process)
      rules.isolation[name] = *isolation;
    else
      reader.member_problem("isolation", name, "must be container, kernel or microvm");
  }
  // Otherwise the isolation of the runtime class is unknown.
  if (!rules.runtime_class.empty() && !rules.isolation.contains(rules.runtime_class))
    reader.problem("runtime_class", "is not in isolation");
}

void read_pod_rules(ObjectReader& reader, kubernetes::PodRules& rules) {
  rules.space = reader.text("namespace", {1, 63}).value_or(rules.space);
  rules.image = reader.text("image", {1, 500}).value_or(rules.image);
  rules.home = reader.text("home", {2, 200}).value_or(rules.home);
  if (!rules.home.starts_with('/')) reader.problem("home", "must be a path from the root");
  rules.user = reader.integer("user", 1, INT32_MAX).value_or(rules.user);
  read_kube_isolation(reader, rules);
  rules.pull_secrets =
      reader.texts("image_pull_secrets", 20, {1, 253}).value_or(std::vector<std::string>{});
  rules.node_selector =
      reader.text_map("node_selector", 20, {0, 63}).value_or(std::map<std::string, std::string>{});
  rules.network_policies = reader.boolean("network_policies").value_or(false);
  rules.region = reader.text("region", {1, 100}).value_or("");
}

void read_kube_access(const Json& credentials, Problems& problems, KubernetesSettings& result,
                      TlsIdentity& tls) {
  ObjectReader keys(credentials, problems, "/credentials");
  tls.certificate = read_kube_pem(keys, "client_certificate");
  tls.key = Secret(read_kube_pem(keys, "client_key"));
  if (tls.certificate.empty() || keys.has("token")) result.token = read_credential(keys, "token");
  if (tls.certificate.empty() != tls.key.empty())
    keys.problem("client_key", "and client_certificate need each other");
  keys.finish();
}

KubernetesSettings read_kubernetes(const Json& settings, const Json& credentials,
                                   Problems& problems) {
  using Form = KubernetesSettings::Form;
  KubernetesSettings result;
  ObjectReader reader(settings, problems, "/settings");
  reader.require("api_url");
  result.api_url = read_base_url(reader, "api_url");
  const auto form = reader.word("sandboxes", {"auto", "resources", "pods"});
  if (form)
    result.form = *form == "auto"   ? Form::automatic
                  : *form == "pods" ? Form::pods
                                    : Form::resources;
  read_pod_rules(reader, result.rules);
  result.process_limit = reader.boolean("process_limit").value_or(false);
  result.autoscaling = reader.boolean("autoscaling").value_or(false);
  result.limits = read_limits(reader, kNodeLimits);
  result.rules.deadline_seconds = result.limits.max_ttl_seconds;
  TlsIdentity tls{.authorities = read_kube_pem(reader, "ca_certificate")};
  reader.finish();
  read_kube_access(credentials, problems, result, tls);
  if (!tls.authorities.empty() || !tls.certificate.empty())
    result.tls = std::make_shared<const TlsIdentity>(std::move(tls));
  return result;
}

}  // namespace

ProviderKind kubernetes_kind() {
  return vendor_kind<KubernetesProvider>("kubernetes", &read_kubernetes);
}

}  // namespace sandgate
