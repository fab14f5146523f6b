#include "providers/backoff.hpp"
#include "providers/kubernetes/kubernetes.hpp"
#include "providers/retries.hpp"

// create() of KubernetesProvider, and the check that the pod has what was requested.
namespace sandgate {
namespace {

// agent-sandbox may be installed while the gateway runs.
constexpr auto kAskKubeAgain = std::chrono::minutes(5);

}  // namespace

Task<bool> KubernetesProvider::has_resource() {
  using Form = KubernetesSettings::Form;
  if (settings_.form != Form::automatic) co_return settings_.form == Form::resources;
  const auto now = std::chrono::steady_clock::now();
  {
    std::lock_guard lock(mutex_);
    if (has_resource_ && now - asked_at_ < kAskKubeAgain) co_return *has_resource_;
  }
  RestCall call{.path = "/apis/" + std::string(kubernetes::kSandboxApi)};
  const auto document = co_await extension_.find(std::move(call));
  std::lock_guard lock(mutex_);
  has_resource_ = document.has_value();
  asked_at_ = now;
  co_return *has_resource_;
}

// The policy is read for every create, because it may have been changed since.
Task<void> KubernetesProvider::ensure_deny_policy() {
  const std::string all = "/apis/networking.k8s.io/v1/namespaces/" +
                          percent_encode(settings_.rules.space) + "/networkpolicies";
  for (int turn = 0; turn < 2; ++turn) {
    RestCall call{.path = all + "/" + kubernetes::kDenyPolicy};
    const auto there = co_await api_.find(std::move(call));
    if (there && kubernetes::is_deny_policy(*there)) co_return;
    if (there) break;
    Json policy = kubernetes::deny_policy(settings_.rules);
    auto making = api_.post(all, std::move(policy));
    const auto made = co_await attempt(std::move(making));
    // Another gateway may have created it first.
    const auto* error = std::get_if<Error>(&made);
    if (error && error->code != ErrorCode::conflict) throw *error;
  }
  throw Error(ErrorCode::no_capacity, "kubernetes has another network policy of the name " +
                                          std::string(kubernetes::kDenyPolicy));
}

Task<std::string> KubernetesProvider::submit_create(CreateSpec spec) {
  const bool resource = co_await has_resource();
  RestCall call{.method = "POST", .path = all_path(resource, settings_.rules)};
  if (resource)
    call.json = kubernetes::to_sandbox(spec, settings_.rules, SystemClock().now() + spec.ttl);
  else
    call.json = kubernetes::to_pod(spec, settings_.rules);
  call.deadline = kCreateDeadline;
  if (spec.network.fallback == NetworkDefault::deny) co_await ensure_deny_policy();
  const Json document = co_await api_.call(std::move(call));
  co_return kubernetes::to_box(document, settings_.rules).sandbox.backend_id;
}

Task<BackendSandbox> KubernetesProvider::wait_until_started(std::string id) {
  const kubernetes::Place place = kubernetes::place_of(id);
  const auto ask_for_pod = [this, place] { return box_of("pods/" + place.name); };
  const auto ask = [this, id] { return box_of(id); };
  for (Backoff pause;; co_await pause.wait()) {
    const auto pod = co_await retry_until_answered(ask_for_pod);
    if (!pod) {
      // The controller creates the pod some time later.
      const auto box = co_await retry_until_answered(ask);
      if (!box || !place.resource)
        throw Error(ErrorCode::no_capacity, "kubernetes gave the sandbox up");
      continue;
    }
    const bool full = pod->no_node && !settings_.autoscaling;
    // A template or a webhook of the cluster may have changed what was requested.
    const bool weak = pod->running && pod->sandbox.isolation < descriptor().isolation;
    if (pod->failed || full || weak) {
      Error why(ErrorCode::no_capacity, weak   ? "the pod does not run in the declared isolation"
                                        : full ? "no node has room for the pod"
                                               : "kubernetes could not start the pod");
      const Error error = co_await abort_create(id, std::move(why));
      throw error;
    }
    if (!pod->running) continue;
    BackendSandbox sandbox = pod->sandbox;
    sandbox.backend_id = id;
    co_return sandbox;
  }
}

Task<BackendSandbox> KubernetesProvider::create(CreateSpec spec) {
  auto outcome = co_await attempt(submit_create(std::move(spec)));
  if (const auto* error = std::get_if<Error>(&outcome)) throw refused_create(*error);
  const std::string id = std::get<std::string>(outcome);
  co_return co_await wait_until_started(id);
}

}  // namespace sandgate
