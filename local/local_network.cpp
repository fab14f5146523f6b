// Network policies of local sandboxes, and the secrets that the egress process inserts.
#include "gateway/core/for_each_concurrent.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "local/egress/network_json.hpp"
#include "local/local_provider.hpp"
#include "local/node/server/requests.hpp"
#include "local/secret_trust.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kInstallTimeout{5}, kEgressTimeout{5};
constexpr size_t kInstallsAtOnce = 8;

// With a timeout, because the egress process may hang.
Task<Json> ask_egress(const NodeClient& egress, std::string verb, Json params) {
  auto asking = egress.call(std::move(verb), std::move(params));
  auto answer = within(kEgressTimeout, std::move(asking));
  co_return co_await std::move(answer);
}

NetworkVerdict verdict_from(const Json& json) {
  NetworkVerdict verdict;
  verdict.at = from_rfc3339(json.at("at").get<std::string>()).value_or(Time());
  json.at("target").get_to(verdict.target);
  json.at("way").get_to(verdict.way);
  json.at("allowed").get_to(verdict.allowed);
  verdict.reason = json.value("reason", std::string());
  return verdict;
}

Json secrets_json(const std::string& id, const SecretGrants& secrets) {
  Json grants = Json::array();
  for (const SecretGrant& grant : secrets.grants) {
    grants.push_back({{"name", grant.name},
                      {"host", grant.host},
                      {"header", grant.header},
                      {"placeholder", grant.placeholder},
                      {"value", grant.value.reveal()}});
  }
  return {{"id", id}, {"revision", secrets.revision}, {"grants", std::move(grants)}};
}

}  // namespace

Task<NetworkState> LocalProvider::network(std::string id) {
  Json params{{"id", id_of(id)}};
  const Json policy = co_await ask("network", params);
  NetworkState state{valid_network_from(policy), {}};
  auto asking = ask_egress(egress_, "verdicts", std::move(params));
  const auto outcome = co_await attempt(std::move(asking));
  // The egress process does not know sandboxes without egress, so a failure means no verdicts.
  if (const auto* verdicts = std::get_if<Json>(&outcome)) {
    for (const Json& item : *verdicts) state.verdicts.push_back(verdict_from(item));
  }
  co_return state;
}

Task<void> LocalProvider::set_network(std::string id, NetworkPolicy policy) {
  Json params{{"id", id_of(id)}, {"network", egress::network_json(policy)}};
  co_await node_.call("set_network", std::move(params));
}

Task<std::map<std::string, std::string>> LocalProvider::secret_revisions() {
  auto asking = ask_egress(egress_, "revisions", Json::object());
  const Json answer = co_await std::move(asking);
  co_return answer.get<std::map<std::string, std::string>>();
}

// Values are never kept waiting by a sandbox that does not answer: what is missing inside it is for
// install_authorities().
Task<void> LocalProvider::set_secrets(std::string id, SecretGrants secrets) {
  auto giving = give_secrets(std::move(id), std::move(secrets));
  co_await std::move(giving);
}

Task<void> LocalProvider::give_and_install(std::string id, SecretGrants secrets) {
  auto giving = give_secrets(id, std::move(secrets));
  std::string certificate = co_await std::move(giving);
  auto installing = install(std::move(id), std::move(certificate));
  co_await std::move(installing);
}

Task<std::string> LocalProvider::give_secrets(std::string id, SecretGrants secrets) {
  Json params = secrets_json(id_of(id), secrets);
  auto giving = ask_egress(egress_, "set_secrets", std::move(params));
  const Json answer = co_await std::move(giving);
  co_return answer.at("certificate").get<std::string>();
}

Task<void> LocalProvider::install(std::string id, std::string certificate) {
  auto installing = install_authority(agent(id), certificate);
  auto installed = within(kInstallTimeout, std::move(installing));
  co_await std::move(installed);
  auto telling = tell_trusted(std::move(id), std::move(certificate));
  co_await std::move(telling);
}

Task<void> LocalProvider::tell_trusted(std::string id, std::string certificate) {
  Json params{{"id", id_of(id)}, {"certificate", std::move(certificate)}};
  auto telling = ask_egress(egress_, "trusted", std::move(params));
  co_await std::move(telling);
}

// A sandbox that has damaged its own files is not asked for ever.
Task<void> LocalProvider::install_late(std::string id, std::string certificate) {
  auto installing = install(id, certificate);
  const auto outcome = co_await attempt(std::move(installing));
  const auto* failure = std::get_if<Error>(&outcome);
  if (!failure || failure->code == ErrorCode::timeout || failure->code == ErrorCode::unavailable)
    co_return;
  log::warn("a sandbox does not trust its authority",
            {{"sandbox", id}, {"reason", failure->what()}});
  auto telling = tell_trusted(std::move(id), std::move(certificate));
  co_await std::move(telling);
}

Task<void> LocalProvider::install_authorities() {
  auto asking = ask_egress(egress_, "lacking_trust", Json::object());
  const Json certificates = co_await std::move(asking);
  if (certificates.empty()) co_return;
  std::vector<std::string> running;
  const auto sandboxes = co_await list();
  for (const BackendSandbox& sandbox : sandboxes)
    if (sandbox.state == BackendState::running && certificates.contains(id_of(sandbox.backend_id)))
      running.push_back(sandbox.backend_id);
  auto all = for_each_concurrent(std::move(running), kInstallsAtOnce, [&](std::string id) {
    return install_late(id, certificates.at(id_of(id)).get<std::string>());
  });
  co_await std::move(all);
}

}  // namespace sandgate
