#include "providers/kubernetes/kubernetes.hpp"

#include "providers/fixed_end.hpp"
#include "providers/kubernetes/kubernetes_process.hpp"
#include "providers/sandbox_pages.hpp"

namespace sandgate {
namespace {

constexpr const char* kExecProtocols = "v5.channel.k8s.io, v4.channel.k8s.io";

RestTarget target_of_kubernetes(const KubernetesSettings& settings) {
  RestTarget target{.provider = "kubernetes",
                    .base_url = settings.api_url,
                    .allow_private = settings.allow_private,
                    .tls = settings.tls};
  if (!settings.token.empty()) target.auth_value = bearer(settings.token);
  return target;
}

}  // namespace

KubernetesProvider::KubernetesProvider(HttpClient& http, asio::any_io_executor executor,
                                       KubernetesSettings settings)
    : LiveInputProvider(std::move(executor)),
      settings_(std::move(settings)),
      api_(http, target_of_kubernetes(settings_), &kubernetes::read_core_error),
      extension_(http, target_of_kubernetes(settings_), &kubernetes::read_error) {}

Descriptor KubernetesProvider::descriptor() const {
  const auto& rules = settings_.rules;
  Descriptor descriptor{
      .provider = "kubernetes",
      .isolation = Isolation::container,
      .persistence = {Persistence::ephemeral},
      .verbs = {{Verb::exec, Keeps::nothing},
                {Verb::stdin_, Keeps::nothing},
                {Verb::signal, Keeps::nothing},
                {Verb::files, Keeps::nothing},
                {Verb::pty, Keeps::nothing}},
      .controls = {Control::network_allow, Control::allow_root, Control::cpu_limit,
                   Control::memory_limit, Control::disk_limit},
      .limits = settings_.limits,
      .notes = {"isolation is what the operator says of the pod's runtime class",
                "stdin by a process's id reaches it through the gateway that started it"}};
  if (const auto found = rules.isolation.find(rules.runtime_class); found != rules.isolation.end())
    descriptor.isolation = found->second;
  if (rules.network_policies) descriptor.controls.insert(Control::network_deny);
  if (settings_.process_limit) descriptor.controls.insert(Control::process_limit);
  if (!rules.region.empty()) descriptor.regions.push_back(rules.region);
  return descriptor;
}

Task<std::optional<kubernetes::Box>> KubernetesProvider::box_of(std::string id) {
  const kubernetes::Place place = kubernetes::place_of(id);
  RestCall call{.path = path_of(place, settings_.rules)};
  const auto document = co_await api_for(place.resource).find(std::move(call));
  if (!document) co_return std::nullopt;
  kubernetes::Box box = kubernetes::to_box(*document, settings_.rules);
  if (box.sandbox.state == BackendState::gone) co_return std::nullopt;
  co_return box;
}

Task<std::optional<BackendSandbox>> KubernetesProvider::find(std::string id) {
  return sandbox_of(box_of(std::move(id)));
}

// The pod or resource is named by our id.
Task<std::optional<BackendSandbox>> KubernetesProvider::find_by_tag(std::string sandbox_id) {
  std::optional<kubernetes::Box> box;
  const bool pods_only = settings_.form == KubernetesSettings::Form::pods;
  if (!pods_only) box = co_await box_of("sandboxes/" + sandbox_id);
  if (!box) box = co_await box_of("pods/" + sandbox_id);
  if (!box || box->owned || box->sandbox.sandbox_id != sandbox_id) co_return std::nullopt;
  co_return std::move(box->sandbox);
}

Task<std::vector<kubernetes::Box>> KubernetesProvider::pages(bool resources) {
  const std::string path = all_path(resources, settings_.rules);
  std::vector<kubernetes::Box> all;
  std::string more;
  // A pod's description is long.
  ListBudget budget("kubernetes", 1000, 100'000, 1 << 30);
  for (;;) {
    RestCall call{.path = path + "?labelSelector=" + kSandboxTag + "&limit=500" + more,
                  .budget = budget.bytes()};
    budget.take_page(call.path);
    const auto document = co_await api_for(resources).find(std::move(call));
    if (!document) co_return all;  // the cluster has no such resource
    const Json& items = list_of("kubernetes", *document, "items");
    budget.take_entries(items.size());
    for (const Json& item : items) all.push_back(kubernetes::to_box(item, settings_.rules));
    const std::string next = text_of(document->value("metadata", Json()), "continue");
    if (next.empty()) break;
    more = "&continue=" + percent_encode(next);
  }
  co_return all;
}

Task<std::vector<BackendSandbox>> KubernetesProvider::list() {
  std::vector<kubernetes::Box> boxes = co_await pages(/*resources=*/false);
  std::erase_if(boxes, [](const auto& box) { return box.owned; });
  if (settings_.form != KubernetesSettings::Form::pods) {
    auto more = co_await pages(/*resources=*/true);
    boxes.insert(boxes.end(), more.begin(), more.end());
  }
  std::vector<BackendSandbox> all;
  for (auto& box : boxes)
    if (box.ended || box.sandbox.state != BackendState::gone) all.push_back(std::move(box.sandbox));
  co_return all;
}

Task<void> KubernetesProvider::kill(std::string id) {
  const kubernetes::Place place = kubernetes::place_of(id);
  return api_for(place.resource).remove(path_of(place, settings_.rules));
}

// A plain pod's deadline can only be shortened.
Task<void> KubernetesProvider::extend(std::string id, std::chrono::seconds ttl) {
  const kubernetes::Place place = kubernetes::place_of(id);
  if (!place.resource) {
    const Json pod = co_await api_.get(path_of(place, settings_.rules));
    const auto end = kubernetes::end_of_pod(pod);
    if (end && SystemClock().now() + ttl > *end) throw beyond_end(*end);
    co_return;
  }
  RestCall call{.method = "PATCH",
                .path = path_of(place, settings_.rules),
                .bytes = kubernetes::to_end(SystemClock().now() + ttl).dump(),
                .headers = {{"Content-Type", "application/merge-patch+json"}}};
  co_await api_.call(std::move(call));
}

Task<std::unique_ptr<WebSocket>> KubernetesProvider::open_exec(std::string id,
                                                               std::vector<std::string> words,
                                                               bool pty) {
  const RestTarget& target = api_.target();
  std::string query = "?container=" + std::string(kubernetes::kContainer) +
                      "&stdin=true&stdout=true&stderr=" + (pty ? "false" : "true") +
                      "&tty=" + (pty ? "true" : "false");
  for (const auto& word : words) query += "&command=" + percent_encode(word);
  const std::string name = kubernetes::place_of(id).name;
  WebSocketCall call{.url = target.base_url + pod_path(name, settings_.rules) + "/exec" + query,
                     .allow_private = settings_.allow_private,
                     .tls = settings_.tls,
                     .protocols = kExecProtocols,
                     .read_error = &kubernetes::read_error};
  if (!settings_.token.empty()) call.headers = {{target.auth_header, target.auth_value.reveal()}};
  co_return co_await open_web_socket("kubernetes", std::move(call));
}

Task<std::unique_ptr<ProcessStream>> KubernetesProvider::exec(std::string id, Command command) {
  refuse_account(command);
  co_await existing(box_of(id), id);
  co_await check_directory(id, command);
  co_return co_await start_process<KubernetesProcess, KubernetesProvider>(std::move(id),
                                                                          std::move(command));
}

Task<ShellProvider::LineResult> KubernetesProvider::run(std::string id, std::string line) {
  return run_process<KubernetesProcess, KubernetesProvider>(std::move(id), std::move(line));
}

}  // namespace sandgate
