#include "gateway/sandboxes/secret_keeper.hpp"

#include "gateway/core/log.hpp"
#include "registry/secret_store.hpp"

namespace sandgate {

Task<void> SecretKeeper::step() {
  const auto set = deployments_.snapshot();
  for (const DeploymentPtr& deployment : *set) {
    if (!deployment->backend->descriptor().controls.contains(Control::secret_injection)) continue;
    auto keeping = keep(deployment);
    const auto outcome = co_await attempt(std::move(keeping));
    const auto* failure = std::get_if<Error>(&outcome);
    if (failure && failure->code != ErrorCode::unavailable)
      log::warn("secrets were not looked at",
                {{"deployment", deployment->name}, {"reason", failure->what()}});
  }
}

Task<void> SecretKeeper::keep(DeploymentPtr deployment) {
  auto asking = deployment->backend->secret_revisions();
  const auto there = co_await std::move(asking);
  if (there.empty()) co_return;
  std::vector<std::string> sandboxes;
  for (const auto& [sandbox, revision] : there) sandboxes.push_back(sandbox);
  auto read = [sandboxes](pqxx::work& tx) { return sandbox_secrets::revisions_of(tx, sandboxes); };
  auto reading = database_.run(std::move(read));
  const auto wanted = co_await std::move(reading);
  for (const auto& [sandbox, revision] : there) {
    const auto found = wanted.find(sandbox);
    if ((found == wanted.end() ? std::string() : found->second) == revision) continue;
    auto giving = give(deployment, sandbox);
    const auto outcome = co_await attempt(std::move(giving));
    if (const auto* failure = std::get_if<Error>(&outcome))
      log::warn("a sandbox did not get its secrets",
                {{"sandbox", sandbox}, {"reason", failure->what()}});
  }
}

Task<void> SecretKeeper::give(DeploymentPtr deployment, std::string sandbox) {
  auto read = [this, sandbox](pqxx::work& tx) {
    return sandbox_secrets::grants_of(tx, vault_, sandbox);
  };
  auto reading = database_.run(std::move(read));
  SecretGrants secrets = co_await std::move(reading);
  auto giving = deployment->backend->set_secrets(std::move(sandbox), std::move(secrets));
  co_await std::move(giving);
}

}  // namespace sandgate
