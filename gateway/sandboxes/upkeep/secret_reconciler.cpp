#include "gateway/sandboxes/upkeep/secret_reconciler.hpp"

#include "gateway/core/for_each_concurrent.hpp"
#include "gateway/core/log.hpp"
#include "registry/secret_store.hpp"

namespace sandgate {
namespace {

constexpr size_t kGivenAtOnce = 8;

}  // namespace

Task<void> SecretReconciler::step() {
  const auto set = deployments_.snapshot();
  for (const DeploymentPtr& deployment : *set) {
    if (!deployment->backend->descriptor().controls.contains(Control::secret_injection)) continue;
    auto keeping = reconcile(deployment);
    const auto outcome = co_await attempt(std::move(keeping));
    const auto* failure = std::get_if<Error>(&outcome);
    if (failure && failure->code != ErrorCode::unavailable)
      log::warn("secrets were not looked at",
                {{"deployment", deployment->name}, {"reason", failure->what()}});
  }
}

Task<void> SecretReconciler::reconcile(DeploymentPtr deployment) {
  auto asking = deployment->backend->secret_revisions();
  const auto there = co_await std::move(asking);
  if (there.empty()) co_return;
  std::vector<std::string> sandboxes;
  for (const auto& [sandbox, revision] : there) sandboxes.push_back(sandbox);
  auto read = [sandboxes](pqxx::work& tx) { return sandbox_secrets::revisions_of(tx, sandboxes); };
  auto reading = database_.run(std::move(read));
  const auto wanted = co_await std::move(reading);
  const auto is_in_step = [&](const std::string& sandbox) {
    const auto found = wanted.find(sandbox);
    return (found == wanted.end() ? std::string() : found->second) == there.at(sandbox);
  };
  std::erase_if(sandboxes, is_in_step);
  auto giving = for_each_concurrent(
      std::move(sandboxes), kGivenAtOnce,
      [this, deployment](std::string sandbox) { return push(deployment, std::move(sandbox)); });
  co_await std::move(giving);
}

Task<void> SecretReconciler::push(DeploymentPtr deployment, std::string sandbox) {
  auto read = [this, sandbox](pqxx::work& tx) {
    return sandbox_secrets::grants_of(tx, cipher_, sandbox);
  };
  auto reading = database_.run(std::move(read));
  SecretGrants secrets = co_await std::move(reading);
  auto giving = deployment->backend->set_secrets(sandbox, std::move(secrets));
  const auto outcome = co_await attempt(std::move(giving));
  if (const auto* failure = std::get_if<Error>(&outcome))
    log::warn("a sandbox did not get its secrets",
              {{"sandbox", sandbox}, {"reason", failure->what()}});
}

}  // namespace sandgate
