#include "gateway/sandboxes/creating/given_env.hpp"

#include "gateway/core/json_reader.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate::given_env {
namespace {

// Also for a snapshot, whose sealed variables are a copy of its sandbox's.
std::string env_context(const SandboxId& sandbox) { return "env/" + sandbox.value; }

}  // namespace

std::optional<std::string> sealed(const Cipher& cipher, const SandboxId& sandbox,
                                  const Variables& given) {
  if (given.empty()) return std::nullopt;
  return cipher.seal(Secret(Json(given).dump()), env_context(sandbox));
}

Variables of_snapshot(pqxx::work& tx, const Cipher& cipher, const SnapshotRecord& snapshot) {
  const auto rows =
      run_prepared(tx, "SELECT sealed_env FROM snapshot WHERE id = $1 AND sealed_env IS NOT NULL",
                   snapshot.id.value);
  if (rows.empty()) return {};
  const Secret text =
      cipher.open(pqxx::binarystring(rows[0][0]).str(), env_context(snapshot.sandbox));
  return Json::parse(text.reveal()).get<Variables>();
}

}  // namespace sandgate::given_env
